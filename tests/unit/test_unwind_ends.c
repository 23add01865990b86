// SPDX-License-Identifier: Apache-2.0
/* Where stacks end, and where they do not: code without rules, and frame pointers of zero. */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"
#include "tests/unit/unwind_stack.h"

#include <string.h>

#include "bpf/entry.bpf.h"

static const enum stop_reason no_rules[] = { STOP_ANON, STOP_NO_FILE,
					     STOP_NO_TABLE };

/* The leaf's caller, found by rule, with this in its frame pointer. */
static struct unwind_state called_by_rule(__u64 fp)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	st.fp = fp;
	stack[17] = 0x402222;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	return st;
}

/* Code without frame pointers keeps anything in that register, also zero. */
TEST(unwind_zero_is_no_end_where_nothing_says_frame_pointers)
{
	for (int i = 0; i < 3; i++) {
		struct unwind_state st = called_by_rule(0);

		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), no_rules[i]);
		CHECK_EQ(st.depth, 1);
		/* or a pointer to zeroes */
		stack[30] = stack[31] = 0;
		st = called_by_rule(BASE + 240);
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), no_rules[i]);
		CHECK_EQ(st.fp, BASE + 240);
		st = leaf;
		st.fp = BASE + 240;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), no_rules[i]);
	}
}

/* What a table has no row for is assembler: _start, clone(); it clears fp. */
TEST(unwind_zero_is_the_end_where_a_rule_led_to_no_row)
{
	struct unwind_state st = called_by_rule(0);

	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
	stack[30] = stack[31] = 0;
	st = called_by_rule(BASE + 240);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
}

/* Such code calls what it was given: through a register.  A call of a known function, in a
 * program without CFI, is not there. */
TEST(unwind_zero_is_no_end_where_a_known_function_was_called)
{
	static const __u8 call_r9[] = { 0x41, 0xff, 0xd1 };
	struct unwind_state from = called_by_rule(0), st;

	memset(code, 0x90, sizeof(code));
	from.pc = call_at(600, CODE + 3000) - 1;
	st = from;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	CHECK_EQ(st.depth, from.depth);
	stack[30] = stack[31] = 0;
	st.fp = BASE + 240;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	/* but the first frame of a process may call so */
	st = from;
	st.entry = st.sp;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
	/* musl's clone() */
	memcpy(code + 700 - sizeof(call_r9), call_r9, sizeof(call_r9));
	st = from;
	st.pc = CODE + 699;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
}

/* _start, found by rule, of a file whose table is not there. */
TEST(unwind_zero_is_the_end_where_the_process_began)
{
	for (int i = 0; i < 3; i++) {
		struct unwind_state st = called_by_rule(0);

		st.entry = st.sp;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_COMPLETE);
		/* glibc: and rsp, -16; push rax; push rsp */
		st.entry = st.sp + 16;
		stack[18] = st.sp + 8;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_COMPLETE);
		/* a function called by it */
		st.window_len = 0;
		stack[18] = 1;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), no_rules[i]);
		st.entry = st.sp + 8;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), no_rules[i]);
	}
}

/* musl: main()'s caller, of which no row is, keeps argc in rbp. */
TEST(unwind_goes_to_the_first_frame_by_the_word_below_it)
{
	struct unwind_state from = called_by_rule(1), st;

	memset(code, 0x90, sizeof(code));
	from.pc = CODE + 1030;
	from.entry = from.sp + 48;
	stack[23] = call_at(80, CODE + 512);
	from.window_len = 0;
	st = from;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	CHECK(unwind_to_entry(&st));
	CHECK_EQ(st.pc, CODE + 79);
	CHECK_EQ(st.sp, from.entry);
	CHECK_EQ(st.depth, from.depth + 1);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
	/* the first frame itself, an interrupted one, one that is deeper, no stack */
	for (int i = 0; i < 4; i++) {
		st = from;
		if (i == 0)
			st.entry = st.sp;
		st.exact = i == 1;
		if (i == 2)
			st.entry = st.sp + ENTRY_REACH + 8;
		if (i == 3)
			st.entry = 0;
		stack[(st.entry - 8 - BASE) / 8 % WORDS] = CODE + 80;
		CHECK(!unwind_to_entry(&st));
		CHECK(st.sp == from.sp && st.pc == from.pc && st.fp == 1);
	}
	/* no call is there; one through a register; nothing can be read */
	st = from;
	code[75] = 0x90;
	CHECK(!unwind_to_entry(&st));
	memcpy(&code[78], "\xff\xd0", 2);
	CHECK(!unwind_to_entry(&st));
	st.window_len = 0;
	stack[23] = 0x12345678;
	CHECK(!unwind_to_entry(&st));
}

TEST(unwind_zero_is_the_end_of_a_chain)
{
	struct unwind_rule r = { .cfa = CFA_SP, .cfa_off = 16, .ra_off = -8 };

	for (int i = 0; i < 3; i++) {
		struct unwind_state st = called_by_rule(BASE + 192), again;

		memset(code, 0x90, sizeof(code));
		stack[24] = 0;
		stack[25] = 0x405000;
		stack[27] = 0x406000;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_NOT);
		CHECK_EQ(st.fp, 0);
		again = st;
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_COMPLETE);
		/* a rule led on from there: the chain had not ended */
		CHECK_EQ(unwind_rule_step(&again, &r), STOP_NOT);
		CHECK_EQ(again.fp, 0);
		CHECK_EQ(unwind_fp_step(&again, no_rules[i]), no_rules[i]);
		/* the last frame has zeroes instead */
		stack[24] = BASE + 240;
		stack[30] = stack[31] = 0;
		st = called_by_rule(BASE + 192);
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_NOT);
		CHECK_EQ(unwind_fp_step(&st, no_rules[i]), STOP_COMPLETE);
	}
}

/* Neither the leaf nor its caller has CFI or a frame. */
TEST(unwind_zero_is_no_end_above_a_leaf_without_a_frame)
{
	struct unwind_state st = leaf;

	memset(code, 0x90, sizeof(code));
	st.pc = CODE + 1030;
	st.fp = 0;
	stack[16] = call_at(600, CODE + 1024);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 599);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_NO_TABLE);
}

/* What a signal interrupted has called nothing: as the first frame. */
TEST(unwind_zero_is_no_end_where_a_signal_came)
{
	struct unwind_rule r = { .cfa = CFA_SIGNAL };
	struct unwind_state st = leaf;
	__u64 *g = &stack[16 + SIG_REGS / 8];

	memset(g, 0, 8 * (SIG_PC + 1));
	g[SIG_PC] = 0x408000;
	g[SIG_SP] = BASE + 512;
	g[SIG_REG(0)] = 1;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.fp, 0);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_NO_TABLE);
}

TEST(unwind_knows_a_process_that_has_not_called_anything)
{
	struct unwind_state st = leaf;

	st.fp = 0;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	for (int i = 0; i < SAVED_REGS; i++)
		st.regs[i] = 0;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_COMPLETE);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_TABLE), STOP_COMPLETE);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_FILE), STOP_COMPLETE);
}
