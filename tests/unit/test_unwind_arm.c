// SPDX-License-Identifier: Apache-2.0
/*
 * The unwinder's steps for AArch64, on any host: a made-up stack as a kernel
 * and a compiler lay it out.  What is the same for both architectures is in
 * test_unwind.c.
 */
#define __TARGET_ARCH_arm64
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/unwind.bpf.h"

#define BASE	0xffffc0000000ULL
#define CODE	0xaaaac0000000ULL
#define LR	SAVED_REGS		/* its place in .regs */
#define PAC	0x5a00000000000000ULL	/* what paciasp leaves in bits 63..48 */
#define PAC_B	0x00d3000000000000ULL

/* Linux 5.10 arch/arm64/kernel/signal.c: struct rt_sigframe begins with
 * siginfo_t, 128 bytes, and ucontext_t; include/uapi/asm/ucontext.h: flags,
 * link, stack (24), sigmask (8) and 120 unused; sigcontext.h, aligned to 16:
 * fault_address, regs[31], sp, pc */
#define FRAME_REGS	(128 + 8 + 8 + 24 + 8 + 120 + 8 + 8)

static __u64 stack[256];
static __u32 code[64];

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 off = (__u64)(uintptr_t)src - BASE;
	__u64 at = (__u64)(uintptr_t)src - CODE;

	if (at < sizeof(code) && sizeof(code) - at >= size)
		memcpy(dst, (char *)code + at, size);
	else if (off < sizeof(stack) && sizeof(stack) - off >= size)
		memcpy(dst, (char *)stack + off, size);
	else
		return -EFAULT;
	return 0;
}

static const struct unwind_state first = {
	.pc = CODE + 0x40, .sp = BASE + 128, .fp = BASE + 256, .exact = 1,
	.regs = { 19, 20, 21, 22, 23, CODE + 0x80 },
};

static const struct unwind_rule leaf_rule = {
	.cfa = CFA_SP, .ra = RA_REG, .ra_reg = LR,
};

/* stp x29, x30, [sp, -48]!; str x19, [sp, 16] */
static const struct unwind_rule framed_rule = {
	.cfa = CFA_SP, .cfa_off = 48, .ra_off = -40, .fp_off = -48,
	.saved = 1 << SAVED_FP | 1 << 0, .reg_off = { -4 },
};

TEST(unwind_arm_leaf_returns_to_lr)
{
	struct unwind_state st = first;

	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x7f);
	CHECK_EQ(st.sp, first.sp);
	CHECK_EQ(st.fp, first.fp);
	CHECK_EQ(st.exact, 0);
	/* a caller's link register is not known any more */
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_UNSUPPORTED);
	st = first;
	st.regs[LR] = 0;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_READ);
	st.depth = 1;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_COMPLETE);
}

TEST(unwind_arm_frame_record_and_x19)
{
	struct unwind_state st = first;

	stack[16] = BASE + 512;
	stack[17] = CODE + 0x90;
	stack[18] = 1919;
	CHECK_EQ(unwind_rule_step(&st, &framed_rule), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x8f);
	CHECK_EQ(st.sp, first.sp + 48);
	CHECK_EQ(st.fp, BASE + 512);
	CHECK_EQ(st.regs[0], 1919);
	CHECK_EQ(st.regs[1], 20);
}

TEST(unwind_arm_signed_return_addresses)
{
	struct unwind_state st = first;

	stack[16] = BASE + 512;
	stack[17] = (CODE + 0x90) | PAC;
	CHECK_EQ(unwind_rule_step(&st, &framed_rule), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x8f);
	st = first;
	st.regs[LR] |= PAC_B;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x7f);
	st = first;
	st.exact = 0;
	stack[32] = BASE + 512;
	stack[33] = (CODE + 0xa0) | PAC_B;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x9f);
	CHECK_EQ(st.fp, BASE + 512);
}

TEST(unwind_arm_signal_frame_of_an_interrupted_leaf)
{
	const struct unwind_rule trampoline = { .cfa = CFA_SIGNAL };
	struct unwind_state st = first;
	__u64 *regs = &stack[16 + FRAME_REGS / 8];

	for (int i = 0; i < 31; i++)
		regs[i] = 1000 + i;
	regs[29] = BASE + 1600;
	regs[30] = (CODE + 0xb0) | PAC;
	regs[31] = BASE + 1500;
	regs[32] = CODE + 0x44;
	CHECK_EQ(unwind_rule_step(&st, &trampoline), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x44);
	CHECK_EQ(st.sp, BASE + 1500);
	CHECK_EQ(st.fp, BASE + 1600);
	for (int i = 0; i < SAVED_REGS; i++)
		CHECK_EQ(st.regs[i], 1019 + i);
	CHECK_EQ(st.exact, 1);
	/* it was interrupted anywhere: its link register is what counts */
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0xaf);
	CHECK_EQ(st.sp, BASE + 1500);
	CHECK_EQ(st.depth, 2);
}

TEST(unwind_arm_leaf_without_a_row)
{
	struct unwind_state st = first;

	/* at 0x7c: bl 0x30, to before pc; at 0x9c: bl 0, to another */
	code[0x7c / 4] = 0x94000000 | ((0x30 - 0x7c) / 4 & 0x3ffffff);
	code[0x9c / 4] = 0x94000000 | ((0x00 - 0x9c) / 4 & 0x3ffffff);
	stack[16] = 0;
	stack[32] = BASE + 512;
	stack[33] = CODE + 0xa0;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x7f);
	CHECK_EQ(st.fp, first.fp);
	/* and the other way round: the frame is this function's */
	st = first;
	st.regs[LR] = CODE + 0xa0;
	stack[33] = CODE + 0x80;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 0x7f);
	CHECK_EQ(st.fp, BASE + 512);
}

/* AAPCS64 6.4.6: zero ends a chain of frame records, if it is one. */
TEST(unwind_arm_zero_ends_a_chain_only)
{
	struct unwind_state st = first;

	st.fp = 0;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_NO_TABLE);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_FILE), STOP_NO_FILE);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);

	st = first;
	stack[32] = 0;
	stack[33] = CODE + 0xa0;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_NOT);
	CHECK_EQ(st.fp, 0);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_COMPLETE);

	/* a record of zeroes */
	st = first;
	stack[33] = 0;
	CHECK_EQ(unwind_rule_step(&st, &leaf_rule), STOP_NOT);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_NO_TABLE);
}

TEST(unwind_arm_survives_any_rule_and_state)
{
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < 200000; i++) {
		struct unwind_state st = first;
		uint8_t bytes[sizeof(struct unwind_rule)];
		struct unwind_rule r;

		for (size_t k = 0; k < sizeof(bytes); k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			bytes[k] = x & (k % 4 == 3 || k < 4 ? 15 : 255);
		}
		memcpy(&r, bytes, sizeof(r));
		st.regs[i % REGS_MAX] = x;
		CHECK(unwind_rule_step(&st, &r) < STOP__MAX);
	}
}

/* Two stacks whose frames lead to each other. */
TEST(unwind_leaves_a_circle_of_stacks)
{
	struct unwind_rule r = { .cfa = CFA_SP_DEREF, .ra_off = -8, .saved = RULE_ELSEWHERE };
	struct unwind_state st = first;
	int n = 0;

	for (int i = 0; i < 6; i++) {
		stack[40 - 4 * i] = BASE + 8 * (36 - 4 * i);	/* to the next one, */
		stack[39 - 4 * i] = CODE + 0x44;
	}
	stack[20] = BASE + 8 * 40;		/* and the last one up to the first */
	st.sp = BASE + 8 * 40;
	while (unwind_rule_step(&st, &r) == STOP_NOT && n < FRAMES_MAX)
		n++;
	CHECK(n < 30);
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NO_PROGRESS);
	/* down twice to places that differ is no circle */
	stack[39] = stack[35] = stack[31] = CODE + 0x44;
	st = first;
	st.sp = BASE + 8 * 40;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.sp, BASE + 8 * 32);
}
