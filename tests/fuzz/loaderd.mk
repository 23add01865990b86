# SPDX-License-Identifier: Apache-2.0
FUZZ += drain ksyms
fuzz_drain_SRCS := loaderd/drain.c loaderd/ksyms.c
fuzz_ksyms_SRCS := loaderd/ksyms.c
