/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * hotspot - frames of HotSpot's code: methods, by name
 *
 * When the walk comes to HotSpot's code (PART_JIT), the state first moves to that
 * frame's caller; then the methods of the frame are appended, one a step, the innermost
 * first, in place of the address that stood for the frame.
 *
 * The word of a method is the address of its Method; its cookie is made of words in it.
 * It is sent only if both are known already or hotspot_check_method() accepts it.  For
 * code of the VM the word is enum hotspot_kind.
 */
#ifndef BPF_HOTSPOT_BPF_H
#define BPF_HOTSPOT_BPF_H

#include "facts.bpf.h"
#include "hotspot_read.bpf.h"
#include "names.bpf.h"
#include "parts.h"
#include "remember.bpf.h"
#include "state.bpf.h"

#define HOTSPOT_TEXTS	32	/* names that are looked up in files, in a sample */
#define HOTSPOT_VMS_MAX	512	/* processes */

RUNTIME_STATE(3, hotspot_state)

/* The code heaps of a process; LRU: of one that is dropped they are looked for again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HOTSPOT_VMS_MAX);
	__type(key, struct process_id);
	__type(value, struct hotspot_vm);
} rt3_vms SEC(".maps");

/* --- the process ----------------------------------------------------------------- */

/* It maps libjvm.so: where are its code heaps? */
__weak __noinline int hotspot_owns(__u64 pc)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();
	const struct unwind_rule *facts;

	(void)pc;
	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return OWNS_NOT;
	if (!s || !h)
		return OWNS_NOT;
	facts = fact_of(s, 0);
	if (!facts || !hotspot_has_layout(RUNTIME_VERSION(facts)))
		return OWNS_NOT;
	hotspot_find(h, RUNTIME_VERSION(facts), s->file.base + RUNTIME_ROOT(facts));
	if (!h->vm.version)	/* it is there but has no code yet */
		return OWNS_LATER;
	bpf_map_update_elem(&rt3_vms, &s->rec.process, &h->vm, BPF_ANY);
	return OWNS_CODE;
}

/* Begin the sample's state with what is known of the process; false: nothing. */
static __always_inline int hotspot_recall(struct scratch *s, struct hotspot_state *h)
{
	struct hotspot_vm *vm;

	if (!first_use(s, RUNTIME_HOTSPOT))
		return h->vm.version != 0;
	__builtin_memset(h, 0, HOTSPOT_STATE_BEGIN);
	vm = bpf_map_lookup_elem(&rt3_vms, &s->rec.process);
	if (!vm) {
		h->vm.version = 0;
		s->space_lost = 1;
		return 0;
	}
	h->vm = *vm;
	return 1;
}

/* --- to the caller --------------------------------------------------------------- */

/*
 * The kind of the code at hand, whose name is on a page that is not in memory: the table of
 * the file says which text lies there.  The kernel says whose file that is, so a process
 * can lie only to itself.
 */
__weak __noinline int hotspot_kind_by_file(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();
	const struct unwind_rule *r;
	struct file_entry *f;
	__u32 kind;

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return 0;
	if (!s || !h || h->texts >= HOTSPOT_TEXTS)
		return 0;
	h->texts++;
	if (!find_vma(h->unread) || !s->m.has_file)
		return 0;
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (!f || f->runtime != RUNTIME_HOTSPOT || !f->pages)
		return 0;
	r = rule_at(look_up_rule(f->dir, f->pages, h->unread - s->m.start + s->m.off));
	kind = r && r->cfa == CFA_RUNTIME ? RUNTIME_TEXT(r) : 0;
	if (kind > HOTSPOT_STUB && kind <= HOTSPOT_WRAPPER)
		h->kind = hotspot_name_means(h, h->unread, kind);
	return 0;
}

/*
 * The parts of hotspot_enter().  Each is global, so that the verifier checks it once and by
 * itself, and not again for each way through the parts before it.
 */

/* The method that the code at hand runs, if it says so. */
__weak __noinline int hotspot_enter_method(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return 0;
	if (!s || !h)
		return 0;
	h->method = 0;
	h->scope = 0;
	if (h->kind == HOTSPOT_INTERPRETER && !hotspot_interpreted(h, &s->st))
		h->method = 0;
	if (h->kind == HOTSPOT_COMPILED || h->kind == HOTSPOT_WRAPPER)
		hotspot_compiled(h, &s->st);
	return 0;
}

/* The parts of hotspot_caller(). */
__weak __noinline int hotspot_enter_caller(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return STOP_INTERNAL;
	return s && h ? hotspot_leave_sized(h, &s->st) : STOP_INTERNAL;
}

__weak __noinline int hotspot_enter_unsized(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return STOP_INTERNAL;
	return s && h ? hotspot_leave_unsized_stub(h, &s->st) : STOP_INTERNAL;
}

__weak __noinline int hotspot_enter_continuation(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return STOP_INTERNAL;
	return s && h ? hotspot_leave_continuation(h, &s->st) : STOP_INTERNAL;
}

/* Note the frame at hand, and move to its caller. */
static __always_inline int hotspot_leave(struct scratch *s, struct hotspot_state *h)
{
	__u32 stop;

	if (h->unread)
		hotspot_kind_by_file();
	hotspot_enter_method();
	note_anon(s);
	h->first = 1;
	stop = hotspot_enter_caller();
	if (stop == HOTSPOT_UNSIZED)
		stop = hotspot_enter_unsized();
	if (stop == HOTSPOT_CONTINUATION)
		stop = hotspot_enter_continuation();
	if (stop == STOP_ANON || (stop != STOP_NOT && h->kind <= HOTSPOT_INTERPRETER))
		return ENTER_FRAMES;
	s->inside = RUNTIME_HOTSPOT;
	return stop == STOP_NOT ? ENTER_MOVED : ENTER_STOP + stop;
}

__weak __noinline int hotspot_enter(__u32 part, __u64 at)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();
	int r = ENTER_NOT;

	(void)at;
	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return ENTER_NOT;
	if (!s || !h || part != PART_JIT || !hotspot_recall(s, h))
		return ENTER_NOT;
	s->reads += HOTSPOT_FRAME_READS;
	if (hotspot_read_blob(h, s->st.pc))
		r = hotspot_leave(s, h);
	s->reads += h->reads;
	h->reads = 0;
	return r;
}

/* --- names ----------------------------------------------------------------------- */

/* Append a Symbol. */
__weak __noinline int hotspot_push_symbol(__u64 symbol, __u32 which)
{
	struct hotspot_state *h = hotspot_state();
	const struct hotspot_layout *l;

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return 0;
	if (!h || !symbol)
		return 0;
	l = hotspot_layout(h->vm.version);
	return push_string(symbol + l->symbol_body, user_u16(symbol + l->symbol_length),
			   TEXT_NUMBER(which, FORM_MUTF8), 0);
}

#define JAVA_LINES	(8 * TEXT_BYTES)	/* of a method's table: some 500 lines */

/* Append a table of lines, which ends with a mark: bytes of the same object after it are
 * sent, too. */
__weak __noinline int hotspot_push_lines(__u64 at, __u64 bytes)
{
	struct hotspot_state *h = hotspot_state();

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return 0;
	if (!h || !at)
		return 0;
	push_table(at, bytes < JAVA_LINES ? bytes : JAVA_LINES,
		   hotspot_layout(h->vm.version)->unsigned5 ?
		   LINES_JAVA_20 : LINES_JAVA);
	return 0;
}

/* Append the method at hand; the first one of a frame replaces the address that stands
 * for the frame.  0: it was not accepted. */
__weak __noinline int hotspot_append(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();
	struct hotspot_names names = {};
	__u32 cookie, at;
	__u64 *sent;

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return 0;
	if (!s || !h)
		return 0;
	cookie = MANAGED_COOKIE(h->fingerprint >> 40);
	sent = names_sent_ns(s, h->method, cookie);
	if ((!sent || names_are_due(s, sent)) && !hotspot_check_method(h, &names))
		return 0;
	if (h->first)
		take_back_frame(s);
	if (names.name && begin_names(s, sent)) {
		hotspot_push_symbol(names.klass, TEXT_CLASS);
		hotspot_push_symbol(names.name, TEXT_NAME);
		hotspot_push_symbol(names.signature, TEXT_SIGNATURE);
		hotspot_push_symbol(names.file, TEXT_FILE);
		if (s->named_words < LINES_WORDS)
			hotspot_push_lines(names.lines, names.lines_max);
		else
			send_lines_soon(s);
	}
	at = h->at;
	push_managed(s, RUNTIME_HOTSPOT, cookie,
		     (__u64)(at < MANAGED_AT_MAX ? at : MANAGED_AT_MAX), h->method);
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
		       (h->first && hotspot_read_method(h, outermost));
	default:
		return 0;
	}
}

/* Append the next method of the frame at hand. */
__weak __noinline int hotspot_step(void)
{
	struct hotspot_state *h = hotspot_state();
	struct scratch *s = scratch();
	int ok, broken;

	if (!RUNTIME_ON(RUNTIME_HOTSPOT))
		return STEP_DONE;
	if (!s || !h)
		return STEP_DONE;
	s->reads += HOTSPOT_METHOD_READS;
	ok = hotspot_method(h);
	if (ok && hotspot_append()) {
		h->first = 0;
		return h->scope ? STEP_MORE : STEP_DONE;
	}
	broken = ok || h->kind >= HOTSPOT_COMPILED ? STEP_BROKEN : STEP_DONE;
	if (!h->first || h->kind >= HOTSPOT_COMPILED)
		return broken;
	take_back_frame(s);
	push_managed(s, RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX, h->kind);
	return broken;
}

#endif /* BPF_HOTSPOT_BPF_H */
