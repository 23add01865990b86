// SPDX-License-Identifier: Apache-2.0
/* The unwinder's steps on the host, over a stack that the test makes up. */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"
#include "tests/unit/unwind_stack.h"

#include <string.h>

#include "bpf/entry.bpf.h"
#include "bpf/unwind.bpf.h"

TEST(unwind_follows_sp_rule)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	stack[17] = 0x402222;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x402221);
	CHECK_EQ(st.sp, BASE + 144);
	CHECK_EQ(st.fp, leaf.fp);
	CHECK_EQ(st.depth, 1);
	CHECK_EQ(st.exact, 0);
}

TEST(unwind_goes_down_only_to_another_stack)
{
	struct unwind_rule r = { .cfa = CFA_FP, .cfa_off = 16, .ra_off = -8,
				 .fp_off = -16, .saved = 1 << SAVED_FP };
	struct unwind_state st = leaf;

	/* sp is word 16; the frame that fp tells of is words 2 and 3 */
	st.fp = BASE + 16;
	stack[2] = 0xf0f0;
	stack[3] = 0x405000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NO_PROGRESS);
	r.saved |= RULE_ELSEWHERE;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x404fff);
	CHECK_EQ(st.sp, BASE + 32);
	CHECK_EQ(st.fp, 0xf0f0);
	st.fp = -16ULL;		/* a CFA of 0 is none */
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_READ);
}

/* The return address was just popped: only where execution was interrupted. */
TEST(unwind_stays_only_in_a_leaf)
{
	struct unwind_rule r = sp_rule(0);
	struct unwind_state st = leaf;

	stack[15] = 0x402222;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x402221);
	CHECK_EQ(st.sp, leaf.sp);
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NO_PROGRESS);
}

TEST(unwind_restores_registers_near_and_far)
{
	struct unwind_rule r = sp_rule(160);
	struct unwind_state st = leaf;

	/* cfa is word 36: RA 35, FP 34, rbx 28 (in the window), r15 17 (not) */
	r.saved = 1 << SAVED_FP | 1 << 0 | 1 << 4;
	r.fp_off = -16;
	r.reg_off[0] = -8;
	r.reg_off[4] = -19;
	stack[35] = 0x403000;
	stack[34] = 0xf0f0;
	stack[28] = 0xb0b0;
	stack[17] = 0x1515;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.fp, 0xf0f0);
	CHECK_EQ(st.regs[0], 0xb0b0);
	CHECK_EQ(st.regs[1], 2);
	CHECK_EQ(st.regs[4], 0x1515);
}

TEST(unwind_follows_register_and_dereference)
{
	struct unwind_rule r = { .cfa = CFA_REG, .cfa_reg = 2, .cfa_off = 16,
				 .ra_off = -8 };
	struct unwind_state st = leaf;

	st.regs[2] = BASE + 256;
	stack[33] = 0x404000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.sp, BASE + 272);

	r = (struct unwind_rule){ .cfa = CFA_FP_DEREF, .cfa_off = -8,
				  .aux = 24, .ra_off = -8 };
	st = leaf;
	stack[23] = BASE + 400;
	stack[52] = 0x405000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.sp, BASE + 424);
	CHECK_EQ(st.pc, 0x404fff);
}

TEST(unwind_follows_plt_before_and_after_push)
{
	struct unwind_rule r = { .cfa = CFA_PLT, .ra_off = -8 };
	struct unwind_state st = leaf;

	stack[16] = 0x406000;
	stack[17] = 0x407000;
	st.pc = 0x40100a;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x405fff);
	st = leaf;
	st.pc = 0x40100b;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x406fff);
}

TEST(unwind_takes_all_from_a_signal_frame)
{
	struct unwind_rule r = { .cfa = CFA_SIGNAL };
	struct unwind_state st = leaf;
	__u64 *g = &stack[16 + SIG_REGS / 8];

	g[SIG_PC] = 0x408000;
	g[SIG_SP] = BASE + 8;		/* from an alternate stack: lower */
	g[SIG_FP] = 0xfefe;
	g[SIG_REG(0)] = 0xb1;
	g[SIG_REG(4)] = 0x15;
	g[SIG_REG(REGS_N - 1)] = 0xcc;	/* valid again: it was interrupted */
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x408000);
	CHECK_EQ(st.sp, BASE + 8);
	CHECK_EQ(st.fp, 0xfefe);
	CHECK_EQ(st.regs[0], 0xb1);
	CHECK_EQ(st.regs[4], 0x15);
	CHECK_EQ(st.regs[REGS_N - 1], 0xcc);
	CHECK_EQ(st.exact, 1);
}

static void check_unchanged(const struct unwind_rule *r, unsigned int want)
{
	struct unwind_state st = leaf;

	CHECK_EQ(unwind_rule_step(&st, r), want);
	CHECK_EQ(st.pc, leaf.pc);
	CHECK_EQ(st.sp, leaf.sp);
	CHECK_EQ(st.fp, leaf.fp);
	CHECK_EQ(st.depth, 0);
}

TEST(unwind_failure_leaves_state)
{
	struct unwind_rule r = sp_rule(-64);

	check_unchanged(&r, STOP_NO_PROGRESS);
	r = sp_rule(1 << 20);		/* far outside of what is readable */
	check_unchanged(&r, STOP_READ);
	r = (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
	check_unchanged(&r, STOP_UNSUPPORTED);
	r = (struct unwind_rule){ .cfa = CFA_END };
	check_unchanged(&r, STOP_COMPLETE);
	r = (struct unwind_rule){ .cfa = CFA_FP_DEREF, .cfa_off = 1 << 20 };
	check_unchanged(&r, STOP_READ);
}

/* Else a hostile rule could take bytes of two words for an address in code. */
TEST(unwind_takes_aligned_words_only)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	stack[17] = 0x403000ULL << 40;
	stack[18] = 0x404000;
	r.ra_off = -3;			/* the upper bytes of the one */
	check_unchanged(&r, STOP_READ);
	st.sp += 5;
	r.ra_off = -8;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_READ);
	r.cfa = CFA_SP_DEREF;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_READ);
}

TEST(unwind_reads_word_by_word_where_no_window_fits)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	st.sp = BASE;			/* the window would begin below */
	stack[1] = 0x409000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x408fff);
}

TEST(unwind_zero_return_address_ends_the_stack)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	stack[17] = 0;
	st.depth = 3;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_COMPLETE);
}

TEST(unwind_return_from_what_was_put_between_instructions)
{
	struct unwind_rule r = sp_rule(16);
	struct unwind_state st = leaf;

	r.saved = RULE_INJECTED;
	stack[17] = 0x402222;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x402222);
	CHECK_EQ(st.exact, EXACT_PC);
}

TEST(unwind_link_register_only_where_interrupted)
{
	struct unwind_rule r = { .cfa = CFA_SP, .ra = RA_REG,
				 .ra_reg = SAVED_REGS };
	struct unwind_state st = leaf;

	st.regs[SAVED_REGS] = 0x40a000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.pc, 0x409fff);
	CHECK_EQ(st.sp, leaf.sp);
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_UNSUPPORTED);

	r = sp_rule(16);
	r.cfa = CFA_REG;
	r.cfa_reg = SAVED_REGS;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_UNSUPPORTED);
	st.exact = 1;
	st.regs[SAVED_REGS] = BASE + 256;
	stack[33] = 0x40b000;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.sp, BASE + 272);
}

TEST(unwind_registers_saved_by_cfa_and_by_fp)
{
	struct unwind_rule r = { .cfa = CFA_FP_DEREF, .cfa_off = -8,
				 .ra_off = -8 };
	struct unwind_state st = leaf;

	r.saved = 1 << SAVED_FP | 1 << 0 | 1 << 2;
	r.by_fp = 1 << SAVED_FP | 1 << 0;
	r.reg_off[0] = -2;
	r.reg_off[2] = -3;
	stack[23] = BASE + 400;		/* the CFA is word 50 */
	stack[49] = 0x405000;
	stack[24] = 0xf0f0;
	stack[22] = 0xb0b0;
	stack[47] = 0x1313;
	CHECK_EQ(unwind_rule_step(&st, &r), STOP_NOT);
	CHECK_EQ(st.sp, BASE + 400);
	CHECK_EQ(st.fp, 0xf0f0);
	CHECK_EQ(st.regs[0], 0xb0b0);
	CHECK_EQ(st.regs[2], 0x1313);
}

TEST(unwind_frame_pointer_only_where_sound)
{
	struct unwind_state st = leaf;

	stack[24] = BASE + 320;
	stack[25] = 0x40b000;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, 0x40afff);
	CHECK_EQ(st.sp, leaf.fp + 16);
	CHECK_EQ(st.fp, BASE + 320);
	/* the chain shrinks, is misaligned, is below sp, is far, holds no code */
	stack[40] = BASE + 8;
	stack[41] = 0x40c000;
	st.window_len = 0;		/* the stack has changed under it */
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	st.fp += 4;
	CHECK_EQ(unwind_fp_step(&st, STOP_ANON), STOP_ANON);
	st.fp = st.sp - 8;
	CHECK_EQ(unwind_fp_step(&st, STOP_ANON), STOP_ANON);
	st.fp = st.sp + FP_REACH + 8;
	CHECK_EQ(unwind_fp_step(&st, STOP_ANON), STOP_ANON);
	st.fp = BASE + 480;
	stack[60] = BASE + 640;
	stack[61] = 17;
	st.window_len = 0;
	CHECK_EQ(unwind_fp_step(&st, STOP_ANON), STOP_ANON);
	st.fp = 0;
	CHECK_EQ(unwind_fp_step(&st, STOP_ANON), STOP_COMPLETE);
}

TEST(unwind_call_distance)
{
	static const struct {
		__u8 len, b[7];
	} indirect[] = {
		{ 2, { 0xff, 0xd0 } }, { 2, { 0xff, 0x13 } },
		{ 3, { 0x41, 0xff, 0xd7 } }, { 3, { 0xff, 0x50, 8 } },
		{ 3, { 0xff, 0x14, 0xc8 } }, { 4, { 0xff, 0x54, 0x24, 8 } },
		{ 6, { 0xff, 0x15, 1, 2, 3, 4 } },
		{ 6, { 0xff, 0x90, 1, 2, 3, 4 } },
		{ 7, { 0xff, 0x94, 0xc8, 1, 2, 3, 4 } },
	};
	static const __u8 none[][2] = {
		{ 0xff, 0xe0 }, { 0xff, 0x15 }, { 0xff, 0x14 }, { 0xff, 0x50 },
		{ 0x90, 0xd0 }, { 0xff, 0xc8 },
	};

	memset(code, 0x90, sizeof(code));
	CHECK_EQ(call_distance(CODE + 64, CODE), CALL_NONE);
	CHECK_EQ(call_distance(0x12345678, CODE), CALL_UNREAD);
	call_at(64, CODE + 512);
	CHECK_EQ(call_distance(CODE + 64, CODE + 512), 0);
	CHECK_EQ(call_distance(CODE + 64, CODE + 700), 188);
	CHECK_EQ(call_distance(CODE + 64, CODE + 511), CALL_ELSEWHERE);
	CHECK_EQ(call_distance(CODE + 64, CODE + 512 + CALL_REACH),
		 CALL_ELSEWHERE);
	for (size_t i = 0; i < sizeof(indirect) / sizeof(*indirect); i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code + 64 - indirect[i].len, indirect[i].b,
		       indirect[i].len);
		CHECK_EQ(call_distance(CODE + 64, CODE), CALL_ANYWHERE);
	}
	/* trampolines of signal handlers */
	memset(code, 0x90, sizeof(code));
	memcpy(code + 64, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	memcpy(code + 128, "\xb8\x0f\0\0\0\x0f\x05", 7);
	CHECK_EQ(call_distance(CODE + 64, CODE), CALL_ANYWHERE);
	CHECK_EQ(call_distance(CODE + 128, CODE), CALL_ANYWHERE);
	CHECK_EQ(call_distance(CODE + 65, CODE), CALL_NONE);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code + 62, none[i], 2);
		CHECK_EQ(call_distance(CODE + 64, CODE), CALL_NONE);
	}
}

/* Entries of PLTs at CODE + PLT; the word of the GOT lies at CODE + GOT. */
TEST(unwind_call_through_a_plt)
{
	static const struct {
		__u8 len, b[7];
	} entries[] = {
		{ 2, { 0xff, 0x25 } }, { 3, { 0xf2, 0xff, 0x25 } },
		{ 6, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25 } },
		{ 7, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25 } },
	};
	enum { PLT = 2048, GOT = 3072 };
	__u64 to = CODE + 1024;

	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		__s32 rel = GOT - (PLT + entries[i].len + 4);

		memset(code, 0x90, sizeof(code));
		call_at(64, CODE + PLT);
		memcpy(&code[GOT], &to, sizeof(to));
		CHECK_EQ(call_bound_distance(CODE + 64, to + 6), CALL_ELSEWHERE);
		memcpy(&code[PLT], entries[i].b, entries[i].len);
		memcpy(&code[PLT + entries[i].len], &rel, sizeof(rel));
		CHECK_EQ(call_bound_distance(CODE + 64, to + 6), 6);
		CHECK_EQ(call_bound_distance(CODE + 64, to - 1), CALL_ELSEWHERE);
		/* to the entry itself, as before; another opcode; no GOT */
		CHECK_EQ(call_bound_distance(CODE + 64, CODE + PLT + 2), 2);
		code[PLT + entries[i].len - 1] = 0x15;
		CHECK_EQ(call_bound_distance(CODE + 64, to + 6), CALL_ELSEWHERE);
		code[PLT + entries[i].len - 1] = 0x25;
		rel = 0x7000000;
		memcpy(&code[PLT + entries[i].len], &rel, sizeof(rel));
		CHECK_EQ(call_bound_distance(CODE + 64, to + 6), CALL_ELSEWHERE);
	}
	/* nothing can be read there */
	call_at(64, CODE + (1 << 20));
	CHECK_EQ(call_bound_distance(CODE + 64, to + 6), CALL_ELSEWHERE);
}

TEST(unwind_knows_trampolines_by_their_code)
{
	static const __u8 rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };
	static const __u8 eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 5 };
	static const struct {
		const __u8 *code;
		__u32 len;
	} both[] = { { rax, 9 }, { eax, 7 } };

	for (int i = 0; i < 2; i++) {
		__u32 end = both[i].len;

		memset(code, 0x90, sizeof(code));
		memcpy(code + 64, both[i].code, end);
		for (__u32 at = 32; at < 96; at++) {
			CHECK_EQ(is_sigreturn(CODE + at, 0), at == 64);
			CHECK_EQ(is_sigreturn(CODE + at, 1),
				 at == 64 || (at >= 64 + end - 2 &&
					      at <= 64 + end));
		}
		for (__u32 k = 0; k < end; k++) {
			code[64 + k] ^= 1;
			CHECK(!is_sigreturn(CODE + 64, 1));
			code[64 + k] ^= 1;
		}
	}
	CHECK(!is_sigreturn(0x12345678, 1));
}

/* In the system call or behind it, with the result of the child. */
TEST(unwind_knows_where_threads_begin)
{
	static const __u8 clone[] = { 0xb8, 56, 0, 0, 0, 0x0f, 5, 0x48, 0x85, 0xc0 };
	static const __u8 clone3[] = { 0xb8, 0xb3, 1, 0, 0, 0x0f, 5, 0x48, 0x85, 0xc0 };
	static const __u8 fork[] = { 0xb8, 57, 0, 0, 0, 0x0f, 5, 0x48, 0x85, 0xc0 };
	const __u8 *all[] = { clone, clone3, fork };
	struct unwind_state st = leaf;

	for (int i = 0; i < 3; i++) {
		memset(code, 0x90, sizeof(code));
		memcpy(code + 64, all[i], sizeof(clone));
		for (__u32 at = 32; at < 96; at++) {
			int here = i < 2 && (at == 64 + 6 || at == 64 + 7);

			st.pc = CODE + at;
			st.regs[REG_RESULT] = 0;
			CHECK_EQ(unwind_is_first_by_code(&st), here);
			st.regs[REG_RESULT] = 4711;	/* the parent */
			CHECK(!unwind_is_first_by_code(&st));
			st.regs[REG_RESULT] = 0;
			st.exact = EXACT_PC;	/* who knows */
			CHECK(!unwind_is_first_by_code(&st));
			st.exact = EXACT;
		}
	}
	memcpy(code + 64, clone3, sizeof(clone3));
	st.pc = CODE + 64 + 7;
	for (size_t k = 0; k < sizeof(clone3); k++) {
		code[64 + k] ^= 1;
		CHECK(!unwind_is_first_by_code(&st));
		code[64 + k] ^= 1;
	}
	CHECK(unwind_is_first_by_code(&st));
	st.pc = 0x12345678;
	CHECK(!unwind_is_first_by_code(&st));
}

TEST(unwind_knows_where_fibers_end)
{
	static const __u8 plain[] = { 0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4 };
	static const __u8 cet[] = { 0xf3, 0x0f, 0x1e, 0xfa,
				    0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4 };
	struct unwind_state st = leaf;

	st.exact = 0;
	for (int i = 0; i < 2; i++) {
		size_t len = i ? sizeof(cet) : sizeof(plain);

		memset(code, 0x90, sizeof(code));
		memcpy(code + 64, i ? cet : plain, len);
		for (__u32 at = 32; at < 96; at++) {
			st.pc = CODE + at - 1;
			CHECK_EQ(unwind_is_first_by_code(&st), at == 64 || (i && at == 68));
		}
		st.pc = CODE + 63;
		for (size_t k = 0; k < len; k++) {
			bool any = k >= len - 5 && k < len - 1; /* where exit() is */

			code[64 + k] ^= 1;
			CHECK_EQ(unwind_is_first_by_code(&st), any);
			code[64 + k] ^= 1;
		}
	}
}

/* A handler of SIGSEGV above a call to address 16. */
TEST(unwind_call_through_a_bad_pointer)
{
	struct unwind_state st = leaf;

	memset(code, 0x90, sizeof(code));
	code[62] = 0xff, code[63] = 0xd0;	/* call *%rax */
	stack[16] = CODE + 64;
	st.pc = 16;
	CHECK(!unwind_bad_call(&st));	/* no sample begins there */
	st.depth = 2;
	CHECK(unwind_bad_call(&st));
	CHECK_EQ(st.pc, CODE + 63);
	CHECK_EQ(st.sp, leaf.sp + 8);
	CHECK_EQ(st.exact, 0);
	CHECK_EQ(st.depth, 3);
	CHECK(!unwind_bad_call(&st));	/* not behind a call */
	st = leaf;
	st.depth = 2;
	stack[16] = call_at(64, CODE + 256);	/* it went elsewhere */
	CHECK(!unwind_bad_call(&st));
	stack[16] = 17;
	CHECK(!unwind_bad_call(&st));
}

/* Functions at CODE + 0 (outer), 512 (middle), 1024 (leaf); pc in the leaf. */
TEST(unwind_exact_frame_without_a_frame)
{
	struct unwind_state st = leaf;

	memset(code, 0x90, sizeof(code));
	st.pc = CODE + 1030;
	stack[16] = call_at(600, CODE + 1024);	/* in middle, calls leaf */
	stack[24] = BASE + 320;			/* middle's frame */
	stack[25] = call_at(80, CODE + 512);	/* in outer, calls middle */
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 599);
	CHECK_EQ(st.sp, leaf.sp + 8);
	CHECK_EQ(st.fp, leaf.fp);
	/* between push and mov */
	st = leaf;
	st.pc = CODE + 1030;
	stack[16] = leaf.fp;
	stack[17] = CODE + 600;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 599);
	CHECK_EQ(st.sp, leaf.sp + 16);
	/* it has a frame, and a stale return address lies at its top */
	st = leaf;
	st.pc = CODE + 1030;
	stack[16] = CODE + 80;
	stack[25] = CODE + 600;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 599);
	CHECK_EQ(st.sp, leaf.fp + 16);
	/* nothing is sure but the frame */
	st = leaf;
	stack[16] = 0x401234;
	stack[25] = 0x405678;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, 0x405677);
}

/* libc's caller of main() keeps a number in rbp. */
TEST(unwind_frame_pointer_of_a_caller_without)
{
	struct unwind_state st = leaf;

	memset(code, 0x90, sizeof(code));
	stack[24] = 1;
	stack[25] = call_at(80, CODE + 512);
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	CHECK_EQ(st.pc, CODE + 79);
	CHECK_EQ(st.fp, 1);
	st = leaf;
	stack[25] = CODE + 300;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
	/* a handler on a stack above that of what it interrupted */
	st = leaf;
	stack[24] = BASE + 8;
	memcpy(code + 128, "\xb8\x0f\0\0\0\x0f\x05", 7);
	stack[25] = CODE + 128;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NOT);
	/* argv is not a frame */
	st = leaf;
	stack[24] = BASE + 400;
	stack[25] = BASE + 480;
	CHECK_EQ(unwind_fp_step(&st, STOP_NO_ROW), STOP_NO_ROW);
}

TEST(unwind_survives_any_rule_and_state)
{
	uint64_t x = 88172645463325252ULL;

	for (int i = 0; i < 200000; i++) {
		struct unwind_state st = leaf;
		uint8_t bytes[sizeof(struct unwind_rule)];
		struct unwind_rule r;

		st.exact = i & 1;

		for (size_t k = 0; k < sizeof(bytes); k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			bytes[k] = x & (k % 4 == 3 || k < 4 ? 15 : 255);
		}
		memcpy(&r, bytes, sizeof(r));
		CHECK(unwind_rule_step(&st, &r) < STOP__MAX);
		CHECK(st.depth == 0 || st.sp != leaf.sp || r.ra == RA_REG ||
		      r.cfa == CFA_SIGNAL || i & 1);
	}
}
