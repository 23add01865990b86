# SPDX-License-Identifier: Apache-2.0
# what every output needs
CLI_FORMATS := cli/text.c cli/profile.c cli/tree.c cli/index_set.c cli/folded.c \
	cli/pprof.c cli/firefox.c cli/speedscope.c cli/timeline.c cli/html.c cli/page.o.c \
	exporterd/otlp.c exporterd/dictionary.c \
	exporterd/protobuf.c ipc/batch.c ipc/batch_build.c
CLI_FORMATS_LIBS := -lz -lxxhash

UNIT += profile profile_collect folded html pprof json_formats cli_options supervise doctor
UNIT += target launcher progress
unit_profile_collect_SRCS := cli/collect.c ipc/batch.c ipc/batch_build.c
unit_profile_collect_LIBS := -lxxhash
unit_profile_SRCS := $(CLI_FORMATS)
unit_profile_LIBS := $(CLI_FORMATS_LIBS)
unit_folded_SRCS := $(CLI_FORMATS)
unit_folded_LIBS := $(CLI_FORMATS_LIBS)
unit_json_formats_SRCS := $(CLI_FORMATS)
unit_json_formats_LIBS := $(CLI_FORMATS_LIBS)
unit_html_SRCS := $(CLI_FORMATS)
unit_html_LIBS := $(CLI_FORMATS_LIBS)
unit_pprof_SRCS := $(CLI_FORMATS)
unit_pprof_LIBS := $(CLI_FORMATS_LIBS)
unit_cli_options_SRCS := cli/options.c $(CLI_FORMATS)
unit_cli_options_LIBS := $(CLI_FORMATS_LIBS)
unit_supervise_SRCS := cli/restart.c cli/child.c cli/console.c cli/identity.c \
	cli/outfile.c common/log.c common/sandbox.c
unit_supervise_LIBS := -lseccomp -lcap-ng
unit_target_SRCS := cli/target.c common/container.c common/log.c
unit_launcher_SRCS := cli/launcher.c cli/child.c common/log.c common/sandbox.c
unit_launcher_LIBS := -lseccomp -lcap-ng
unit_progress_SRCS := cli/progress.c ipc/counters.c

unit_doctor_SRCS := cli/doctor_probe.c cli/doctor_checks.c cli/json.c \
	cli/text.c cli/daemons.c cli/live_page.c viewer/guard.c viewer/listen.c cli/child.c cli/identity.c exporterd/protobuf.c \
	common/log.c common/sandbox.c ipc/batch.c
unit_doctor_LIBS := -lseccomp -lcap-ng

# writes made-up profiles for tests/live/test_page.sh and test_pprof.sh
$(O)/live/test_page: $(O)/san/tests/live/test_page.o \
		$(CLI_FORMATS:%.c=$(O)/san/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(SAN) $^ $(CLI_FORMATS_LIBS) -o $@

UNIT += report
unit_report_SRCS := cli/report.c cli/report_json.c cli/json.c cli/text.c \
	exporterd/protobuf.c common/log.c ipc/counter_table.c ipc/counters.c ipc/batch.c

CLI_TOP := cli/top_model.c cli/top_count.c cli/top_rows.c cli/top_state.c \
	cli/top_text.c $(CLI_FORMATS)
UNIT += top_model top_state
unit_top_model_SRCS := $(CLI_TOP)
unit_top_model_LIBS := $(CLI_FORMATS_LIBS)
unit_top_state_SRCS := $(CLI_TOP)
unit_top_state_LIBS := $(CLI_FORMATS_LIBS)
