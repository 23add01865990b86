/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * frames - one frame: note where it is, then move to its caller
 *
 * What leaves: tables decide which words of the target's memory are read, and an
 * adversary may have made them.  A word leaves the kernel only from here, as st.pc, and
 * only when resolve() has found it (for a return address: the byte before it) in an
 * executable mapping of this process: as file and offset, or as an address where there
 * is no file, or one of FILE_CODE.  All other words only decide where to read next and
 * when to stop.  Frames of runtimes, which hold other words, have a kind of their own in
 * frame.h (names.bpf.h), with at most FRAME_MORE_MAX words, each named in docs/PROTOCOL.md.
 * tests/unit/test_words.c checks this.
 */
#ifndef BPF_FRAMES_BPF_H
#define BPF_FRAMES_BPF_H

#include "bpf/runtimes.gen.h"
#include "entry.bpf.h"
#include "guess.bpf.h"
#include "loops.bpf.h"
#include "parts.h"
#include "remember.bpf.h"
#include "resolve.bpf.h"
#include "runtime.h"
#include "state.bpf.h"
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
		note_anon(s);
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

/* Ask the runtime of this mapping's file what comes next. */
static __always_inline int part_of_file(struct scratch *s, const struct memo *m, __u32 part)
{
	s->part = part;
	s->part_of = m->runtime;
	s->file.base = m->start - m->off;
	s->file.dir = m->dir;
	s->file.pages = m->pages;
	return STOP_RUNTIME;
}

static __always_inline int step_by_rule(struct scratch *s, struct memo *m,
					const struct unwind_rule *r)
{
	int stop;

	if (r->cfa == CFA_SIGNAL)
		mark_not_a_return_address(s);
	if (r->by_fp & (RULE_LOOP | RULE_LOOP_PART) && runtime_in(RUNTIMES_WALKS, m->runtime)) {
		if (r->by_fp & RULE_LOOP_PART)
			mark_loop_part(s);
		if (r->by_fp & RULE_LOOP) {
			s->rule = *r;
			return part_of_file(s, m, PART_LOOP);
		}
	}
	stop = unwind_rule_step(&s->st, r);
	if (stop == STOP_UNSUPPORTED && r->cfa == CFA_RUNTIME &&
	    runtime_in(RUNTIMES_WALKS, m->runtime))
		return part_of_file(s, m, PART_CODE + (RUNTIME_TEXT(r) & 255));
	return stop;
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
	s->passed = s->st.sp;
	if (!s->st.fp)
		s->st.entry = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	why = unwind_fp_step(&s->st, why);
	if (why != STOP_NO_ROW)
		return why;
	s->st.entry = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	return unwind_to_entry(&s->st) || guess_caller(why) ? STOP_NOT : why;
}

/* Fill s->file with the file of a runtime, if its mapping is remembered. */
static __always_inline void file_met(struct scratch *s, __u32 runtime)
{
	int i = -1;

	for (int k = 0; k < MEMO; k++) {
		if (s->memo[k].end && s->memo[k].runtime == runtime)
			i = k;
	}
	s->file.dir = s->file.pages = 0;
	if (i >= 0)
		part_of_file(s, &s->memo[i & (MEMO - 1)], PART_NONE);
}

/* May memory of no file be code of a runtime? */
static __always_inline int memory_has_owner(const struct scratch *s)
{
	if (RUNTIMES_MEMORY & runtimes && !s->space_known)
		return 1;
	return ((s->space.owners | (s->met & RUNTIMES_BESIDE)) & runtimes) != 0;
}

/* Append the frame at st.pc; then move to its caller.  STOP_RUNTIME: managed() is next. */
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
	if (s->inside)
		return STOP_RUNTIME;
	i = find_mapping(s);
	if (i < 0)
		return unwind_bad_call(&s->st) ? STOP_NOT : why_unmapped(s);
	s->no_rule = 0;
	m = &s->memo[i & (MEMO - 1)];
	if (!m->has_file && memory_has_owner(s)) {
		s->part = PART_JIT;
		return STOP_RUNTIME;
	}
	if (s->passed && runtime_in(RUNTIMES_PASSES, m->runtime))
		return part_of_file(s, m, PART_PASSED);
	s->passed = 0;
	off = s->st.pc - m->start + m->off;
	why = note_frame(s, m, off);
	if (why != STOP_NOT)
		return step_by_frame_pointer(why);
	r = find_rule(s, m, off);
	if (!r)
		return STOP_INTERNAL;
	if (r->cfa != CFA_NONE)
		return step_by_rule(s, m, r);
	return step_by_frame_pointer(STOP_NO_ROW);
}

#endif /* BPF_FRAMES_BPF_H */
