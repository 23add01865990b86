# SPDX-License-Identifier: Apache-2.0
UNIT += unwind unwind_ends unwind_arm trampoline call_arm parts remember words sampler executed list_files python_step hotspot_step hotspot_arm
UNIT += thread thread_arm
unit_words_SRCS := symbolizerd/knowledge/record.c
UNIT += elements
STORE := loaderd/store.c common/service.c common/send_fds.c
unit_elements_SRCS := loaderd/elements.c $(STORE)
unit_elements_LIBS := -lbpf
UNIT += requests
unit_requests_SRCS := loaderd/requests.c loaderd/entries.c loaderd/elements.c $(STORE) \
	ipc/sealed.c ipc/message.c \
	ipc/rules.c ipc/conn.c common/log.c
unit_requests_LIBS := -lbpf -Wl,--wrap=conn_send
UNIT += ksyms drain
UNIT += sampling
unit_sampling_SRCS := loaderd/sampling.c common/log.c $(STORE)
unit_sampling_LIBS := \
	-Wl,--wrap=syscall,--wrap=ioctl,--wrap=read,--wrap=pread,--wrap=open,--wrap=close,--wrap=clock_gettime
unit_ksyms_SRCS := loaderd/ksyms.c
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
