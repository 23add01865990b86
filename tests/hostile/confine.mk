# SPDX-License-Identifier: Apache-2.0
HOSTILE += confine_loaderd
hostile_confine_loaderd_SRCS := loaderd/confine.c common/sandbox.c common/log.c
hostile_confine_loaderd_LIBS := -lseccomp -lcap-ng

# for the guests of tests/vm
.PHONY: hostile-confine
hostile-confine: $(O)/hostile/confine_loaderd $(O)/hostile/confine_symbolizerd
