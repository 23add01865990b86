# SPDX-License-Identifier: Apache-2.0
#
# hub_life, hub_offences and hub_subscribe run the real program; hub_workers is the hub with
# a worker of its own.
HUB_PEER := tests/hostile/hub_peer.c tests/unit/main.c $(IPC) $(COMMON) \
	$(MORE) ipc/conn_more.c ipc/batch.c
HUB_OWN := $(wildcard symbolizerd/hub/*.c symbolizerd/tables/*.c) common/hash_table.c symbolizerd/worker/confine.c \
	symbolizerd/worker/zygote.c

HOSTILE += hub_life hub_offences hub_subscribe hub_workers
hostile_hub_life_SRCS := $(HUB_PEER)
hostile_hub_life_LIBS := -lseccomp -lcap-ng
hostile_hub_offences_SRCS := $(HUB_PEER)
hostile_hub_offences_LIBS := -lseccomp -lcap-ng
hostile_hub_subscribe_SRCS := $(HUB_PEER)
hostile_hub_subscribe_LIBS := -lseccomp -lcap-ng
hostile_hub_workers_SRCS := $(HUB_PEER) $(HUB_OWN) \
	$(addprefix symbolizerd/symbols/,index.c frame_names.c frame_names_build.c) ipc/batch_build.c common/hash_table.c \
	common/wire.c common/container.c
hostile_hub_workers_LIBS := -lxxhash -lseccomp -lcap-ng

$(O)/hostile/hub_life $(O)/hostile/hub_offences $(O)/hostile/hub_subscribe: | $(O)/bin/trifold-symbolizerd

HOSTILE += confine_symbolizerd
hostile_confine_symbolizerd_SRCS := symbolizerd/worker/confine.c ipc/sealed.c \
	common/log.c common/sandbox.c common/sandbox_root.c
hostile_confine_symbolizerd_LIBS := -lseccomp -lcap-ng

# real workers with a runtime of the test's own
HOSTILE += process_jobs
hostile_process_jobs_SRCS := $(sort $(HUB_PEER) $(filter-out symbolizerd/runtimes/table.c,$(ELF_VISIT)) \
	$(wildcard symbolizerd/worker/*.c) symbolizerd/hub/jobs.c symbolizerd/hub/job_queue.c \
	symbolizerd/hub/executable.c)
hostile_process_jobs_LIBS := $(ELF_VISIT_LIBS) -lseccomp -lcap-ng
