# SPDX-License-Identifier: Apache-2.0
UNIT += own ledger ledger_world record trace process container executable symbolize job_queue cpu_share
unit_ledger_SRCS := symbolizerd/knowledge/ledger.c symbolizerd/knowledge/batches.c ipc/counters.c
unit_ledger_world_SRCS := $(unit_ledger_SRCS)
unit_own_SRCS := symbolizerd/knowledge/own.c
unit_record_SRCS := symbolizerd/knowledge/record.c
unit_trace_SRCS := symbolizerd/knowledge/trace.c common/hash_table.c
unit_trace_LIBS := -lxxhash
unit_process_SRCS := symbolizerd/knowledge/process.c common/hash_table.c
unit_process_LIBS := -lxxhash
unit_container_SRCS := common/container.c common/hash_table.c symbolizerd/tables/owners.c symbolizerd/knowledge/owner_cache.c symbolizerd/knowledge/cgroup.c
unit_executable_SRCS := symbolizerd/knowledge/executable.c symbolizerd/knowledge/file_symbols.c symbolizerd/knowledge/read_again.c symbolizerd/knowledge/user_share.c symbolizerd/knowledge/owner_cache.c symbolizerd/symbols/index.c symbolizerd/symbols/index_keep.c symbolizerd/symbols/lines_build.c symbolizerd/tables/owners.c common/hash_table.c common/log.c
unit_executable_LIBS := -lxxhash
UNIT += debug_files
unit_debug_files_SRCS := symbolizerd/knowledge/debug_files.c $(unit_executable_SRCS)
unit_debug_files_LIBS := -lxxhash
UNIT += debug_paths
unit_debug_paths_SRCS := symbolizerd/knowledge/debug_paths.c
unit_symbolize_SRCS := symbolizerd/hub/symbolize.c symbolizerd/knowledge/script.c symbolizerd/knowledge/source_lines.c symbolizerd/knowledge/line_store.c symbolizerd/symbols/line_codes.c symbolizerd/knowledge/user_share.c symbolizerd/knowledge/cpu_share.c symbolizerd/knowledge/jit.c symbolizerd/knowledge/jit_early.c symbolizerd/symbols/frame_names.c symbolizerd/knowledge/managed.c symbolizerd/knowledge/visits.c symbolizerd/knowledge/owner_cache.c $(READING) symbolizerd/knowledge/executable.c symbolizerd/knowledge/file_symbols.c symbolizerd/knowledge/read_again.c \
	symbolizerd/tables/owners.c \
	symbolizerd/knowledge/ksym.c symbolizerd/symbols/index.c symbolizerd/symbols/index_keep.c symbolizerd/symbols/lines_build.c common/wire.c \
	ipc/batch.c ipc/batch_build.c ipc/short_name.c ipc/short_method.c common/hash_table.c common/log.c
unit_symbolize_LIBS := -lxxhash
unit_cpu_share_SRCS := symbolizerd/knowledge/cpu_share.c
UNIT += script
unit_script_SRCS := symbolizerd/knowledge/script.c
UNIT += user_share
unit_user_share_SRCS := symbolizerd/knowledge/user_share.c
unit_job_queue_SRCS := symbolizerd/knowledge/user_share.c symbolizerd/jobs/job_queue.c symbolizerd/tables/owners.c common/hash_table.c
UNIT += managed
unit_managed_SRCS := $(addprefix symbolizerd/knowledge/,user_share.c managed.c visits.c owner_cache.c record.c trace.c) symbolizerd/symbols/frame_names.c $(READING) \
	symbolizerd/tables/owners.c common/hash_table.c
unit_managed_LIBS := -lxxhash
UNIT += hub_ksym
unit_hub_ksym_SRCS := symbolizerd/knowledge/ksym.c symbolizerd/knowledge/trace.c common/hash_table.c
unit_hub_ksym_LIBS := -lxxhash
UNIT += slab_writer
unit_slab_writer_SRCS := symbolizerd/hub/slab_writer.c symbolizerd/hub/outbox.c \
	ipc/sealed.c ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c
TABLES := $(wildcard symbolizerd/tables/*.c) ipc/sealed.c common/hash_table.c
UNIT += table_policy file_policy owners
unit_owners_SRCS := symbolizerd/tables/owners.c common/hash_table.c
unit_table_policy_SRCS := $(TABLES)
unit_table_policy_LIBS := -lxxhash
unit_file_policy_SRCS := $(TABLES)
unit_file_policy_LIBS := -lxxhash
UNIT += runtimes_wanted
unit_runtimes_wanted_SRCS := symbolizerd/tables/runtimes_wanted.c
UNIT += frame_names process_memory line_codes
unit_line_codes_SRCS := symbolizerd/symbols/line_codes.c
unit_frame_names_SRCS := symbolizerd/symbols/frame_names.c
unit_process_memory_SRCS := symbolizerd/symbols/process_memory.c
UNIT += jit jit_again jit_files
JIT_FILES := symbolizerd/symbols/jit_names.c symbolizerd/symbols/jit_wanted.c symbolizerd/symbols/jitdump.c \
	symbolizerd/symbols/frame_names.c
unit_jit_files_SRCS := $(JIT_FILES)
unit_jit_SRCS := $(addprefix symbolizerd/knowledge/,user_share.c jit.c jit_early.c visits.c owner_cache.c) symbolizerd/tables/owners.c common/hash_table.c $(JIT_FILES)
unit_jit_LIBS := -lxxhash
unit_jit_again_SRCS := $(unit_jit_SRCS)
unit_jit_again_LIBS := $(unit_jit_LIBS)
UNIT += clock_jumps
unit_clock_jumps_SRCS := symbolizerd/knowledge/source_lines.c symbolizerd/knowledge/line_store.c symbolizerd/symbols/line_codes.c symbolizerd/knowledge/user_share.c symbolizerd/knowledge/cpu_share.c $(addprefix symbolizerd/knowledge/,knowledge.c managed.c visits.c owner_cache.c record.c trace.c process.c script.c debug_files.c executable.c file_symbols.c read_again.c ksym.c cgroup.c samples.c ledger.c own.c batches.c jit.c jit_early.c) $(addprefix symbolizerd/hub/,interval.c intake.c symbolize.c) $(TABLES) symbolizerd/symbols/index.c symbolizerd/symbols/index_keep.c symbolizerd/symbols/lines_build.c symbolizerd/symbols/frame_names.c $(READING) \
	ipc/batch.c ipc/batch_build.c ipc/short_name.c ipc/short_method.c ipc/counters.c ipc/message.c ipc/rules.c common/wire.c common/container.c common/log.c
unit_clock_jumps_LIBS := -lxxhash -Wl,--wrap=clock_gettime
UNIT += line_table java_name
unit_java_name_SRCS := symbolizerd/runtimes/hotspot/reading_name.c ipc/short_method.c
unit_line_table_SRCS := $(READING)
UNIT += managed_visits
unit_managed_visits_SRCS := $(unit_managed_SRCS)
unit_managed_visits_LIBS := -lxxhash
UNIT += source_lines
unit_source_lines_SRCS := symbolizerd/knowledge/user_share.c $(addprefix symbolizerd/knowledge/,source_lines.c line_store.c visits.c) symbolizerd/symbols/line_codes.c symbolizerd/knowledge/cpu_share.c symbolizerd/symbols/frame_names.c \
	 $(unit_executable_SRCS)
unit_source_lines_LIBS := -lxxhash
UNIT += line_functions
unit_line_functions_SRCS := $(unit_source_lines_SRCS)
unit_line_functions_LIBS := -lxxhash
UNIT += owner_cache visits
unit_owner_cache_SRCS := symbolizerd/knowledge/owner_cache.c symbolizerd/tables/owners.c common/hash_table.c
unit_visits_SRCS := symbolizerd/knowledge/user_share.c symbolizerd/knowledge/visits.c symbolizerd/symbols/frame_names.c  common/hash_table.c
UNIT += read_again file_symbols
unit_read_again_SRCS := symbolizerd/knowledge/read_again.c symbolizerd/knowledge/user_share.c
unit_file_symbols_SRCS := symbolizerd/knowledge/file_symbols.c symbolizerd/knowledge/owner_cache.c symbolizerd/tables/owners.c \
	symbolizerd/symbols/index.c symbolizerd/symbols/index_keep.c symbolizerd/symbols/lines_build.c common/hash_table.c
unit_file_symbols_LIBS := -lxxhash
