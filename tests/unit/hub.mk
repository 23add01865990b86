# SPDX-License-Identifier: Apache-2.0
UNIT += ledger record trace process container executable symbolize job_queue
unit_ledger_SRCS := symbolizerd/ledger.c symbolizerd/batches.c ipc/counters.c
unit_record_SRCS := symbolizerd/record.c
unit_trace_SRCS := symbolizerd/trace.c
unit_trace_LIBS := -lxxhash
unit_process_SRCS := symbolizerd/process.c
unit_process_LIBS := -lxxhash
unit_container_SRCS := common/container.c symbolizerd/cgroup.c
unit_executable_SRCS := symbolizerd/executable.c symbolizerd/ksym.c
unit_executable_LIBS := -lxxhash
unit_symbolize_SRCS := symbolizerd/symbolize.c symbolizerd/executable.c \
	symbolizerd/ksym.c symbolizerd/symbols/index.c common/wire.c \
	ipc/batch.c ipc/batch_build.c
unit_symbolize_LIBS := -lxxhash
unit_job_queue_SRCS := symbolizerd/job_queue.c
