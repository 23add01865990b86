// SPDX-License-Identifier: Apache-2.0
/* The sampler as it is for arm64. */
#define __TARGET_ARCH_arm64
#define WALK_KERNEL	walk_kernel_arm64
#define WALK_SAMPLE	walk_sample_arm64
#define WALK_FREE	walk_free_arm64
#define WALK_PROGRAM	walk_program_arm64
#include "symbolizerd/snapshot/walk_machine.h"
