// SPDX-License-Identifier: Apache-2.0
/* Calls of AArch64; those of x86-64 are in test_unwind.c. */
#define __TARGET_ARCH_arm64
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/call.bpf.h"

#define CODE	0x500000ULL

static __u32 insn;	/* at CODE */

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	if ((__u64)(uintptr_t)src != CODE || size != sizeof(insn))
		return -EFAULT;
	memcpy(dst, &insn, sizeof(insn));
	return 0;
}

static __u32 distance(__u32 word, __u64 pc)
{
	insn = word;
	return call_distance(CODE + 4, pc);
}

TEST(call_arm_distance)
{
	CHECK_EQ(call_distance(CODE + 8, CODE), CALL_UNREAD);
	/* bl . + 16, bl . - 4, bl . + 0x7fffffc */
	CHECK_EQ(distance(0x94000004, CODE + 16), 0);
	CHECK_EQ(distance(0x94000004, CODE + 40), 24);
	CHECK_EQ(distance(0x94000004, CODE + 15), CALL_ELSEWHERE);
	CHECK_EQ(distance(0x97ffffff, CODE), 4);
	CHECK_EQ(distance(0x95ffffff, CODE + 0x7fffffc), 0);
	CHECK_EQ(distance(0x94000004, CODE + 16 + CALL_REACH), CALL_ELSEWHERE);
	/* blr x0, blr x30, blraaz x8, blrab x1, x2 */
	CHECK_EQ(distance(0xd63f0000, CODE), CALL_ANYWHERE);
	CHECK_EQ(distance(0xd63f03c0, CODE), CALL_ANYWHERE);
	CHECK_EQ(distance(0xd63f091f, CODE), CALL_ANYWHERE);
	CHECK_EQ(distance(0xd73f0c22, CODE), CALL_ANYWHERE);
	/* b, br x16, ret, nop */
	CHECK_EQ(distance(0x14000004, CODE + 16), CALL_NONE);
	CHECK_EQ(distance(0xd61f0200, CODE), CALL_NONE);
	CHECK_EQ(distance(0xd65f03c0, CODE), CALL_NONE);
	CHECK_EQ(distance(0xd503201f, CODE), CALL_NONE);
}
