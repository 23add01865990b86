/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * frames - one frame: note where it is, then move to its caller
 *
 * What leaves: tables decide which words of the target's memory are read, and an
 * adversary may have made them.  A word leaves the kernel only from here, as st.pc, and
 * only when resolve() has found it (for a return address: the byte before it) in an
 * executable mapping of this process: as file and offset, or as an address where there
 * is no file, or one of FILE_CODE.  All other words only decide where to read next and
 * when to stop.  A runtime whose frames hold other words (managed.bpf.h) has a kind of its
 * own in frame.h, with at most FRAME_MORE_MAX words, each named in docs/PROTOCOL.md.
 * tests/unit/test_words.c checks this.
 */
#ifndef BPF_FRAMES_BPF_H
#define BPF_FRAMES_BPF_H

#include "entry.bpf.h"
#include "guess.bpf.h"
#include "hotspot_frames.bpf.h"
#include "managed.bpf.h"
#include "owner.bpf.h"
#include "remember.bpf.h"
#include "resolve.bpf.h"
#include "runtime.h"
#include "state.bpf.h"
#include "trampoline.bpf.h"
#include "unwind.bpf.h"

/* The frame just pushed is a signal trampoline, which nothing called: its place is where
 * the handler returns to, not the byte before. */
static __always_inline void mark_not_a_return_address(struct scratch *s)
{
	if (!s->st.exact)
		s->words[(s->n - 1) & (REC_WORDS - 1)]++;
}

/* Find the mapping that holds st.pc: index of the memo, or -1. */
static __always_inline int find_mapping(struct scratch *s)
{
	__u64 pc = s->st.pc;
	int i = -1;

	for (int k = 0; k < MEMO; k++) {
		if (pc >= s->memo[k].start && pc < s->memo[k].end)
			i = k;
	}
	return i < 0 ? resolve(pc) : i;
}

/* How the stack ends at an address in no mapping. */
static __always_inline enum stop_reason why_unmapped(const struct scratch *s)
{
	if (s->no_rule)	/* so what led here was no frame pointer */
		return s->no_rule;
	/* in exec the old registers meet the new memory */
	return s->st.depth || !s->rec.n_kernel ? STOP_NO_MAPPING : STOP_NO_USER;
}

/* Append the frame at off of a mapping's file.  STOP_NOT if the file has a table, else
 * why it has none. */
static __always_inline enum stop_reason note_frame(struct scratch *s,
						   struct memo *m, __u64 off)
{
	if (!m->has_file) {
		push(s, FRAME_ANON_WORD(s->st.pc));
		s->rec.flags |= REC_HAS_ANON;
		return STOP_ANON;
	}
	if (m->has_file == 2) {
		push(s, FRAME_FILE_WORD(off));
		push(s, s->m.key.ino);
		push(s, s->m.key.size);
		push(s, s->m.key.ctime);
		push(s, s->m.key.ctime_ns | ((__u64)s->m.key.dev << 32));
		push(s, s->m.key.generation | ((__u64)s->m.key.magic << 32));
		/* s->m holds the key of the last resolve() only: forget this mapping,
		 * so that it is resolved again for its next frame */
		m->start = m->end = 0;
		return STOP_NO_FILE;
	}
	push(s, FRAME_WORD(FRAME_NATIVE, m->exe, off));
	return m->pages ? STOP_NOT : STOP_NO_TABLE;
}

static __always_inline enum stop_reason step_by_rule(struct scratch *s,
						     struct memo *m,
						     const struct unwind_rule *r)
{
	if (r->cfa == CFA_SIGNAL)
		mark_not_a_return_address(s);
	if (r->by_fp & RULE_LOOP_PART && m->runtime == RUNTIME_PYTHON)
		mark_loop_part(s);
	if (!(r->by_fp & RULE_LOOP) || m->runtime != RUNTIME_PYTHON)
		return unwind_rule_step(&s->st, r);
	python_enter(m->start - m->off, m->dir, m->pages, 0);
	s->after = unwind_rule_step(&s->st, r);
	return s->python.inside ? STOP_NOT : s->after;
}

/* Without a rule: by frame pointer, unless this is a signal trampoline.  Global, as is
 * what follows: most steps have a rule, and the code of the others is elsewhere. */
__weak __noinline int step_by_frame_pointer(__u32 why)
{
	struct scratch *s = scratch();

	if (!s)
		return STOP_INTERNAL;
	if (why != STOP_ANON &&
	    is_sigreturn(s->st.pc + !s->st.exact, s->st.exact)) {
		if (why != STOP_NO_FILE)
			mark_not_a_return_address(s);
		return unwind_signal(&s->st);
	}
	if (why == STOP_NO_ROW && unwind_is_first_by_code(&s->st))
		return STOP_COMPLETE;
	s->rec.flags |= REC_FRAME_POINTER;
	s->no_rule = why;
	s->python.passed = s->st.sp;
	if (!s->st.fp)
		s->st.entry = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	why = unwind_fp_step(&s->st, why);
	if (why != STOP_NO_ROW)
		return why;
	s->st.entry = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	return unwind_to_entry(&s->st) || guess_caller(why) ? STOP_NOT : why;
}

/* The mapping of CPython's file, if this sample has met it; else NULL. */
static __always_inline struct memo *find_python(struct scratch *s)
{
	int i = -1;

	for (int k = 0; k < MEMO; k++) {
		if (s->memo[k].end && s->memo[k].runtime == RUNTIME_PYTHON)
			i = k;
	}
	return i < 0 ? NULL : &s->memo[i & (MEMO - 1)];
}

/* The walk ends for this reason.  If that is in JITed code run by CPython, the rest of
 * its frames are known nevertheless and come next. */
__weak __noinline int end_walk(__u32 why)
{
	struct scratch *s = scratch();
	struct memo *m;

	if (!s)
		return STOP_INTERNAL;
	m = find_python(s);
	if (why != STOP_ANON || !m)
		return why;
	if (!python_enter(m->start - m->off, m->dir, m->pages, WALK_ENDS))
		return why;
	s->after = why;
	return STOP_NOT;
}

/* Append the frame at st.pc; then move to its caller. */
__weak __noinline int step(void)
{
	struct scratch *s = scratch();
	const struct unwind_rule *r;
	enum stop_reason why;
	struct memo *m;
	__u64 off;
	int i;

	if (!s)
		return STOP_INTERNAL;
	if (s->python.inside) {
		if (python_step())
			return STOP_NOT;
		if (s->after != STOP_NOT)
			return s->after;
	}
	if (s->hotspot.inside) {
		hotspot_step();
		return s->hotspot.inside ? STOP_NOT : s->after;
	}
	i = find_mapping(s);
	if (i < 0)
		return unwind_bad_call(&s->st) ? STOP_NOT : end_walk(why_unmapped(s));
	s->no_rule = 0;
	m = &s->memo[i & (MEMO - 1)];
	off = s->st.pc - m->start + m->off;
	if (!m->has_file && find_python(s) && trampoline_step(&s->st))
		return STOP_NOT;
	if (s->python.passed && m->runtime == RUNTIME_PYTHON &&
	    python_enter(m->start - m->off, m->dir, m->pages, s->st.sp)) {
		s->after = STOP_NOT;
		return STOP_NOT;
	}
	s->python.passed = 0;
	why = note_frame(s, m, off);
	switch (frame_owner(m->runtime, why)) {
	case OWNER_RULE:
		r = find_rule(s, m, off);
		if (!r)
			return STOP_INTERNAL;
		if (r->cfa != CFA_NONE)
			return step_by_rule(s, m, r);
		why = STOP_NO_ROW;
		break;
	case OWNER_FRAME_POINTER:
		break;
	case OWNER_HOTSPOT:
		hotspot_enter();
		break;
	}
	if (!s->hotspot.inside) {
		why = step_by_frame_pointer(why);
		return why == STOP_NOT ? why : end_walk(why);
	}
	if (s->after == STOP_ANON)
		s->after = step_by_frame_pointer(why);
	hotspot_step();
	return s->hotspot.inside ? STOP_NOT : s->after;
}

#endif /* BPF_FRAMES_BPF_H */
