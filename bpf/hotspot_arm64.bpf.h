/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_arm64 - frames of HotSpot's code on arm64
 *
 * What the code looks like where a sample may have interrupted it, and where the return
 * address is then.  src/hotspot/cpu/aarch64/
 * {macroAssembler,sharedRuntime,templateInterpreterGenerator,interp_masm}_aarch64.cpp
 * of 17u to 25u.  Encodings: Arm ARM (DDI 0487), ADD and SUB (immediate, extended
 * register), LDP, STP, RET, B.
 */
#ifndef BPF_HOTSPOT_ARM64_BPF_H
#define BPF_HOTSPOT_ARM64_BPF_H

#include "call.bpf.h"
#include "hotspot_code.bpf.h"
#include "unwind.bpf.h"

#define HOTSPOT_LR(st)		((st)->regs[SAVED_REGS] & RA_MASK)
#define HOTSPOT_X13(st)		((st)->regs[SAVED_REGS + 2])
#define HOTSPOT_X19(st)		((st)->regs[0])
#define HOTSPOT_BCP(st)		((st)->regs[3])		/* x22, of the interpreter */
#define HOTSPOT_BCP_AT(l)	((__u64)(l)->bcp_arm64)	/* words below x29 */

#define IS_RET(w)	((w) == 0xd65f03c0)
#define IS_B(w)		(((w) & 0xfc000000) == 0x14000000)
/* add sp, sp, n; sub sp, sp, n or a register */
#define IS_ADD_SP(w)	(((w) & 0xff8003ff) == 0x910003ff)
#define IS_SUB_SP(w)	(((w) & 0xff8003ff) == 0xd10003ff ||		\
			 ((w) & 0xffe003ff) == 0xcb2003ff)
/* ldp, stp x29, x30, [sp, n] */
#define IS_LDP(w)	(((w) & 0xffc07fff) == 0xa9407bfd)
#define IS_STP(w)	(((w) & 0xffc07fff) == 0xa9007bfd)
#define LDP_POST	0xa8c17bfd	/* ldp x29, x30, [sp], #16 */
#define STP_PRE		0xa9bf7bfd	/* stp x29, x30, [sp, #-16]! */

/* h->code_bytes has 12 instructions before pc, and 4 from there on. */
#define HERE	12

/* Is the frame gone already?  After MacroAssembler::remove_frame() come the poll for a
 * safepoint and the return. */
static __always_inline int hotspot_returns(const __u32 *w)
{
	if (IS_RET(w[HERE]))
		return 1;
	for (int i = 1; i <= 6; i++) {
		if (IS_RET(w[HERE - i]) || IS_B(w[HERE - i]))
			return 0;
		if (w[HERE - i] == LDP_POST ||
		    (IS_ADD_SP(w[HERE - i]) && IS_LDP(w[HERE - i - 1])))
			return 1;
	}
	return 0;
}

/* Before frame_complete, this number of instructions after the code's start: which part
 * of the frame exists?  MacroAssembler::build_frame(): sub sp; stp.  If it is large, and
 * for native methods: stp with sp, sub sp. */
static __always_inline enum hotspot_made hotspot_prologue(const __u32 *w, __u64 done)
{
	enum hotspot_made made = MADE_NOT;

	for (int i = HERE; i > 0; i--) {
		__u32 insn = w[HERE - i];

		if ((__u64)i > done)
			continue;
		if (IS_STP(insn))
			made = MADE_ALL;
		else if (insn == STP_PRE)
			made = MADE_PAIR;
		else if (IS_SUB_SP(insn))
			made = made == MADE_NOT ? MADE_NO_FP : MADE_ALL;
	}
	return made;
}

/* Which part of its frame does interrupted compiled code have? */
static __always_inline enum hotspot_made hotspot_frame_made(struct hotspot_state *h,
							    const struct hotspot_layout *l,
							    __u64 pc)
{
	__u64 complete = hotspot_member(h, l, &l->frame_complete);
	const __u32 *w = (const __u32 *)h->code_bytes;

	if (bpf_probe_read_user(h->code_bytes, sizeof(h->code_bytes),
				(void *)(pc - 4 * HERE)))
		return MADE_ALL;
	if (w[HERE] == LDP_POST)
		return MADE_PAIR;
	if (pc < complete && complete - h->code < 4096)	/* -1: never */
		return hotspot_prologue(w, (pc - h->code) / 4);
	return hotspot_returns(w) ? MADE_NOT : MADE_ALL;
}

/* A frame of this size, whose return address is at its upper end, and x29 below. */
static __always_inline enum stop_reason hotspot_by_size(struct unwind_state *st,
							__u64 words,
							enum hotspot_made made)
{
	__u64 ra = HOTSPOT_LR(st), fp = st->fp, cfa = st->sp + 8 * words;

	if (made == MADE_NOT)
		cfa = st->sp;
	else if (made == MADE_PAIR)
		cfa = st->sp + 16;
	if (made == MADE_NOT || made == MADE_NO_FP)
		return st->exact == EXACT ? hotspot_move_to(st, ra, cfa, fp) : STOP_READ;
	unwind_window(st, cfa - 8 * WINDOW_MIN);
	if (unwind_word(st, &ra, cfa - 8) || unwind_word(st, &fp, cfa - 16))
		return STOP_READ;
	return hotspot_move_to(st, ra & RA_MASK, cfa, fp);
}

/* Compiled code pushes nothing. */
static __always_inline __u64 hotspot_words_with_pushed(const struct hotspot_state *h,
						       const struct unwind_state *st, __u64 words)
{
	(void)h;
	(void)st;
	return words;
}

/* The return address of the frame that x29 points to; 0: it is not in the code cache. */
static __always_inline __u64 hotspot_ra_by_fp(const struct hotspot_state *h,
					      const struct unwind_state *st)
{
	__u64 ra = 0, at = st->fp;

	if (at < st->sp || at - st->sp > FP_REACH || unwind_word(st, &ra, at + 8))
		return 0;
	ra &= RA_MASK;
	return hotspot_has_code(h, ra) ? ra : 0;
}

/* Does lr point into the code at hand, after a call within it? */
static __always_inline int hotspot_is_own_address(const struct hotspot_state *h, __u64 lr)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);

	return lr - h->blob < hotspot_member(h, l, &l->code_end) - h->blob;
}

/*
 * The return address of interrupted code without a frame of its own, in the interpreter
 * or between it and compiled code; 0: it has a frame.  It is in lr; but lr may also be
 * left from a call, or belong to a frame that was just made.
 */
static __always_inline __u64 hotspot_frameless_ra(const struct hotspot_state *h,
						  const struct unwind_state *st)
{
	__u64 lr = HOTSPOT_LR(st);

	return hotspot_has_code(h, lr) && lr != hotspot_ra_by_fp(h, st) &&
	       !hotspot_is_own_address(h, lr) ? lr : 0;
}

/* The caller's sp is in x19, before JDK 20 in x13, if that is at most `reach` above sp. */
static __always_inline enum stop_reason hotspot_move_to_sender(const struct hotspot_state *h,
							       struct unwind_state *st, __u64 ra,
							       __u64 reach)
{
	__u64 sp = h->vm.version % HOTSPOT_BSM < 20 ? HOTSPOT_X13(st) : HOTSPOT_X19(st);

	if (sp - st->sp > reach || sp & 15)
		sp = st->sp;
	return hotspot_move_to(st, ra, sp, st->fp);
}

static __always_inline enum stop_reason hotspot_leave_entry(const struct hotspot_state *h,
							    struct unwind_state *st,
							    __u64 ra)
{
	return hotspot_move_to_sender(h, st, ra, FP_REACH);
}

/* Code between compiled code and the interpreter. */
static __always_inline enum stop_reason hotspot_leave_adapter(struct hotspot_state *h,
							      struct unwind_state *st)
{
	__u64 ra = st->exact == EXACT ? hotspot_frameless_ra(h, st) : 0;

	return ra ? hotspot_move_to_sender(h, st, ra, HOTSPOT_ARGUMENTS) :
		    hotspot_by_size(st, 1, MADE_NOT);
}

/* On arm64 its frame is like others. */
static __always_inline int hotspot_leave_entry_barrier(struct unwind_state *st)
{
	(void)st;
	return 0;
}

/* An interrupted stub may have no frame yet, or need none: the address is in lr then. */
static __always_inline enum stop_reason hotspot_leave_stub(struct hotspot_state *h,
							   struct unwind_state *st)
{
	__u64 lr = st->exact == EXACT ? HOTSPOT_LR(st) : 0;
	__u64 framed = hotspot_ra_by_fp(h, st);

	if (!hotspot_has_code(h, lr) || hotspot_is_own_address(h, lr) || lr == framed)
		return STOP_ANON;
	return hotspot_move_to(st, lr, st->sp, st->fp);
}

#endif /* BPF_HOTSPOT_ARM64_BPF_H */
