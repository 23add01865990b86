/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * managed - frames that an interpreter keeps, in place of the frames of its loop
 *
 * When the walk comes to the loop of an interpreter (a rule with RULE_LOOP), its
 * frames are appended, one a step, in place of the loop's own; then the walk goes on with
 * the loop's caller.  If there are none, the loop's frame stays.
 *
 * A frame is the address of the object of its function and a cookie, made of the
 * addresses of its names and its line, which differs when the address is reused.  The
 * names go with the first record that has the frame: later the process may be gone.
 */
#ifndef BPF_MANAGED_BPF_H
#define BPF_MANAGED_BPF_H

#include "hash.h"
#include "lookup.bpf.h"
#include "python.bpf.h"
#include "runtime.h"
#include "state.bpf.h"

/* All words of a frame with its names. */
#define FRAME_WORDS_MAX							\
	(1 + (4 + TEXT_LINES_MAX) * (1 + FRAME_MORE_MAX) + 3)
#define NAMED_NS	30000000000ULL	/* names are sent again after this time */
#define NAMED_WORDS	1152	/* of names, in one record: the rest is for frames */
#define LINES_WORDS	640	/* tables of lines are sent up to this number */
#define LINES_NS	100000000ULL	/* tables that were left out are sent after this */

/* --- names -------------------------------------------------------------------- */

/* The record was lost: its names will go with another one. */
static __always_inline void forget_names(struct scratch *s)
{
	for (__u32 i = 0; i < NAMED_SAMPLE && i < s->n_named; i++)
		bpf_map_delete_elem(&named, &s->named[i]);
}

/* The time at which the names of this frame were sent, or NULL.  Its key is left at
 * s->named[s->n_named]; the array has one element more for that. */
static __always_inline __u64 *names_sent_ns(struct scratch *s, __u64 function,
					    __u32 cookie)
{
	__u32 i = s->n_named < NAMED_SAMPLE ? s->n_named : NAMED_SAMPLE;
	struct named_key *k = &s->named[i];

	k->process = s->rec.process;
	k->function = function;
	k->cookie = cookie;
	return bpf_map_lookup_elem(&named, k);
}

/* Shall the names of a frame go with this record?  sent: by names_sent_ns(). */
static __always_inline int names_are_due(const struct scratch *s, const __u64 *sent)
{
	return s->n_named < NAMED_SAMPLE && s->named_words < NAMED_WORDS &&
	       (!sent || s->now - *sent >= NAMED_NS || *sent < asked_since);
}

/* If so, note that they do, and begin them in the record.  sent: as above. */
static __always_inline int begin_names(struct scratch *s, const __u64 *sent)
{
	__u32 i = s->n_named;
	struct named_key *k;

	if (i >= NAMED_SAMPLE || !names_are_due(s, sent))
		return 0;
	k = &s->named[i];
	if (bpf_map_update_elem(&named, k, &s->now, BPF_ANY))
		return 0;
	s->n_named++;
	return 1;
}

/* There was no room for the table of lines of the frame that was named last: let its
 * names be sent again after LINES_NS. */
static __always_inline void send_lines_soon(struct scratch *s)
{
	__u32 i = s->n_named - 1;
	__u64 sent = s->now - NAMED_NS + LINES_NS;

	if (i < NAMED_SAMPLE)
		bpf_map_update_elem(&named, &s->named[i], &sent, BPF_ANY);
}

/* Append bytes of the target's memory, at most TEXT_BYTES. */
__weak __noinline int push_bytes(__u64 at, __u64 bytes, __u64 number, __u64 place)
{
	struct scratch *s = scratch();
	__u32 words;

	if (!s || !bytes)
		return 0;
	__builtin_memset(s->text, 0, sizeof(s->text));
	if (bytes > TEXT_BYTES)
		bytes = TEXT_BYTES;
	asm volatile("" : "+r"(bytes));		/* keep this check for the verifier: */
	if (bytes > TEXT_BYTES ||
	    bpf_probe_read_user(s->text, bytes, (void *)at))
		return 0;
	words = (bytes + 7) / 8;
	push(s, FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, number, place),
				(__u64)words));
	for (__u32 i = 0; i < FRAME_MORE_MAX && i < words; i++)
		push(s, s->text[i]);
	s->named_words += 1 + words;
	return 1;
}

/* Append a str; if a file's name is too long, its end. */
__weak __noinline int push_text(__u64 str, __u32 which, __u32 line)
{
	struct scratch *s = scratch();
	struct python_text t = {};
	__u64 bytes, cut;

	if (!s || !python_read_str(&s->python, str, &t))
		return 0;
	bytes = t.bytes < TEXT_BYTES ? t.bytes : TEXT_BYTES;
	cut = which == TEXT_FILE ? t.bytes - bytes : 0;
	return push_bytes(t.at + cut, bytes, TEXT_NUMBER(which, t.kind),
			  which == TEXT_FILE ? cut : line);
}

/* Append the beginning of a table of lines; form: enum text_lines. */
static __always_inline void push_table(__u64 at, __u32 bytes, __u32 form)
{
	for (__u32 i = 0; i < TEXT_LINES_MAX; i++) {
		/* push_bytes() cuts the length: done here, each pass would double the
		 * paths that the verifier follows before 6.11 */
		if (bytes <= i * TEXT_BYTES ||
		    !push_bytes(at + i * TEXT_BYTES, bytes - i * TEXT_BYTES,
				TEXT_NUMBER(TEXT_LINES, form), i * TEXT_BYTES))
			break;
	}
}

/* Append a function's table of lines, a bytes object. */
__weak __noinline int push_lines(__u64 table)
{
	struct scratch *s = scratch();
	struct python_text t = {};

	if (!s || !python_read_bytes(&s->python, table, &t))
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

__weak __noinline int hash_lines(__u64 table)
{
	struct scratch *s = scratch();
	struct python_text t = {};
	__u64 h, bytes;

	if (!s || !python_read_bytes(&s->python, table, &t) || !t.bytes)
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

/* --- Python ------------------------------------------------------------------------ */

static __always_inline __u64 thread_pointer(void)
{
	__u64 task = (__u64)bpf_get_current_task();

#ifdef __TARGET_ARCH_arm64
	return KLOAD(task_struct, task, thread.uw.tp_value);
#else
	return KLOAD(task_struct, task, thread.fsbase);
#endif
}

/*
 * The walk is in CPython's file: the frames of its thread are next, from where the last
 * loop ended.  base: the address of place 0 of the file, mapped or not; dir, pages: its
 * table.  sp: 0: the walk is in the loop; WALK_ENDS: it cannot go on; else the stack
 * pointer, and frames are next only if a loop was passed over.
 */
#define WALK_ENDS	(~0ULL)

__weak __noinline int python_enter(__u64 base, __u32 dir, __u32 pages, __u64 sp)
{
	const struct unwind_rule *facts = rule_at(table_rule(dir, pages, 0));
	struct scratch *s = scratch();

	if (!s)
		return 0;
	if (python_needs_thread(&s->python) && facts && facts->cfa == CFA_RUNTIME &&
	    python_has_layout(RUNTIME_VERSION(facts)))
		python_find(&s->python, RUNTIME_VERSION(facts),
			    base + RUNTIME_ROOT(facts), thread_pointer(),
			    PYTHON_THREAD_AT(facts));
	s->python.inside = 0;
	if (sp == WALK_ENDS)
		s->python.inside = s->python.frame ? PYTHON_FLUSH : 0;
	else if (sp)
		s->python.inside = python_passed_over(&s->python, sp) ?
				   PYTHON_PASSED : 0;
	else if (s->python.frame)
		s->python.inside = PYTHON_FIRST;
	else
		count(BPF_MANAGED_NONE);
	return s->python.inside;
}

/* Take the loop's own frame back: it comes after the frames that the loop ran. */
static __always_inline void take_back_loop(struct scratch *s)
{
	s->n--;
	s->python.loop = s->words[s->n & (REC_WORDS - 1)];
}

/* The frame just pushed belongs to its loop, whose frame comes next: hide it likewise. */
static __always_inline void mark_loop_part(struct scratch *s)
{
	__u64 *word = &s->words[(s->n - 1) & (REC_WORDS - 1)];

	*word = FRAME_LOOP_WORD(*word);
}

static __always_inline int finish_loop(struct scratch *s)
{
	if (s->python.inside == PYTHON_FLUSH && s->python.frame)
		return 1;
	if (s->python.inside == PYTHON_FIRST)
		count(BPF_MANAGED_NONE);
	else if (s->python.inside < PYTHON_PASSED)
		push(s, FRAME_LOOP_WORD(s->python.loop));
	s->python.inside = 0;
	return 0;
}

/* Append the next frame of the loop that the walk has come to; 0: there is none. */
__weak __noinline int python_step(void)
{
	struct scratch *s = scratch();
	struct python_frame f = {};
	enum python_found found;
	__u64 cookie;

	if (!s)
		return 0;
	if (s->python.inside == PYTHON_DONE)
		return finish_loop(s);
	found = python_next(&s->python, &f);
	if (found == PYTHON_BROKEN)
		s->python.frame = 0;
	if (found == PYTHON_BROKEN || found == PYTHON_END)
		return finish_loop(s);
	if (s->python.inside == PYTHON_FIRST)
		take_back_loop(s);
	if (s->python.inside < PYTHON_PASSED)
		s->python.inside = found == PYTHON_LAST ? PYTHON_DONE :
							   PYTHON_GOES_ON;
	cookie = (f.name * HASH_FACTOR + f.filename) * HASH_FACTOR + f.line;
	cookie += f.line > 1 ? f.lines : (__u32)hash_lines(f.lines);
	cookie *= HASH_FACTOR;
	cookie = MANAGED_COOKIE(cookie >> 40);
	if (begin_names(s, names_sent_ns(s, f.code, cookie))) {
		push_text(f.name, TEXT_NAME, f.line);
		push_text(f.filename, TEXT_FILE, 0);
		if (s->named_words < LINES_WORDS)
			push_lines(f.lines);
		else
			send_lines_soon(s);
	}
	if (f.at >= MANAGED_AT_START)
		f.at = f.at == PYTHON_BEGINS ? MANAGED_AT_START : MANAGED_AT_MAX;
	push(s, MANAGED_WORD(RUNTIME_PYTHON, cookie, f.at));
	push(s, f.code);
	s->st.depth++;
	s->managed++;
	return 1;
}

#endif /* BPF_MANAGED_BPF_H */
