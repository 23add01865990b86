/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_caller - from a frame of HotSpot's code to its caller's
 *
 * Compiled code says how large its frame is; an interpreter's frame is found by the
 * frame pointer.  Where a sample has interrupted code its frame may not be whole: what
 * that looks like depends on the machine (hotspot_x86.bpf.h, hotspot_arm64.bpf.h).
 */
#ifndef BPF_HOTSPOT_CALLER_BPF_H
#define BPF_HOTSPOT_CALLER_BPF_H

#include "call.bpf.h"
#include "hotspot_code.bpf.h"
#include "unwind.bpf.h"

#ifdef __TARGET_ARCH_arm64
#include "hotspot_arm64.bpf.h"
#else
#include "hotspot_x86.bpf.h"
#endif

#define HOTSPOT_FRAME_MAX	(1 << 17)	/* words */

/* Beside enum stop_reason: what is to be asked next.  Of hotspot_caller() each part is
 * verified by itself. */
enum hotspot_next {
	HOTSPOT_UNSIZED = STOP__MAX,	/* hotspot_leave_unsized_stub() */
	HOTSPOT_CONTINUATION,		/* hotspot_leave_continuation() */
};

/* From an interpreter's frame. */
static __always_inline enum stop_reason hotspot_by_fp(struct unwind_state *st)
{
	__u64 ra, fp, sp, at = st->fp;

	if (at < st->sp || at - st->sp > FP_REACH ||
	    unwind_word(st, &ra, at + 8) || unwind_word(st, &fp, at) ||
	    unwind_word(st, &sp, at - 8 * HOTSPOT_SENDER_SP))
		return STOP_READ;
	if (sp < at + 16 || sp - at > FP_REACH)
		sp = at + 16;
	return hotspot_move_to(st, ra & RA_MASK, sp, fp);
}

/* Words of a frame of the code at hand; 0: it does not say. */
static __always_inline __u64 hotspot_frame_words(const struct hotspot_state *h)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u32 words = HOTSPOT_U32(h->blob_words, l->block + l->frame_size);

	return words <= HOTSPOT_FRAME_MAX ? words : 0;
}

#define HOTSPOT_ENTRY	24	/* words of a ContinuationEntry with fp and ra, at most */

/*
 * No call stands before the address that this frame returns to: it is a barrier, which
 * was put into the last frame of a virtual thread that is on the stack; its callers are
 * still in the heap (continuationFreezeThaw.cpp, patch_return()).  Next on the stack is
 * the frame of Continuation.enterSpecial(): a ContinuationEntry, fp, and an address in
 * compiled code.
 */
static __always_inline enum stop_reason hotspot_leave_continuation(struct hotspot_state *h,
								   struct unwind_state *st)
{
	__u64 ra = 0, words = 0;

	for (__u64 i = 2; i <= HOTSPOT_ENTRY && !words; i++) {
		/* a read that fails is dear, and those behind it fail, too */
		if (unwind_word(st, &ra, st->sp + 8 * i - 8))
			break;
		if (hotspot_has_code(h, ra & RA_MASK))
			words = i;
	}
	return words ? hotspot_by_size(st, words, MADE_ALL) : STOP_ANON;
}

/* From a stub that has no frame size. */
static __always_inline int hotspot_leave_unsized_stub(struct hotspot_state *h,
						      struct unwind_state *st)
{
	if (hotspot_leave_entry_barrier(st))
		return STOP_NOT;
	if (!st->exact && call_distance(st->pc + 1, st->pc) == CALL_NONE)
		return HOTSPOT_CONTINUATION;
	return hotspot_leave_stub(h, st);
}

/* Move st to the caller of the code at hand, as its size says or its frame pointer. */
static __always_inline int hotspot_leave_sized(struct hotspot_state *h,
					       struct unwind_state *st)
{
	const struct hotspot_layout *l = hotspot_layout(h->vm.version);
	__u64 words = hotspot_frame_words(h);
	enum hotspot_made made = MADE_ALL;

	/* it is not known from where to where a stub's frame is whole */
	if (h->kind == HOTSPOT_STUB && st->exact) {
		if (unwind_frameless(st))
			return STOP_NOT;
		return words && hotspot_has_return_address(h, st, words) ?
		       hotspot_by_size(st, words, MADE_ALL) : HOTSPOT_UNSIZED;
	}

	if (h->kind == HOTSPOT_INTERPRETER && !h->method && st->exact == EXACT) {
		__u64 ra = hotspot_frameless_ra(h, st);

		return ra ? hotspot_leave_entry(h, st, ra) : STOP_ANON;
	}
	if (h->kind == HOTSPOT_INTERPRETER)
		return hotspot_by_fp(st);
	if (h->kind == HOTSPOT_BARE)
		return hotspot_leave_adapter(h, st);
	if (!words)
		return HOTSPOT_UNSIZED;
	if (st->exact)
		made = hotspot_frame_made(h, l, st->pc);
	if (st->exact && made == MADE_ALL)
		words = hotspot_words_with_pushed(h, st, words);
	return hotspot_by_size(st, words, made);
}

/* Move st to the caller of the code at hand.  STOP_ANON: by frame pointer. */
static __always_inline enum stop_reason hotspot_caller(struct hotspot_state *h,
						       struct unwind_state *st)
{
	int r = hotspot_leave_sized(h, st);

	if (r == HOTSPOT_UNSIZED)
		r = hotspot_leave_unsized_stub(h, st);
	if (r == HOTSPOT_CONTINUATION)
		r = hotspot_leave_continuation(h, st);
	return r;
}

#endif /* BPF_HOTSPOT_CALLER_BPF_H */
