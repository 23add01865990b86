// SPDX-License-Identifier: Apache-2.0
/* Calls of AArch64; those of x86-64 are in test_unwind.c. */
#define __TARGET_ARCH_arm64
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/call.bpf.h"

#define INSNS	0x500000ULL
#define CODE	(INSNS + 16)

static __u32 insns[16];	/* at INSNS */

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - INSNS;

	if (off > sizeof(insns) || sizeof(insns) - off < size)
		return -EFAULT;
	memcpy(dst, (const char *)insns + off, size);
	return 0;
}

static __u32 distance(__u32 word, __u64 pc)
{
	insns[4] = word;
	return call_distance(CODE + 4, pc);
}

TEST(call_arm_distance)
{
	CHECK_EQ(call_distance(INSNS, CODE), CALL_UNREAD);
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

TEST(call_arm_trampoline)
{
	insns[6] = 0xd2801168;		/* mov x8, #139 */
	insns[7] = 0xd4000001;		/* svc #0 */
	for (__u64 at = 2; at < 12; at++) {
		CHECK_EQ(is_sigreturn(INSNS + 4 * at, 0), at == 6);
		CHECK_EQ(is_sigreturn(INSNS + 4 * at, 1),
			 at >= 6 && at <= 8);
	}
	/* where a handler returns to */
	CHECK_EQ(call_distance(INSNS + 24, CODE), CALL_ANYWHERE);
	insns[7] = 0xd4000021;
	CHECK(!is_sigreturn(INSNS + 24, 1));
}

/* In the system call or behind it. */
TEST(call_arm_thread_start)
{
	for (int i = 0; i < 2; i++) {
		memset(insns, 0, sizeof(insns));
		insns[6] = i ? 0xd2803668 : 0xd2801b88;	/* mov x8, #435 or #220 */
		insns[7] = 0xd4000001;			/* svc #0 */
		insns[8] = 0xb40000e0;			/* cbz x0, . + 28 */
		for (__u64 at = 8; at < 48; at++)
			CHECK_EQ(is_thread_start(INSNS + at),
				 at == 32 || (at > 28 && at < 32));
		for (int k = 6; k < 9; k++) {
			insns[k] ^= 1;		/* for cbz: of another register */
			CHECK(!is_thread_start(INSNS + 32));
			insns[k] ^= 1;
		}
	}
}
