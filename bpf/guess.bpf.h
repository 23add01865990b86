/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * guess - the caller of code that says nothing about its frame
 *
 * Hand-written assembler has neither CFI nor frame pointers.  Its return address lies
 * somewhere above sp, among saved registers and data.  The first word there that follows
 * a call is taken for it, if that call goes to just below pc or may go anywhere; if it
 * goes elsewhere, nothing is guessed.  Guesses are kept only if the stack reaches its
 * root: with a wrong one it rarely does.  How often they are right: docs/BENCHMARKS.md,
 * measured for x86-64; so arm64 has none.
 *
 * The words belong to the program, so a program can have any of its own code named as a
 * caller, as it can with frame pointers.  The cost is bounded: GUESS_WORDS words are read
 * in a sample.  step() checks that the guessed address is in an executable mapping.
 */
#ifndef BPF_GUESS_BPF_H
#define BPF_GUESS_BPF_H

#include "call.bpf.h"
#include "names.bpf.h"
#include "state.bpf.h"
#include "unwind.bpf.h"

#define GUESS_WORDS	128	/* of the stack, in one sample */

#ifdef __TARGET_ARCH_arm64
static __always_inline int guess_caller(__u32 why)
{
	(void)why;
	return 0;
}

static __always_inline __u32 settle_guesses(struct scratch *s, __u32 stop)
{
	(void)s;
	return stop;
}
#else
enum guess_word {
	GUESS_NO,		/* no return address */
	GUESS_CALLER,		/* the caller's; st is moved there */
	GUESS_END,		/* a return address of another function, or unreadable: give up */
};

/* Is the target of the direct call before ra readable?  It rarely is if those bytes are
 * no call. */
static __always_inline int guess_target_exists(__u64 ra)
{
	__u32 rel;
	__u8 b;

	return !bpf_probe_read_user(&rel, sizeof(rel), (void *)(ra - 4)) &&
	       !bpf_probe_read_user(&b, sizeof(b), (void *)(ra + (__s64)(__s32)rel));
}

/* Judge the word that lies i words above sp. */
__weak __noinline int guess_word(__u32 i)
{
	struct scratch *s = scratch();
	__u64 at, ra = 0, pc;
	__u32 d;

	if (!s)
		return GUESS_END;
	pc = s->st.pc;
	at = s->st.sp + 8 * (__u64)i;
	if (unwind_word(&s->st, &ra, at))
		return GUESS_END;
	/* not an address of code, or one in the stack, which may be executable */
	if (ra < 4096 || ra >> 47 || ra - s->st.sp < FP_REACH)
		return GUESS_NO;
	d = call_bound_distance(ra, pc);
	if (d == CALL_ELSEWHERE)
		return guess_target_exists(ra) ? GUESS_END : GUESS_NO;
	if (d > CALL_ELSEWHERE)
		return GUESS_NO;
	s->st.pc = ra - 1;
	s->st.sp = at + 8;
	s->st.exact = 0;
	s->st.found = FOUND_BY_CALL;
	s->st.depth++;
	return GUESS_CALLER;
}

/* Move st to a guessed caller and mark it in the record.  why: how the stack would end
 * here otherwise.  False: there is no such caller. */
__weak __noinline int guess_caller(__u32 why)
{
	struct scratch *s = scratch();
	struct guesses *g;

	if (!s)
		return 0;
	g = &s->guesses;
	if (g->n >= GUESSES_MAX)
		return 0;
	for (__u32 i = 0; i < GUESS_WORDS && g->words < GUESS_WORDS; i++) {
		int r;

		g->words++;
		if (g->n == 0)
			g->depth = s->st.depth;
		r = guess_word(i);
		if (r == GUESS_END)
			return 0;
		if (r == GUESS_NO)
			continue;
		if (g->n++ == 0) {
			g->at = s->n;
			g->managed = s->managed;
			g->why = why;
			g->flags = s->rec.flags;
		}
		push(s, FRAME_GUESS_WORD(why));
		return 1;
	}
	return 0;
}

/* The walk ended for this reason: if its guesses did not lead to the root, cut the stack
 * where the first one begins.  Returns the reason that the record gets. */
static __always_inline __u32 settle_guesses(struct scratch *s, __u32 stop)
{
	const struct guesses *g = &s->guesses;

	if (!g->n)
		return stop;
	if (stop == STOP_COMPLETE)
		return STOP_GUESSED;
	forget_names(s);
	s->n = g->at;
	s->managed = g->managed;
	s->st.depth = g->depth;
	s->rec.flags = g->flags;
	return g->why;
}
#endif

#endif /* BPF_GUESS_BPF_H */
