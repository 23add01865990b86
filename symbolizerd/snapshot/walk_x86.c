// SPDX-License-Identifier: Apache-2.0
/* The sampler as it is for x86-64. */
#define __TARGET_ARCH_x86
#define WALK_KERNEL	walk_kernel_x86
#define WALK_SAMPLE	walk_sample_x86
#define WALK_FREE	walk_free_x86
#define WALK_PROGRAM	walk_program_x86
#include "symbolizerd/snapshot/walk_machine.h"
