# SPDX-License-Identifier: Apache-2.0
#
# hub_workers, hub_again, hub_worker_mutants, hub_kept, hub_debug and hub_debuginfod are the hub with a worker of their own; the others run the real program.
HUB_PEER := tests/hostile/hub_peer.c tests/unit/main.c $(IPC) $(COMMON) \
	$(MORE) ipc/batch.c
HUB_OWN := $(wildcard $(addprefix symbolizerd/,hub/*.c jobs/*.c knowledge/*.c tables/*.c)) common/hash_table.c symbolizerd/worker/confine.c \
	symbolizerd/worker/zygote.c symbolizerd/worker/priority.c

HOSTILE += hub_life hub_offences hub_mutants hub_exporters hub_subscribe \
	hub_share hub_lines hub_names hub_workers hub_again hub_worker_mutants hub_kept hub_debug hub_debuginfod
hostile_hub_life_SRCS := $(HUB_PEER)
hostile_hub_life_LIBS := -lseccomp -lcap-ng
hostile_hub_offences_SRCS := $(HUB_PEER)
hostile_hub_offences_LIBS := -lseccomp -lcap-ng
hostile_hub_mutants_SRCS := $(HUB_PEER) tests/hostile/mutants.c
hostile_hub_mutants_LIBS := -lseccomp -lcap-ng
hostile_hub_exporters_SRCS := $(HUB_PEER)
hostile_hub_exporters_LIBS := -lseccomp -lcap-ng
hostile_hub_names_SRCS := $(HUB_PEER)
hostile_hub_names_LIBS := -lseccomp -lcap-ng
hostile_hub_subscribe_SRCS := $(HUB_PEER)
hostile_hub_subscribe_LIBS := -lseccomp -lcap-ng
hostile_hub_share_SRCS := $(HUB_PEER)
hostile_hub_share_LIBS := -lseccomp -lcap-ng
hostile_hub_lines_SRCS := $(HUB_PEER)
hostile_hub_lines_LIBS := -lseccomp -lcap-ng
hostile_hub_workers_SRCS := $(HUB_PEER) $(HUB_OWN) tests/hostile/own_hub.c \
	$(addprefix symbolizerd/symbols/,index.c index_keep.c lines_build.c frame_names.c line_codes.c) $(READING) ipc/batch_build.c ipc/short_name.c ipc/short_method.c common/hash_table.c \
	common/wire.c common/container.c
hostile_hub_workers_LIBS := -lxxhash -lseccomp -lcap-ng
hostile_hub_worker_mutants_SRCS := $(hostile_hub_workers_SRCS) tests/hostile/mutants.c
hostile_hub_worker_mutants_LIBS := $(hostile_hub_workers_LIBS)
hostile_hub_again_SRCS := $(hostile_hub_workers_SRCS)
hostile_hub_again_LIBS := $(hostile_hub_workers_LIBS)
hostile_hub_kept_SRCS := $(hostile_hub_workers_SRCS)
hostile_hub_kept_LIBS := $(hostile_hub_workers_LIBS)
hostile_hub_debug_SRCS := $(hostile_hub_workers_SRCS)
hostile_hub_debug_LIBS := $(hostile_hub_workers_LIBS)
hostile_hub_debuginfod_SRCS := $(hostile_hub_workers_SRCS)
hostile_hub_debuginfod_LIBS := $(hostile_hub_workers_LIBS)

$(O)/hostile/hub_life $(O)/hostile/hub_offences $(O)/hostile/hub_mutants $(O)/hostile/hub_exporters $(O)/hostile/hub_subscribe $(O)/hostile/hub_share $(O)/hostile/hub_lines $(O)/hostile/hub_names: | $(O)/bin/trifold-symbolizerd

HOSTILE += confine_symbolizerd
hostile_confine_symbolizerd_SRCS := symbolizerd/worker/confine.c ipc/sealed.c \
	common/log.c common/sandbox.c
hostile_confine_symbolizerd_LIBS := -lseccomp -lcap-ng

# real workers with a runtime of the test's own
HOSTILE += process_jobs
hostile_process_jobs_SRCS := $(sort $(HUB_PEER) $(filter-out symbolizerd/runtimes/table.c,$(ELF_VISIT)) \
	$(wildcard symbolizerd/worker/*.c) $(wildcard symbolizerd/jobs/*.c) symbolizerd/knowledge/cpu_share.c \
	$(addprefix symbolizerd/knowledge/,executable.c file_symbols.c owner_cache.c read_again.c user_share.c) symbolizerd/elf/debugdata.c symbolizerd/tables/owners.c ipc/short_name.c ipc/short_method.c)
hostile_process_jobs_LIBS := -llzma -lz $(ELF_VISIT_LIBS) -lseccomp -lcap-ng

# the real zygote and workers, and a hub that lies
HOSTILE += zygote_lies
hostile_zygote_lies_SRCS := $(sort $(hostile_process_jobs_SRCS) $(ELF_VISIT) tests/hostile/mutants.c)
hostile_zygote_lies_LIBS := $(hostile_process_jobs_LIBS)

# the real recorder of `trifold record`, and an exporterd that lies
HOSTILE += recorder_lies
hostile_recorder_lies_SRCS := $(HUB_PEER) tests/hostile/mutants.c ipc/batch_build.c ipc/fdpass.c common/hash_table.c
hostile_recorder_lies_LIBS := -lxxhash -lseccomp -lcap-ng
$(O)/hostile/recorder_lies: | $(O)/bin/trifold
