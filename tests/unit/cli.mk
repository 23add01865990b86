# SPDX-License-Identifier: Apache-2.0
# what every output needs
CLI_FORMATS := common/buffer.c common/json.c profile/profile.c profile/names.c profile/texts.c profile/tree.c profile/tree_lines.c profile/formats/folded.c \
	profile/formats/pprof.c profile/formats/firefox.c profile/formats/speedscope.c profile/timeline.c profile/formats/html.c profile/formats/html_times.c profile/threads.c profile/formats/page.o.c \
	profile/formats/otlp.c profile/formats/dictionary.c profile/formats/formats.c \
	common/protobuf.c ipc/batch.c ipc/batch_build.c common/hash_table.c
CLI_FORMATS_LIBS := -lz -lxxhash

UNIT += profile formats hostile_names profile_collect folded html html_lines pprof json_formats cli_options supervise doctor
UNIT += target launcher progress programs console plan phases ask sudo_caller
unit_profile_collect_SRCS := profile/collect.c profile/cut.c profile/remap.c ipc/batch.c ipc/batch_build.c common/hash_table.c common/log.c
unit_profile_collect_LIBS := -lxxhash
unit_profile_SRCS := $(CLI_FORMATS)
unit_formats_SRCS := $(CLI_FORMATS)
unit_formats_LIBS := $(CLI_FORMATS_LIBS)
unit_hostile_names_SRCS := $(CLI_FORMATS)
unit_hostile_names_LIBS := $(CLI_FORMATS_LIBS)
unit_profile_LIBS := $(CLI_FORMATS_LIBS)
unit_folded_SRCS := $(CLI_FORMATS)
unit_folded_LIBS := $(CLI_FORMATS_LIBS)
unit_json_formats_SRCS := $(CLI_FORMATS)
unit_json_formats_LIBS := $(CLI_FORMATS_LIBS)
unit_html_SRCS := $(CLI_FORMATS)
unit_html_LIBS := $(CLI_FORMATS_LIBS)
unit_html_lines_SRCS := $(CLI_FORMATS)
unit_html_lines_LIBS := $(CLI_FORMATS_LIBS)
unit_pprof_SRCS := $(CLI_FORMATS)
unit_pprof_LIBS := $(CLI_FORMATS_LIBS)
unit_cli_options_SRCS := cli/config/options.c cli/config/suggest.c common/number.c $(CLI_FORMATS)
unit_cli_options_LIBS := $(CLI_FORMATS_LIBS)
# with test doubles of programs.c, identity.c and runtime_dir.c
unit_supervise_SRCS := cli/supervisor/supervise.c cli/supervisor/ask.c cli/supervisor/program_table.c
unit_ask_SRCS := cli/supervisor/ask.c cli/supervisor/program_table.c
UNIT += stopped
unit_stopped_SRCS := cli/snapshot/stopped.c common/buffer.c
UNIT += orders
unit_orders_SRCS := cli/front/orders.c cli/record/plan.c $(unit_ask_SRCS)
unit_programs_SRCS := cli/supervisor/programs.c cli/supervisor/ask.c cli/supervisor/program_table.c cli/supervisor/identity.c \
	common/wait_status.c
unit_sudo_caller_SRCS := cli/config/sudo_caller.c common/number.c
# with test doubles of orders.c and console.c
unit_phases_SRCS := cli/front/phases.c cli/record/plan.c cli/config/libexec.c cli/supervisor/program_table.c common/wait_status.c \
	common/log.c
unit_console_SRCS := cli/record/console.c profile/outfile.c common/log.c
unit_plan_SRCS := cli/supervisor/ask.c cli/supervisor/program_table.c cli/front/make_plan.c cli/record/plan.c \
	cli/record/recorder_link.c profile/outfile.c cli/config/env.c cli/config/keys.c cli/config/suggest.c common/pairs.c common/listen.c common/number.c common/sandbox.c ipc/fdpass.c common/send_fds.c common/log.c  $(CLI_FORMATS)
unit_plan_LIBS := $(CLI_FORMATS_LIBS) -lseccomp -lcap-ng
CONTAINER_NAME := cli/record/container_name.c cli/record/container_json.c common/read_all.c common/buffer.c
UNIT += container_name
unit_container_name_SRCS := $(CONTAINER_NAME)
unit_target_SRCS := cli/record/target.c $(CONTAINER_NAME) cli/record/named.c common/number.c common/container.c common/log.c
UNIT += command_files command_path
unit_command_path_SRCS := cli/record/command_path.c
unit_command_files_SRCS := cli/record/command_files.c cli/record/command_path.c
unit_launcher_SRCS := cli/record/launcher.c cli/record/command_files.c \
	cli/record/command_path.c common/wait_status.c common/sandbox.c common/log.c
unit_launcher_LIBS := -lseccomp -lcap-ng
unit_progress_SRCS := cli/front/progress.c ipc/counters.c

unit_doctor_SRCS := cli/status/doctor_probe.c cli/status/doctor_checks.c \
	cli/config/libexec.c cli/supervisor/program_table.c common/number.c common/log.c

# writes made-up profiles for tests/live/test_page.sh and test_pprof.sh
$(O)/live/test_page: $(O)/san/tests/live/test_page.o \
		$(CLI_FORMATS:%.c=$(O)/san/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $^ $(CLI_FORMATS_LIBS) -o $@

UNIT += report
unit_report_SRCS := cli/status/report.c cli/status/report_json.c cli/status/processes.c common/json.c common/buffer.c \
	common/log.c ipc/counter_table.c ipc/counters.c profile/busy.c

CLI_TOP := profile/busy.c cli/top/plain.c cli/top/model.c cli/top/count.c cli/top/rows.c cli/top/state.c \
	cli/top/text.c $(CLI_FORMATS)
UNIT += top_model top_state
unit_top_model_SRCS := $(CLI_TOP)
unit_top_model_LIBS := $(CLI_FORMATS_LIBS)
unit_top_state_SRCS := $(CLI_TOP)
unit_top_state_LIBS := $(CLI_FORMATS_LIBS)
