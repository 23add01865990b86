/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_x86 - frames of HotSpot's code on x86-64
 *
 * What the code looks like where a sample may have interrupted it, and where the return
 * address is then.  src/hotspot/cpu/x86/
 * {macroAssembler,sharedRuntime,templateInterpreterGenerator,stubGenerator}_x86*.cpp
 * of 8u to 27.
 */
#ifndef BPF_HOTSPOT_X86_BPF_H
#define BPF_HOTSPOT_X86_BPF_H

#include "call.bpf.h"
#include "hotspot_code.bpf.h"
#include "unwind.bpf.h"

#define HOTSPOT_PUSHED		6	/* words that interrupted code may have pushed, at most */
#define HOTSPOT_BCP_AT(l)	((__u64)(l)->bcp)	/* words below rbp */

#define IS3(b, i, x, y, z)						\
	((b)[(i) & 63] == (x) && (b)[((i) + 1) & 63] == (y) &&		\
	 (b)[((i) + 2) & 63] == (z))

/* h->code_bytes has 32 bytes before pc, and 16 from there on. */
#define HERE	32

/* Is the frame gone already, with only the poll for a safepoint or the return left?  C1
 * and C2; JDK 16 and later compare rsp with a word of the thread; before that a page is
 * read, as loops still do. */
static __always_inline int hotspot_returns(const __u8 *b)
{
	if (b[HERE] == 0xc3)					/* ret */
		return 1;
	if (IS3(b, HERE, 0x49, 0x3b, 0xa7) || IS3(b, HERE, 0x49, 0x3b, 0x67))
		return 1;				/* cmp rsp, [r15 + n] */
	if (b[HERE] == 0x0f && b[HERE + 1] == 0x87 &&		/* ja, after that */
	    (IS3(b, HERE - 7, 0x49, 0x3b, 0xa7) ||
	     IS3(b, HERE - 4, 0x49, 0x3b, 0x67)))
		return 1;
	if (IS3(b, HERE, 0x41, 0x85, 0x02) && b[HERE + 3] == 0xc3)
		return 1;				/* test [r10], eax; ret */
	if (b[HERE] == 0x85 && b[HERE + 1] == 0x05 && b[HERE + 6] == 0xc3)
		return 1;				/* test [rip + n], eax; ret */
	if (IS3(b, HERE, 0x4d, 0x8b, 0x57) && IS3(b, HERE + 4, 0x41, 0x85, 0x02) &&
	    b[HERE + 7] == 0xc3)
		return 1;				/* mov r10, [r15 + n]; ... */
	return IS3(b, HERE, 0x4d, 0x8b, 0x97) && IS3(b, HERE + 7, 0x41, 0x85, 0x02) &&
	       b[HERE + 10] == 0xc3;
}

/* The same of a native method's wrapper: leave; cmp [r15 + n], 0; jne; ret. */
static __always_inline int hotspot_wrapper_returns(const __u8 *b)
{
	if (IS3(b, HERE, 0x49, 0x83, 0xbf) || IS3(b, HERE, 0x49, 0x83, 0x7f))
		return b[HERE - 1] == 0xc9;
	return (b[HERE] == 0x0f || b[HERE] == 0x75) &&
	       ((b[HERE - 9] == 0xc9 && IS3(b, HERE - 8, 0x49, 0x83, 0xbf)) ||
		(b[HERE - 6] == 0xc9 && IS3(b, HERE - 5, 0x49, 0x83, 0x7f)));
}

/* sub rsp, n: 1 if it begins at b[i] */
#define IS_SUB(b, i)	(IS3(b, i, 0x48, 0x83, 0xec) || IS3(b, i, 0x48, 0x81, 0xec))
/* mov rbp, rsp */
#define IS_MOV(b, i)	(IS3(b, i, 0x48, 0x8b, 0xec) || IS3(b, i, 0x48, 0x89, 0xe5))

/* Before frame_complete: which part of the frame exists?  MacroAssembler::
 * verified_entry(): push rbp (mov rbp, rsp) sub rsp, n; or sub rsp, n and rbp is
 * stored.  A barrier may follow, which is part of it. */
static __always_inline enum hotspot_made hotspot_prologue(const __u8 *b)
{
	if (b[HERE - 1] == 0x55 && (IS_SUB(b, HERE) || IS_MOV(b, HERE)))
		return MADE_PAIR;
	if (IS_MOV(b, HERE - 3) && b[HERE - 4] == 0x55)
		return MADE_PAIR;
	if (IS3(b, HERE - 7, 0x48, 0x81, 0xec) && b[HERE] == 0x48 &&
	    b[HERE + 1] == 0x89 && b[HERE - 8] != 0x55)
		return MADE_NO_FP;
	for (int i = 0; i <= HERE - 4; i++) {
		if (IS_SUB(b, i) && i + (b[i + 1] == 0x83 ? 4 : 7) <= HERE)
			return MADE_ALL;
	}
	return MADE_NOT;
}

/* Which part of its frame does interrupted compiled code have? */
static __always_inline enum hotspot_made hotspot_frame_made(struct hotspot_state *h,
							    const struct hotspot_layout *l,
							    __u64 pc)
{
	__u64 complete = hotspot_member(h, l, &l->frame_complete);
	const __u8 *b = h->code_bytes;

	if (bpf_probe_read_user(h->code_bytes, HERE + 16, (void *)(pc - HERE)))
		return MADE_ALL;
	if (b[HERE] == 0x5d)					/* pop rbp */
		return MADE_PAIR;
	if (hotspot_returns(b) || (h->kind == HOTSPOT_WRAPPER && hotspot_wrapper_returns(b)))
		return MADE_NOT;
	if (pc < complete && complete - h->code < 4096)	/* -1: never */
		return hotspot_prologue(b);
	return MADE_ALL;
}

/* A frame of this size, whose return address is at its upper end, and rbp below. */
static __always_inline enum stop_reason hotspot_by_size(struct unwind_state *st,
							__u64 words,
							enum hotspot_made made)
{
	__u64 ra = 0, fp = st->fp, cfa = st->sp + 8 * words;

	if (made == MADE_NOT)
		cfa = st->sp + 8;
	else if (made == MADE_PAIR)
		cfa = st->sp + 16;
	unwind_window(st, cfa - 8 * WINDOW_MIN);
	if (unwind_word(st, &ra, cfa - 8) ||
	    ((made == MADE_ALL || made == MADE_PAIR) &&
	     unwind_word(st, &fp, cfa - 16)))
		return STOP_READ;
	return hotspot_move_to(st, ra, cfa, fp);
}

/* Words of the frame of interrupted code with those that it has pushed: C2's code for
 * strings pushes some (macroAssembler_x86.cpp, string_compare() and others). */
static __always_inline __u64 hotspot_words_with_pushed(const struct hotspot_state *h,
						       const struct unwind_state *st, __u64 words)
{
	for (__u64 i = 0; i <= HOTSPOT_PUSHED; i++) {
		if (hotspot_has_return_address(h, st, words + i))
			return words + i;
	}
	return words;
}

/*
 * --- code that has no frame ------------------------------------------------------
 *
 * rbp then belongs to the last frame that was made with it: with C1's code in between,
 * to an interpreter's frame further up, whose method looks right.
 */

/* In interrupted code: */
#define HOTSPOT_RBX(st)	((st)->regs[0])
#define HOTSPOT_R13(st)	((st)->regs[2])
#define HOTSPOT_BCP(st)	HOTSPOT_R13(st)	/* of the interpreter */
#define HOTSPOT_RAX(st)	((st)->regs[REG_RESULT])
#define HOTSPOT_RDX(st)	((st)->regs[REG_RESULT + 1])

/*
 * The return address of interrupted code without a frame of its own, in the interpreter
 * or between it and compiled code; 0: it has a frame.  It is on top of the stack or, on
 * the way in, popped and in rax (generate_normal_entry(), gen_c2i_adapter()).
 */
static __always_inline __u64 hotspot_frameless_ra(const struct hotspot_state *h,
						  const struct unwind_state *st)
{
	__u64 ra = 0;

	unwind_word(st, &ra, st->sp);
	if (hotspot_has_code(h, ra))
		return ra;
	return hotspot_has_code(h, HOTSPOT_RAX(st)) ? HOTSPOT_RAX(st) : 0;
}

/* From such code of the interpreter: the caller's rsp is in r13, on the way out in rbx. */
static __always_inline enum stop_reason hotspot_leave_entry(const struct hotspot_state *h,
							    struct unwind_state *st,
							    __u64 ra)
{
	__u64 sp = HOTSPOT_R13(st), fp = st->fp, top = 0;

	(void)h;
	/* its own frame is being made: first rbp is saved, then the caller's rsp */
	if (fp - st->sp <= 16 && !unwind_word(st, &top, fp + 8) && top == ra) {
		if (fp != st->sp)
			unwind_word(st, &sp, fp - 8 * HOTSPOT_SENDER_SP);
		unwind_word(st, &fp, fp);
	}
	unwind_word(st, &top, st->sp);
	if (sp - st->sp > FP_REACH || sp & 7)
		sp = HOTSPOT_RBX(st);
	if (sp - st->sp > FP_REACH || sp & 7)
		sp = st->sp + 8 * (top == ra);
	return hotspot_move_to(st, ra, sp, fp);
}

/*
 * From code between compiled code and the interpreter.  Where arguments go onto the
 * stack, it pops the return address into rax, keeps rsp in r13, makes room in steps of 16
 * and puts the address on top again (gen_c2i_adapter()).  Otherwise r13 may be left from
 * a call by the interpreter, whose address is still below it.  Before that the VM may be
 * called, with rsp in r13 (patch_callers_callsite()).
 */
static __always_inline enum stop_reason hotspot_leave_adapter(struct hotspot_state *h,
							      struct unwind_state *st)
{
	__u64 r13 = HOTSPOT_R13(st), moved = r13 - st->sp, ra = 0, top = 0, was = 0;

	if (!st->exact && moved <= FP_REACH && !unwind_word(st, &ra, r13) &&
	    hotspot_has_code(h, ra))
		return hotspot_move_to(st, ra, r13 + 8, st->fp);
	ra = st->exact == EXACT ? hotspot_frameless_ra(h, st) : 0;
	if (!ra)
		return hotspot_by_size(st, 1, MADE_NOT);
	unwind_word(st, &top, st->sp);
	if (top != ra && !unwind_word(st, &was, st->sp - 8) && was == ra)
		return hotspot_move_to(st, ra, st->sp, st->fp);
	if (moved <= HOTSPOT_ARGUMENTS && !(moved & 15) &&
	    !unwind_word(st, &was, r13 - 8) && (was == ra || !hotspot_has_code(h, was)))
		return hotspot_move_to(st, ra, r13, st->fp);
	return hotspot_move_to(st, ra, st->sp + 8 * (top == ra), st->fp);
}

#define HOTSPOT_NO_RA	(~0ULL)	/* method_entry_barrier's, in place of an address */

/* From the barrier at a method's entry, which has a word of its own above rbp
 * (stubGenerator_x86_64.cpp, generate_method_entry_barrier()). */
static __always_inline int hotspot_leave_entry_barrier(struct unwind_state *st)
{
	__u64 ra = 0, fp = 0, at = st->fp;

	return at >= st->sp && at - st->sp <= FP_REACH &&
	       !unwind_word(st, &ra, at + 8) && ra == HOTSPOT_NO_RA &&
	       !unwind_word(st, &fp, at) && !unwind_word(st, &ra, at + 16) &&
	       hotspot_move_to(st, ra, at + 24, fp) == STOP_NOT;
}

/* Words that a stub may have on the stack up to its return address. */
#define HOTSPOT_STUB_WORDS(st)	((st)->exact ? HOTSPOT_PUSHED : 2)

/*
 * From a stub without a frame size: by rbp, if the address there follows a call to this
 * stub; else by the words on the stack, as rbp may belong to an interpreter's frame.
 * A stub that takes an exception to a caller has only a word that aligns the stack when
 * it asks the VM for the handler (generate_forward_exception()); the address where the
 * exception was thrown is then in rdx, as it is when it comes from a handler of compiled
 * code, which has a frame (generate_exception_blob()).
 */
static __always_inline enum stop_reason hotspot_leave_stub(struct hotspot_state *h,
							   struct unwind_state *st)
{
	__u64 framed = 0, ra = 0, at = st->fp, words = 0;

	if (at >= st->sp && at - st->sp <= FP_REACH)
		unwind_word(st, &framed, at + 8);
	if (hotspot_has_code(h, framed) && call_distance(framed, st->pc) <= CALL_ANYWHERE)
		return STOP_ANON;
	if (st->exact == EXACT && hotspot_has_code(h, HOTSPOT_RDX(st)) &&
	    call_distance(HOTSPOT_RDX(st), st->pc) < CALL_UNREAD)
		return hotspot_move_to(st, HOTSPOT_RDX(st), st->sp, st->fp);
	for (__u64 i = HOTSPOT_PUSHED; i > 0; i--) {
		if (i <= HOTSPOT_STUB_WORDS(st) && hotspot_has_return_address(h, st, i))
			words = i;
	}
	/* the stub that calls Java may have saved such an address */
	if (!words || (!st->exact && framed &&
		       call_distance(framed, st->pc) <= CALL_ANYWHERE))
		return STOP_ANON;
	unwind_word(st, &ra, st->sp + 8 * words - 8);
	return st->exact || call_distance(ra, st->pc) < CALL_UNREAD ?
	       hotspot_by_size(st, words, MADE_NO_FP) : STOP_ANON;
}

#endif /* BPF_HOTSPOT_X86_BPF_H */
