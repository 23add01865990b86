# SPDX-License-Identifier: Apache-2.0
UNIT += ledger record trace process container executable symbolize job_queue
unit_ledger_SRCS := symbolizerd/hub/ledger.c symbolizerd/hub/batches.c ipc/counters.c
unit_record_SRCS := symbolizerd/hub/record.c
unit_trace_SRCS := symbolizerd/hub/trace.c common/hash_table.c
unit_trace_LIBS := -lxxhash
unit_process_SRCS := symbolizerd/hub/process.c common/hash_table.c
unit_process_LIBS := -lxxhash
unit_container_SRCS := common/container.c symbolizerd/hub/cgroup.c
unit_executable_SRCS := symbolizerd/hub/executable.c common/hash_table.c
unit_executable_LIBS := -lxxhash
unit_symbolize_SRCS := symbolizerd/hub/symbolize.c symbolizerd/hub/executable.c \
	symbolizerd/hub/ksym.c symbolizerd/symbols/index.c common/wire.c \
	ipc/batch.c ipc/batch_build.c common/hash_table.c
unit_symbolize_LIBS := -lxxhash
unit_job_queue_SRCS := symbolizerd/hub/job_queue.c
UNIT += hub_ksym
unit_hub_ksym_SRCS := symbolizerd/hub/ksym.c common/hash_table.c
TABLES := $(wildcard symbolizerd/tables/*.c) ipc/sealed.c common/hash_table.c
UNIT += table_policy file_policy
unit_table_policy_SRCS := $(TABLES)
unit_table_policy_LIBS := -lxxhash
unit_file_policy_SRCS := $(TABLES)
unit_file_policy_LIBS := -lxxhash
UNIT += frame_names process_memory
unit_frame_names_SRCS := symbolizerd/symbols/frame_names.c symbolizerd/symbols/frame_names_build.c
unit_process_memory_SRCS := symbolizerd/symbols/process_memory.c
