/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_bare - code of HotSpot's that was interrupted where it has no frame
 *
 * A part of hotspot.bpf.h.  rbp is then that of whoever made a frame by it last: with
 * C1's code between, an interpreter's far above, whose method is a good one.  What is
 * said of code: src/hotspot/cpu/x86/templateInterpreterGenerator_x86.cpp,
 * interp_masm_x86.cpp and sharedRuntime_x86_64.cpp.
 */
#ifndef BPF_HOTSPOT_BARE_BPF_H
#define BPF_HOTSPOT_BARE_BPF_H

/* In interrupted code: */
#define HOTSPOT_RBX(st)	((st)->regs[0])
#define HOTSPOT_R13(st)	((st)->regs[2])
#define HOTSPOT_RAX(st)	((st)->regs[REG_RESULT])
#define HOTSPOT_RDX(st)	((st)->regs[REG_RESULT + 1])

/*
 * Where does interrupted code of the interpreter, or between it and compiled code,
 * return to that has no frame of its own?  The address is on top of the stack or, on
 * the way in, popped and in rax (generate_normal_entry(), gen_c2i_adapter()).  0: it
 * has a frame.
 */
static __always_inline __u64 hotspot_bare_ra(const struct hotspot_state *h,
					     const struct unwind_state *st)
{
	__u64 ra = 0;

	unwind_word(st, &ra, st->sp);
	if (hotspot_heap_of(h, ra))
		return ra;
	return hotspot_heap_of(h, HOTSPOT_RAX(st)) ? HOTSPOT_RAX(st) : 0;
}

/* Such code of the interpreter: the caller's rsp is in r13, on the way out in rbx. */
static __always_inline enum stop_reason hotspot_entering(struct unwind_state *st,
							 __u64 ra)
{
	__u64 sp = HOTSPOT_R13(st), fp = st->fp, top = 0;

	/* its own frame is being made: first rbp is there, then the caller's rsp */
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
	return hotspot_to(st, ra, sp, fp);
}

#define HOTSPOT_ARGUMENTS	(8 * 256)	/* bytes of a call, at most */

/*
 * Code between compiled code and the interpreter.  Where arguments go onto the stack
 * it pops the return address into rax, keeps rsp in r13, makes room in steps of 16
 * and puts the address on top again (gen_c2i_adapter()).  Else r13 may be that of the
 * interpreter's call below, which left its address there.  Before that the VM may be
 * called, with rsp in r13 (patch_callers_callsite()).
 */
static __always_inline enum stop_reason hotspot_adapter(struct hotspot_state *h,
							struct unwind_state *st)
{
	__u64 r13 = HOTSPOT_R13(st), moved = r13 - st->sp, ra = 0, top = 0, was = 0;

	if (!st->exact && moved <= FP_REACH && !unwind_word(st, &ra, r13) &&
	    hotspot_heap_of(h, ra))
		return hotspot_to(st, ra, r13 + 8, st->fp);
	ra = st->exact == EXACT ? hotspot_bare_ra(h, st) : 0;
	if (!ra)
		return hotspot_by_size(st, 1, MADE_NOT);
	unwind_word(st, &top, st->sp);
	if (top != ra && !unwind_word(st, &was, st->sp - 8) && was == ra)
		return hotspot_to(st, ra, st->sp, st->fp);
	if (moved <= HOTSPOT_ARGUMENTS && !(moved & 15) &&
	    !unwind_word(st, &was, r13 - 8) && (was == ra || !hotspot_heap_of(h, was)))
		return hotspot_to(st, ra, r13, st->fp);
	return hotspot_to(st, ra, st->sp + 8 * (top == ra), st->fp);
}

#endif /* BPF_HOTSPOT_BARE_BPF_H */
