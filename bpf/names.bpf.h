/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * names - frames that a runtime has found, and their names
 *
 * A frame is the address of what stands for its function and a cookie, made of words
 * there, which differs when the address is reused.  The names go with the first record that
 * has the frame, before it: later the process may be gone.
 */
#ifndef BPF_NAMES_BPF_H
#define BPF_NAMES_BPF_H

#include "hash.h"
#include "runtime.h"
#include "state.bpf.h"

/* All words that a step may append: those of a frame with its names, and of its loop. */
#define FRAME_WORDS_MAX							\
	((4 + TEXT_LINES_MAX) * (1 + FRAME_MORE_MAX) + 1 + MANAGED_WORDS_MAX + 1)
#define NAMED_MAX	8192		/* frames whose names were sent */
#define NAMED_NS	30000000000ULL	/* names are sent again after this time */
#define NAMED_WORDS	1152	/* of names, in one record: the rest is for frames */
#define LINES_WORDS	640	/* tables of lines are sent up to this number */
#define LINES_NS	100000000ULL	/* tables that were left out are sent after this */
#define TEXT_TAIL_MAX	16	/* pieces of a text whose end is looked for */

/* When names were sent last; LRU: names of a dropped entry are only sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, NAMED_MAX);
	__type(key, struct named_key);
	__type(value, __u64);
} rt0_named SEC(".maps");

/* --- when ----------------------------------------------------------------------------- */

/* The record was lost: its names will go with another one. */
static __always_inline void forget_names(struct scratch *s)
{
	for (__u32 i = 0; i < NAMED_SAMPLE && i < s->n_named; i++)
		bpf_map_delete_elem(&rt0_named, &s->named[i]);
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
	return bpf_map_lookup_elem(&rt0_named, k);
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
	if (bpf_map_update_elem(&rt0_named, k, &s->now, BPF_ANY))
		return 0;
	s->n_named++;
	return 1;
}

/* Are the names of this frame to be appended?  Then they must be, before the frame. */
static __always_inline int names_due(struct scratch *s, __u64 function, __u32 cookie)
{
	return begin_names(s, names_sent_ns(s, function, cookie));
}

/* There was no room for the table of lines of the frame that was named last: let its
 * names be sent again after LINES_NS. */
static __always_inline void send_lines_soon(struct scratch *s)
{
	__u32 i = s->n_named - 1;
	__u64 sent = s->now - NAMED_NS + LINES_NS;

	if (i < NAMED_SAMPLE)
		bpf_map_update_elem(&rt0_named, &s->named[i], &sent, BPF_ANY);
}

/* --- what ----------------------------------------------------------------------------- */

/* Append a piece of text that is in s->text; bytes: <= TEXT_BYTES. */
static __always_inline void push_piece(struct scratch *s, __u32 bytes, __u64 number,
				       __u64 place)
{
	__u32 words = (bytes + 7) / 8;
	__u64 last = bytes >> 3;

	/* nothing of what lies behind it */
	asm volatile("" : "+r"(last));		/* keep the mask for the verifier */
	if (bytes & 7)
		s->text[last & FRAME_MORE_MAX] &= (1ULL << 8 * (bytes & 7)) - 1;
	push(s, FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, number, place),
				(__u64)words));
	for (__u32 i = 0; i < FRAME_MORE_MAX && i < words; i++)
		push(s, s->text[i]);
	s->named_words += 1 + words;
}

/* Append bytes of the target's memory, at most TEXT_BYTES. */
__weak __noinline int push_bytes(__u64 at, __u64 bytes, __u64 number, __u64 place)
{
	struct scratch *s = scratch();

	if (!s || !bytes)
		return 0;
	__builtin_memset(s->text, 0, sizeof(s->text));
	if (bytes > TEXT_BYTES)
		bytes = TEXT_BYTES;
	asm volatile("" : "+r"(bytes));		/* keep this check for the verifier: */
	if (bytes > TEXT_BYTES ||
	    bpf_probe_read_user(s->text, bytes, (void *)at))
		return 0;
	push_piece(s, bytes, number, place);
	return 1;
}

/* Append a text of so many bytes.  number: TEXT_NUMBER(which, form).  If it is too long:
 * of a file and of a class its end, with the bytes that are missing in front as place; of
 * others its begin. */
__weak __noinline int push_string(__u64 at, __u64 bytes, __u32 number, __u32 place)
{
	__u32 which = TEXT_WHICH(number);
	__u64 cut = 0;

	if (bytes > TEXT_BYTES && (which == TEXT_FILE || which == TEXT_CLASS))
		cut = bytes - TEXT_BYTES;
	if (which == TEXT_FILE || which == TEXT_CLASS)
		place = cut;
	return push_bytes(at + cut, bytes, number, place);
}

/* Read the text at `at`, up to its NUL, into s->text; nothing behind that.  Its bytes, or
 * TEXT_BYTES + 1 if it is longer; 0: it cannot be read, or is empty. */
__weak __noinline int read_cstring(__u64 at)
{
	struct scratch *s = scratch();
	long n;

	if (!s)
		return 0;
	__builtin_memset(s->text, 0, sizeof(s->text));
	/* room for more, so that a longer one is known from one that fits */
	n = bpf_probe_read_user_str(s->text, sizeof(s->text), (void *)at);
	if (n <= 1)
		return 0;
	return n - 1 <= TEXT_BYTES ? n - 1 : TEXT_BYTES + 1;
}

/* How many bytes of a text that is longer than TEXT_BYTES are not its end. */
static __always_inline __u64 cstring_cut(__u64 at)
{
	__u64 cut = 0;

	for (int i = 0; i < TEXT_TAIL_MAX; i++) {
		int n = read_cstring(at + cut + TEXT_BYTES);

		if (n <= TEXT_BYTES)
			return cut + n;
		cut += TEXT_BYTES;
	}
	return cut;
}

/* Append a text that ends with a NUL, cut as push_string() cuts it. */
__weak __noinline int push_cstring(__u64 at, __u32 number, __u32 place)
{
	__u32 which = TEXT_WHICH(number);
	struct scratch *s = scratch();
	__u64 cut = 0;
	int n;

	if (!s)
		return 0;
	n = read_cstring(at);
	if (!n)
		return 0;
	if (n > TEXT_BYTES && (which == TEXT_FILE || which == TEXT_CLASS)) {
		cut = cstring_cut(at);
		n = read_cstring(at + cut);
	}
	if (which == TEXT_FILE || which == TEXT_CLASS)
		place = cut;
	if (n > TEXT_BYTES)
		n = TEXT_BYTES;
	if (n <= 0)
		return 0;
	push_piece(s, n, number, place);
	return 1;
}

/* Append the beginning of a table of lines; form: below LINES_FORMS. */
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

/* Append a frame of a runtime, after its names.  cookie: MANAGED_COOKIE; at: its place, or
 * MANAGED_AT_MAX, MANAGED_AT_START; function: what stands for its function. */
static __always_inline void push_managed(struct scratch *s, __u32 runtime, __u32 cookie,
					 __u64 at, __u64 function)
{
	/* a number of the process's memory may be anything */
	if (at > MANAGED_AT_MAX)
		at = MANAGED_AT_MAX;
	push(s, MANAGED_WORD(runtime, cookie, at));
	push(s, function);
	s->managed++;
	s->st.depth++;
}

/* Append the frame at st.pc, in memory of no file, before the walk leaves it. */
static __always_inline void note_anon(struct scratch *s)
{
	push(s, FRAME_ANON_WORD(s->st.pc));
	s->rec.flags |= REC_HAS_ANON;
}

/* Take back the frame that was noted last, in whose place a managed one comes. */
static __always_inline void take_back_frame(struct scratch *s)
{
	s->n--;
	s->st.depth--;
}

#endif /* BPF_NAMES_BPF_H */
