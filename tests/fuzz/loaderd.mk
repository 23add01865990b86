# SPDX-License-Identifier: Apache-2.0
FUZZ += drain ksyms elements
fuzz_drain_SRCS := loaderd/drain.c loaderd/ksyms.c
fuzz_ksyms_SRCS := loaderd/ksyms.c
# with files in memory for BPF maps
fuzz_elements_SRCS := loaderd/elements.c ipc/sealed.c
