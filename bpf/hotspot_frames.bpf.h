/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot_frames - frames of HotSpot's code: methods, by name
 *
 * When the walk comes to HotSpot's code (jit.bpf.h), the state first moves to that
 * frame's caller; then the methods of the frame are appended, one a step, the innermost
 * first, in place of the address that stood for the frame.
 *
 * The word of a method is the address of its Method; its cookie is made of words in it.
 * It is sent only if both are known already or hotspot_check_method() accepts it.  For
 * code of the VM the word is enum hotspot_kind.
 */
#ifndef BPF_HOTSPOT_FRAMES_BPF_H
#define BPF_HOTSPOT_FRAMES_BPF_H

#include "hotspot.bpf.h"
#include "managed.bpf.h"
#include "remember.bpf.h"
#include "runtime.h"
#include "state.bpf.h"

#define HOTSPOT_TEXTS	32	/* names that are looked up in files, in a sample */

/*
 * The kind of the code at hand, whose name is on a page that is not in memory: the table of
 * the file says which text lies there.  The kernel says whose file that is, so a process
 * can lie only to itself.
 */
__weak __noinline int hotspot_kind_by_file(void)
{
	struct scratch *s = scratch();
	const struct unwind_rule *r;
	struct file_entry *f;
	__u32 kind;

	if (!s || s->hotspot.texts >= HOTSPOT_TEXTS)
		return 0;
	s->hotspot.texts++;
	if (!find_vma(s->hotspot.unread) || !s->m.has_file)
		return 0;
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (!f || f->runtime != RUNTIME_HOTSPOT || !f->pages)
		return 0;
	r = rule_at(look_up_rule(f->dir, f->pages,
				 s->hotspot.unread - s->m.start + s->m.off));
	kind = r && r->cfa == CFA_RUNTIME ? RUNTIME_TEXT(r) : 0;
	if (kind > HOTSPOT_STUB && kind <= HOTSPOT_WRAPPER)
		s->hotspot.kind = hotspot_name_means(&s->hotspot, s->hotspot.unread, kind);
	return 0;
}

/*
 * The parts of hotspot_enter().  Each is global, so that the verifier checks it once and by
 * itself, and not again for each way through the parts before it.
 */
__weak __noinline int hotspot_enter_code(void)
{
	struct scratch *s = scratch();

	return s && hotspot_read_blob(&s->hotspot, s->st.pc);
}

/* The method that the code at hand runs, if it says so. */
__weak __noinline int hotspot_enter_method(void)
{
	struct scratch *s = scratch();
	struct hotspot_state *h;

	if (!s)
		return 0;
	h = &s->hotspot;
	h->method = 0;
	h->scope = 0;
	if (h->kind == HOTSPOT_INTERPRETER && !hotspot_interpreted(h, &s->st))
		h->method = 0;
	if (h->kind == HOTSPOT_COMPILED || h->kind == HOTSPOT_WRAPPER)
		hotspot_compiled(h, &s->st);
	return 0;
}

__weak __noinline int hotspot_enter_caller(void)
{
	struct scratch *s = scratch();

	return s ? hotspot_caller(&s->hotspot, &s->st) : STOP_INTERNAL;
}

/*
 * The walk is at st.pc, in memory of no file.  If that is HotSpot's code, s->after is set
 * to the outcome of the step to its caller (STOP_ANON: still to be made, by frame
 * pointer), and s->hotspot.inside so that hotspot_step() is next.
 */
__weak __noinline int hotspot_enter(void)
{
	struct scratch *s = scratch();
	struct hotspot_state *h;

	if (!s || !hotspot_enter_code())
		return 0;
	h = &s->hotspot;
	if (h->unread)
		hotspot_kind_by_file();
	hotspot_enter_method();
	s->after = hotspot_enter_caller();
	if (s->after != STOP_NOT && h->kind <= HOTSPOT_INTERPRETER)
		s->after = STOP_ANON;
	h->inside = HOTSPOT_FIRST;
	return 0;
}

/* --- names ----------------------------------------------------------------------- */

/* Append a Symbol; if it is too long, the end of the names of classes and files. */
__weak __noinline int push_symbol(__u64 symbol, __u32 which)
{
	struct scratch *s = scratch();
	const struct hotspot_layout *l;
	__u32 bytes, cut = 0;

	if (!s || !symbol)
		return 0;
	l = hotspot_layout(s->hotspot.vm.version);
	bytes = user_u16(symbol + l->symbol_length);
	if (bytes > TEXT_BYTES) {
		if (which == TEXT_CLASS || which == TEXT_FILE)
			cut = bytes - TEXT_BYTES;
		bytes = TEXT_BYTES;
	}
	return push_bytes(symbol + l->symbol_body + cut, bytes,
			  TEXT_NUMBER(which, FORM_MUTF8), cut);
}

#define JAVA_LINES	(8 * TEXT_BYTES)	/* of a method's table: some 500 lines */

/* Append a table of lines, which ends with a mark: bytes of the same object after it are
 * sent, too. */
__weak __noinline int push_java_lines(__u64 at, __u64 bytes)
{
	struct scratch *s = scratch();

	if (!s || !at)
		return 0;
	push_table(at, bytes < JAVA_LINES ? bytes : JAVA_LINES,
		   hotspot_layout(s->hotspot.vm.version)->unsigned5 ?
		   LINES_JAVA_20 : LINES_JAVA);
	return 0;
}

/* Append the method at hand; the first one of a frame replaces the address that stands
 * for the frame.  0: it was not accepted. */
__weak __noinline int hotspot_append(void)
{
	struct scratch *s = scratch();
	struct hotspot_names names = {};
	__u32 cookie, at;
	__u64 *sent;

	if (!s)
		return 0;
	cookie = MANAGED_COOKIE(s->hotspot.fingerprint >> 40);
	sent = names_sent_ns(s, s->hotspot.method, cookie);
	if ((!sent || names_are_due(s, sent)) &&
	    !hotspot_check_method(&s->hotspot, &names))
		return 0;
	if (s->hotspot.inside == HOTSPOT_FIRST)
		s->n--;
	if (names.name && begin_names(s, sent)) {
		push_symbol(names.klass, TEXT_CLASS);
		push_symbol(names.name, TEXT_NAME);
		push_symbol(names.signature, TEXT_SIGNATURE);
		push_symbol(names.file, TEXT_FILE);
		if (s->named_words < LINES_WORDS)
			push_java_lines(names.lines, names.lines_max);
		else
			send_lines_soon(s);
	}
	at = s->hotspot.at;
	push(s, MANAGED_WORD(RUNTIME_HOTSPOT, cookie,
			     (__u64)(at < MANAGED_AT_MAX ? at : MANAGED_AT_MAX)));
	push(s, s->hotspot.method);
	return 1;
}

/* --- the frame --------------------------------------------------------------------- */

/* Read the next method of the frame at hand.  False: there is none. */
static __always_inline int hotspot_method(struct hotspot_state *h)
{
	__u64 outermost = h->method;

	switch (h->kind) {
	case HOTSPOT_INTERPRETER:
		return h->method != 0;
	case HOTSPOT_COMPILED:
	case HOTSPOT_WRAPPER:
		return (h->scope && hotspot_next_scope(h)) ||
		       (h->inside == HOTSPOT_FIRST &&
			hotspot_read_method(h, outermost));
	default:
		return 0;
	}
}

/* Append the next method of the frame at hand; h->inside becomes 0 after the last. */
__weak __noinline int hotspot_step(void)
{
	struct scratch *s = scratch();
	struct hotspot_state *h;
	int first, ok;

	if (!s)
		return 0;
	h = &s->hotspot;
	first = h->inside == HOTSPOT_FIRST;
	ok = hotspot_method(h);
	if (ok && hotspot_append()) {
		s->managed++;
		s->st.depth += !first;
		h->inside = h->scope ? HOTSPOT_MORE : 0;
		return 0;
	}
	h->inside = 0;
	if (ok || h->kind >= HOTSPOT_COMPILED)
		count(BPF_MANAGED_NONE);
	if (!first || h->kind >= HOTSPOT_COMPILED)
		return 0;
	s->words[(s->n - 1) & (REC_WORDS - 1)] =
		MANAGED_WORD(RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX);
	push(s, h->kind);
	s->managed++;
	return 0;
}

#endif /* BPF_HOTSPOT_FRAMES_BPF_H */
