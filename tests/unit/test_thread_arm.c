// SPDX-License-Identifier: Apache-2.0
/* As test_thread.c, for AArch64. */
#ifndef __TARGET_ARCH_arm64
#define __TARGET_ARCH_arm64
#endif
#include "tests/unit/test_thread.c"
