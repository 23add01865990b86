// SPDX-License-Identifier: Apache-2.0
/* Where HotSpot's code for arm64 was interrupted: is its frame there, and where is the
 * caller's?  Methods and code are found as on x86-64: test_hotspot_step.c. */
#define __TARGET_ARCH_arm64
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <string.h>

#include "bpf/hotspot_read.bpf.h"

#include "tests/unit/hotspot_process.h"

#define FP	(SP + 0x200)
#define LR	5		/* in .regs */
#define X13	7
#define PAC	(0x7fULL << 48)

#define NOP		0xd503201f
#define SUB_SP_48	0xd100c3ff	/* of WORDS */
#define STP_32		0xa9027bfd	/* stp x29, x30, [sp, #32] */
#define LDP_32		0xa9427bfd
#define ADD_SP_48	0x9100c3ff
#define SUB_SP_X8	0xcb2863ff	/* sub sp, sp, x8 */
#define ADD_SP_X8	0x8b2863ff
#define STP_PUSH	0xa9bf7bfd	/* stp x29, x30, [sp, #-16]! */
#define LDP_POP		0xa8c17bfd
#define LDR_POLL	0xf9402788	/* ldr x8, [x28, #72] */
#define CMP_SP_X8	0xeb2863ff
#define B_HI		0x54000108
#define RET		0xd65f03c0
#define STR_BANG	0xf900013f	/* str xzr, [x9] */

/* These instructions from there on in the method, pc at the nth. */
static struct unwind_state code(const __u32 *insns, int n, int len, __u64 from)
{
	struct unwind_state st;

	hs_bytes(made.code.code + from, insns, 4 * (size_t)len);
	st = at(made.code.code + from + 4 * (__u64)n, EXACT);
	st.regs[LR] = made.caller.code + 100;
	return st;
}

TEST(hotspot_arm_callers_of_compiled_code)
{
	EACH_LAYOUT(v) {
		make(v);
		frame(WORDS - 1);
		expect_caller(at(made.code.code + CALL_AT, 0), SP + 8 * WORDS, 0x1234);
		expect_caller(at(made.code.code + CALL_AT, EXACT), SP + 8 * WORDS, 0x1234);
		/* a signed return address */
		hs_put(SP + 8 * WORDS - 8, (made.caller.code + 100) | PAC);
		expect_caller(at(made.code.code + CALL_AT, 0), SP + 8 * WORDS, 0x1234);
		make(v);
		frame(3);
		expect_caller(at(made.wrapper.code + CALL_AT, 0), SP + 32, 0x1234);
	}
}

TEST(hotspot_arm_prologues)
{
	static const __u32 small[] = { NOP, STR_BANG, SUB_SP_48, STP_32, NOP };
	static const __u32 large[] = { STR_BANG, STP_PUSH, NOP, SUB_SP_X8, NOP };

	EACH_LAYOUT(v) {
		make(v);
		for (int i = 0; i <= 2; i++)
			expect_caller(code(small, i, 5, 0), SP, FP);
		expect_caller(code(small, 3, 5, 0), SP + 8 * WORDS, FP);
		frame(WORDS - 1);
		expect_caller(code(small, 4, 5, 0), SP + 8 * WORDS, 0x1234);
		make(v);
		for (int i = 0; i <= 1; i++)
			expect_caller(code(large, i, 5, 0), SP, FP);
		frame(1);
		for (int i = 2; i <= 3; i++)
			expect_caller(code(large, i, 5, 0), SP + 16, 0x1234);
		make(v);
		frame(WORDS - 1);
		expect_caller(code(large, 4, 5, 0), SP + 8 * WORDS, 0x1234);
	}
}

/* What lies before the code is another method's. */
TEST(hotspot_arm_prologue_begins_with_the_code)
{
	static const __u32 stp = STP_32;

	EACH_LAYOUT(v) {
		struct unwind_state st;

		make(v);
		st = code((const __u32[]){ NOP, NOP }, 1, 2, 0);
		hs_bytes(made.code.code - 4, &stp, 4);
		expect_caller(st, SP, FP);
	}
}

TEST(hotspot_arm_epilogues)
{
	static const __u32 small[] = { LDP_32, ADD_SP_48, LDR_POLL, CMP_SP_X8, B_HI, RET };
	static const __u32 large[] = { ADD_SP_X8, LDP_POP, LDR_POLL, CMP_SP_X8, B_HI, RET };
	static const __u32 other[] = { LDP_32, ADD_SP_48, RET, NOP, NOP };

	EACH_LAYOUT(v) {
		for (int i = 0; i <= 1; i++) {
			make(v);
			frame(WORDS - 1);
			expect_caller(code(small, i, 6, 200), SP + 8 * WORDS, 0x1234);
		}
		make(v);
		for (int i = 2; i <= 5; i++)
			expect_caller(code(small, i, 6, 200), SP, FP);
		frame(WORDS - 1);
		expect_caller(code(large, 0, 6, 200), SP + 8 * WORDS, 0x1234);
		make(v);
		frame(1);
		expect_caller(code(large, 1, 6, 200), SP + 16, 0x1234);
		make(v);
		for (int i = 2; i <= 5; i++)
			expect_caller(code(large, i, 6, 200), SP, FP);
		/* behind a return there is other code, with a frame */
		frame(WORDS - 1);
		expect_caller(code(other, 4, 5, 200), SP + 8 * WORDS, 0x1234);
	}
}

/* An interpreter's frame at fp. */
static void interpreted(__u64 fp, __u64 method, __u64 bci, __u64 sender_sp)
{
	__u64 constants = *(__u64 *)hs_at(method + hs_layout()->const_method);

	hs_put(fp, 0x1234);
	hs_put(fp + 8, made.caller.code + 100);
	hs_put(fp - 8, sender_sp);
	hs_put(fp - 8 * HOTSPOT_METHOD, method);
	hs_put(fp - 8 * (__u64)hs_layout()->bcp_arm64, constants + hs_layout()->code_at + bci);
}

TEST(hotspot_arm_frames_of_the_interpreter)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		make(v);
		interpreted(FP, made.outer, 7, SP + 0x300);
		st = at(made.interpreter.code + 1000, 0);
		CHECK_EQ(step(&st, &h), STOP_NOT);
		CHECK_EQ(h.method, made.outer);
		CHECK_EQ(h.at, 7);
		CHECK_EQ(st.sp, SP + 0x300);
		CHECK_EQ(st.fp, 0x1234);
	}
}

/* Called by compiled code, whose x29 may hold anything. */
TEST(hotspot_arm_interpreter_without_a_frame)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;

		make(v);
		st = at(made.interpreter.code + 8, EXACT);
		st.fp = 0;
		st.regs[LR] = made.caller.code + 100;
		st.regs[v % HOTSPOT_BSM < 20 ? X13 : 0] = SP + 0x40;
		expect_caller(st, SP + 0x40, 0);
		st.regs[v % HOTSPOT_BSM < 20 ? X13 : 0] = 77;
		expect_caller(st, SP, 0);
		/* adapters likewise, but their arguments are few */
		st.pc = made.bare.code + 4;
		st.regs[v % HOTSPOT_BSM < 20 ? X13 : 0] = SP + 0x40;
		expect_caller(st, SP + 0x40, 0);
		st.regs[v % HOTSPOT_BSM < 20 ? X13 : 0] = SP + (1 << 16);
		expect_caller(st, SP, 0);
	}
}

TEST(hotspot_arm_stubs)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		/* no frame: lr leads to another method than x29's does */
		make(v);
		hs_put(FP, 0x1234);
		hs_put(FP + 8, made.code.code + 40);
		st = at(made.stub.code + 40, EXACT);
		st.regs[LR] = made.caller.code + 100;
		expect_caller(st, SP, FP);
		/* it has just made one; it has called something of its own */
		hs_put(FP + 8, made.caller.code + 100);
		CHECK_EQ(step(&st, &h), STOP_ANON);
		st.regs[LR] = made.stub.code + 80;
		CHECK_EQ(step(&st, &h), STOP_ANON);
	}
}

TEST(hotspot_arm_memory_that_cannot_be_read)
{
	EACH_LAYOUT(v) {
		struct unwind_state st;
		struct hotspot_state h;

		make(v);
		frame(WORDS - 1);
		st = at(made.code.code + CALL_AT, 0);
		st.sp = BASE + SIZE;
		CHECK_EQ(step(&st, &h), STOP_READ);
		/* lr is not known but where execution was interrupted */
		st = code((const __u32[]){ NOP, NOP }, 1, 2, 0);
		st.exact = EXACT_PC;
		CHECK_EQ(step(&st, &h), STOP_READ);
	}
}
