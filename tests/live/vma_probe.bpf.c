// SPDX-License-Identifier: GPL-2.0-only
#define VMA_PROBE
#include "vma.bpf.c"
