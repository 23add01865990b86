# SPDX-License-Identifier: Apache-2.0
HOSTILE += confine_loaderd
hostile_confine_loaderd_SRCS := loaderd/confine.c common/sandbox.c common/log.c
hostile_confine_loaderd_LIBS := -lseccomp -lcap-ng
HOSTILE += opener
hostile_opener_SRCS := loaderd/opener.c loaderd/confine.c common/sandbox.c common/log.c \
	ipc/conn.c common/send_fds.c ipc/message.c ipc/rules.c
hostile_opener_LIBS := -lseccomp -lcap-ng -Wl,--wrap=poll,--wrap=ppoll

# for the guests of tests/vm
.PHONY: hostile-confine
hostile-confine: $(O)/hostile/confine_loaderd $(O)/hostile/confine_symbolizerd
HOSTILE += confine_front
hostile_confine_front_SRCS := cli/config/confine.c common/sandbox.c common/log.c
hostile_confine_front_LIBS := -lseccomp -lcap-ng
HOSTILE += confine_exporterd
hostile_confine_exporterd_SRCS := exporterd/confine.c exporterd/confinement.c exporterd/spool.c exporterd/own_dir.c exporterd/debug_cache.c common/read_all.c common/buffer.c exporterd/spool_file.c \
	ipc/sealed.c  ipc/batch.c ipc/batch_build.c common/hash_table.c common/sandbox.c \
	common/log.c
hostile_confine_exporterd_LIBS := -lxxhash -lseccomp -lcap-ng

# which system calls confined processes make, for tests/live/test_filters.py
$(O)/tests/live/calls.o: $(O)/tests/live/calls.skel.h
$(O)/live/calls: $(O)/tests/live/calls.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -lbpf -o $@
