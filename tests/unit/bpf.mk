# SPDX-License-Identifier: Apache-2.0
UNIT += unwind unwind_arm call_arm
UNIT += tables
unit_tables_SRCS := loaderd/tables.c
unit_tables_LIBS := -lbpf
UNIT += files
unit_files_SRCS := loaderd/files.c loaderd/fs.c loaderd/tables.c ipc/sealed.c ipc/message.c ipc/rules_loader.c \
	ipc/conn.c common/log.c
unit_files_LIBS := -lbpf
UNIT += ksyms drain
unit_ksyms_SRCS := loaderd/ksyms.c ipc/trace_ring.c ipc/trace_consumer.c
unit_drain_SRCS := loaderd/drain.c $(unit_ksyms_SRCS)
unit_drain_LIBS := -lbpf

# the VMA walker, for tests/live/test_vma.py: driver and both ways to read
.PHONY: vma_churn
vma_churn: $(O)/live/vma_churn $(O)/tests/live/vma.bpf.o \
	$(O)/tests/live/vma_probe.bpf.o
$(O)/live/vma_churn: $(O)/tests/live/vma_churn.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDHARD) $^ -lbpf -lpthread -o $@
