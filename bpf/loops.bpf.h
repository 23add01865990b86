/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * loops - the native frames of an interpreter's loop, and of what is part of it
 *
 * The frame of a loop is noted, as every native frame is, and taken back if the loop has
 * frames of its runtime, which come in its place; after them it follows as FRAME_LOOP.
 */
#ifndef BPF_LOOPS_BPF_H
#define BPF_LOOPS_BPF_H

#include "state.bpf.h"

/* Take the loop's own frame back: it comes after the frames that the loop ran. */
static __always_inline void loop_take_back(struct scratch *s)
{
	s->n--;
	s->loop_word = s->words[s->n & (REC_WORDS - 1)];
	s->loop_managed = s->managed;
}

/* No more frames of the loop that was taken back.  may_none: it may have none.  True: it
 * had none, and that is wrong. */
static __always_inline int loop_put_back(struct scratch *s, int may_none)
{
	int none = s->managed == s->loop_managed && !may_none;

	push(s, none ? s->loop_word : FRAME_LOOP_WORD(s->loop_word));
	s->loop_word = 0;
	return none;
}

/* The frame just pushed belongs to its loop, whose frame comes next: hide it likewise. */
static __always_inline void mark_loop_part(struct scratch *s)
{
	__u64 *word = &s->words[(s->n - 1) & (REC_WORDS - 1)];

	*word = FRAME_LOOP_WORD(*word);
}

#endif /* BPF_LOOPS_BPF_H */
