/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * python - frames of CPython: from its loop to those of its thread, one a step
 *
 * The cookie of a frame is made of the addresses of its names, and its line.
 */
#ifndef BPF_PYTHON_BPF_H
#define BPF_PYTHON_BPF_H

#include "facts.bpf.h"
#include "names.bpf.h"
#include "parts.h"
#include "python_read.bpf.h"
#include "python_trampoline.bpf.h"
#include "state.bpf.h"
#include "thread.bpf.h"

RUNTIME_STATE(2, python_state)

/* --- names -------------------------------------------------------------------- */

/* Append a str. */
__weak __noinline int python_push_str(__u64 str, __u32 which, __u32 line)
{
	struct python_state *p = python_state();
	struct python_text t = {};

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return 0;
	if (!p || !python_read_str(p, str, &t))
		return 0;
	return push_string(t.at, t.bytes, TEXT_NUMBER(which, t.kind), line);
}

/* Append a function's table of lines, a bytes object. */
__weak __noinline int python_push_lines(__u64 table)
{
	struct python_state *p = python_state();
	struct scratch *s = scratch();
	struct python_text t = {};

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return 0;
	if (!s || !p || !python_read_bytes(p, table, &t))
		return 0;
	if (!t.bytes) {		/* all code is on the first line */
		push(s, FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT,
					TEXT_NUMBER(TEXT_LINES, t.kind), 0), 1ULL));
		push(s, 0);
	}
	push_table(t.at, t.bytes, t.kind);
	return 0;
}

#define TABLE_HASHED	8	/* words */

/* A hash of a table of lines: it tells apart functions of the same name, file and first
 * line, as the code of all modules begins with line 1. */
__weak __noinline int python_hash_lines(__u64 table)
{
	struct python_state *p = python_state();
	struct scratch *s = scratch();
	struct python_text t = {};
	__u64 h, bytes;

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return 0;
	if (!s || !p || !python_read_bytes(p, table, &t) || !t.bytes)
		return 0;
	bytes = t.bytes < 8 * TABLE_HASHED ? t.bytes : 8 * TABLE_HASHED;
	__builtin_memset(s->text, 0, 8 * TABLE_HASHED);
	asm volatile("" : "+r"(bytes));		/* keep this check for the verifier: */
	if (bytes > 8 * TABLE_HASHED ||
	    bpf_probe_read_user(s->text, bytes, (void *)t.at))
		return 0;
	h = t.bytes;
	for (int i = 0; i < TABLE_HASHED; i++)
		h = (h + s->text[i]) * HASH_FACTOR;
	return (int)(h >> 32);
}

/* --- where the walk comes to it ----------------------------------------------------- */

/* The thread, and its innermost frame. */
__weak __noinline int python_enter_thread(void)
{
	struct python_state *p = python_state();
	struct scratch *s = scratch();
	const struct unwind_rule *facts;

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return 0;
	if (!s || !p)
		return 0;
	facts = fact_of(s, 0);
	if (facts && python_has_layout(RUNTIME_VERSION(facts)))
		python_find(p, RUNTIME_VERSION(facts), s->file.base + RUNTIME_ROOT(facts),
			    current_thread_pointer(), PYTHON_THREAD_AT(facts));
	return 0;
}

/* Are there frames for this part?  They go on where the last loop ended. */
static __always_inline int python_has_frames(const struct scratch *s, struct python_state *p,
					     __u32 part, __u64 at)
{
	switch (part) {
	case PART_PASSED:
		return python_passed_over(p, at, s->st.sp);
	case PART_LOOP:
	case PART_ENDS:
		return p->frame != 0;
	default:
		return 0;
	}
}

__weak __noinline int python_enter(__u32 part, __u64 at)
{
	struct python_state *p = python_state();
	struct scratch *s = scratch();
	int has;

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return ENTER_NOT;
	if (!s || !p)
		return ENTER_NOT;
	if (part == PART_JIT)
		return trampoline_step(&s->st) ? ENTER_MOVED : ENTER_NOT;
	/* in JITed code that it runs all its frames that remain are known nevertheless */
	if (part == PART_ENDS && at != STOP_ANON)
		return ENTER_NOT;
	if (first_use(s, RUNTIME_PYTHON))
		__builtin_memset(p, 0, PYTHON_STATE_BEGIN);
	if (python_needs_thread(p))
		python_enter_thread();
	p->part = part;
	has = python_has_frames(s, p, part, at);
	s->reads += p->reads;
	p->reads = 0;
	return has ? ENTER_FRAMES : ENTER_NOT;
}

/* --- one frame ---------------------------------------------------------------------- */

__weak __noinline int python_step(void)
{
	struct python_state *p = python_state();
	struct scratch *s = scratch();
	struct python_frame f = {};
	enum python_found found;
	__u64 cookie;

	if (!RUNTIME_ON(RUNTIME_PYTHON))
		return STEP_DONE;
	if (!s || !p)
		return STEP_DONE;
	s->reads += PYTHON_FRAME_READS;
	found = python_next(p, &f);
	if (found == PYTHON_BROKEN) {
		p->frame = 0;
		return STEP_DONE;
	}
	if (found == PYTHON_END)	/* of this loop */
		return p->part == PART_ENDS && p->frame ? STEP_MORE : STEP_DONE;
	cookie = (f.name * HASH_FACTOR + f.filename) * HASH_FACTOR + f.line;
	cookie += f.line > 1 ? f.lines : (__u32)python_hash_lines(f.lines);
	cookie *= HASH_FACTOR;
	cookie = MANAGED_COOKIE(cookie >> 40);
	if (names_due(s, f.code, cookie)) {
		python_push_str(f.name, TEXT_NAME, f.line);
		python_push_str(f.filename, TEXT_FILE, 0);
		if (s->named_words < LINES_WORDS)
			python_push_lines(f.lines);
		else
			send_lines_soon(s);
	}
	if (f.at >= MANAGED_AT_START)
		f.at = f.at == PYTHON_BEGINS ? MANAGED_AT_START : MANAGED_AT_MAX;
	push_managed(s, RUNTIME_PYTHON, cookie, f.at, f.code);
	return found == PYTHON_LAST && p->part == PART_LOOP ? STEP_DONE : STEP_MORE;
}

#endif /* BPF_PYTHON_BPF_H */
