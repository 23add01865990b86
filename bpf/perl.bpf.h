/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * perl - frames of Perl: from its loop to the subs of its thread, one a step
 *
 * What stands for a sub is what it was compiled to; the cookie is made of the addresses of
 * its name, its package and its first statement.  An eval is the statement that has it, and
 * the program is its stack of contexts.  The place is the line.
 */
#ifndef BPF_PERL_BPF_H
#define BPF_PERL_BPF_H

#include "facts.bpf.h"
#include "names.bpf.h"
#include "parts.h"
#include "perl_read.bpf.h"
#include "state.bpf.h"
#include "thread.bpf.h"

RUNTIME_STATE(4, perl_state)

#define PERL_STEPS	8	/* contexts in one step: most are no frames */

/* Texts of its own: little endian */
#define PERL_TEXT_MAIN	0x6e69616dULL		/* main */
#define PERL_TEXT_EVAL	0x296c61766528ULL	/* (eval) */
#define PERL_EVAL_FILE	0x206c61766528ULL	/* (eval 12), with its space */
#define PERL_SIX_BYTES	0xffffffffffffULL

/* --- where the walk comes to it ----------------------------------------------------- */

/* The thread, and its innermost context. */
__weak __noinline int perl_enter_thread(void)
{
	const struct unwind_rule *root, *stack, *env;
	struct perl_state *p = perl_state();
	struct scratch *s = scratch();
	__u64 base;

	if (!RUNTIME_ON(RUNTIME_PERL))
		return 0;
	if (!s || !p)
		return 0;
	p->known = 1;
	base = s->file.base;
	root = fact_of(s, PERL_FACT_ROOT);
	if (!root)
		return 0;
	p->version = RUNTIME_VERSION(root);
	if (!perl_has_layout(p->version))
		return 0;
	if (p->version & PERL_THREADED) {
		perl_begin(p, thread_word(THREAD_KEY, RUNTIME_ROOT(root), base));
		return 0;
	}
	stack = fact_of(s, PERL_FACT_STACK);
	env = fact_of(s, PERL_FACT_ENV);
	if (stack && env)
		perl_begin_global(p, base + RUNTIME_ROOT(root), base + RUNTIME_ROOT(stack),
				  base + RUNTIME_ROOT(env));
	return 0;
}

__weak __noinline int perl_enter(__u32 part, __u64 at)
{
	struct perl_state *p = perl_state();
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_PERL))
		return ENTER_NOT;
	if (!s || !p || part != PART_LOOP)
		return ENTER_NOT;
	if (first_use(s, RUNTIME_PERL))
		__builtin_memset(p, 0, PERL_STATE_BEGIN);
	if (!p->known)
		perl_enter_thread();
	if (p->si)
		perl_enter_loop(p, s->st.sp);
	s->reads += p->reads;
	p->reads = 0;
	return p->si ? ENTER_FRAMES : ENTER_NOT;
}

/* --- names -------------------------------------------------------------------------- */

/* Append a name. */
__weak __noinline int perl_push_hek(__u64 hek, __u32 which, __u32 line)
{
	struct perl_state *p = perl_state();
	struct perl_text t = {};

	if (!RUNTIME_ON(RUNTIME_PERL))
		return 0;
	if (!p || !perl_read_hek(p, hek, &t))
		return 0;
	return push_string(t.at, t.bytes,
			   TEXT_NUMBER(which, t.utf8 ? FORM_UTF8 : FORM_LATIN1), line);
}

/* Append a text of at most 8 bytes that is no memory of the target. */
static __always_inline void perl_push_own(struct scratch *s, __u64 text, __u32 which,
					  __u32 place)
{
	push(s, FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, TEXT_NUMBER(which, FORM_ASCII),
					   place), 1ULL));
	push(s, text);
	s->named_words += 2;
}

/* Append the name of a file.  Code of strings has numbers, which differ each time. */
__weak __noinline int perl_push_file(__u64 at, __u64 bytes)
{
	struct scratch *s = scratch();

	if (!RUNTIME_ON(RUNTIME_PERL))
		return 0;
	if (!s || !at)
		return 0;
	if ((user_word(at) & PERL_SIX_BYTES) == PERL_EVAL_FILE)
		perl_push_own(s, PERL_TEXT_EVAL, TEXT_FILE, 0);
	else if (bytes)
		push_string(at, bytes, TEXT_NUMBER(TEXT_FILE, FORM_UTF8), 0);
	else
		push_cstring(at, TEXT_NUMBER(TEXT_FILE, FORM_UTF8), 0);
	return 0;
}

/* Append the file of a statement. */
static __always_inline void perl_push_cop_file(struct perl_state *p, __u64 cop)
{
	struct perl_text t = {};

	if (p->version & PERL_THREADED)
		perl_push_file(perl_word(p, cop + PERL_COP_FILE), 0);
	else if (perl_file_glob(p, cop, &t))
		perl_push_file(t.at, t.bytes);
}

/* Append the names of p->frame. */
__weak __noinline int perl_push_names(void)
{
	struct perl_state *p = perl_state();
	struct scratch *s = scratch();
	__u64 name = 0, package = 0;
	struct perl_frame f;

	if (!RUNTIME_ON(RUNTIME_PERL))
		return 0;
	if (!s || !p)
		return 0;
	f = p->frame;
	switch (f.kind) {
	case PERL_SUB:
		perl_sub_name(p, &f, &name, &package);
		perl_push_hek(package, TEXT_CLASS, 0);
		perl_push_hek(name, TEXT_NAME, perl_first_line(p, &f));
		perl_push_file(f.file, 0);
		return 0;
	case PERL_EVAL:
		perl_push_own(s, PERL_TEXT_EVAL, TEXT_NAME, f.first_line);
		break;
	default:
		perl_push_own(s, PERL_TEXT_MAIN, TEXT_NAME, 0);
	}
	perl_push_cop_file(p, f.at);
	return 0;
}

/* --- frames ------------------------------------------------------------------------- */

/* Take the next context; its frame, if it is one, is p->frame.  enum perl_found. */
__weak __noinline int perl_take(void)
{
	struct perl_state *p = perl_state();
	struct perl_frame f = {};
	int found;

	if (!RUNTIME_ON(RUNTIME_PERL))
		return PERL_END;
	if (!p)
		return PERL_END;
	found = perl_next(p, &f);
	p->frame = f;
	return found;
}

/* Append p->frame. */
static __always_inline void perl_append(struct scratch *s, struct perl_state *p)
{
	__u32 cookie = MANAGED_COOKIE(p->frame.cookie * HASH_FACTOR >> 40);
	__u64 function = p->frame.function;
	__u32 line = p->frame.line;

	if (names_due(s, function, cookie))
		perl_push_names();
	push_managed(s, RUNTIME_PERL, cookie, line ? line : MANAGED_AT_MAX, function);
}

__weak __noinline int perl_step(void)
{
	struct perl_state *p = perl_state();
	struct scratch *s = scratch();
	int found = PERL_NOTHING;

	if (!RUNTIME_ON(RUNTIME_PERL))
		return STEP_DONE;
	if (!s || !p)
		return STEP_DONE;
	for (int i = 0; i < PERL_STEPS && found == PERL_NOTHING; i++)
		found = perl_take();
	if (found == PERL_FRAME || found == PERL_LAST)
		perl_append(s, p);
	s->reads += p->reads;
	p->reads = 0;
	switch (found) {
	case PERL_NOTHING:
	case PERL_FRAME:
		return STEP_MORE;
	case PERL_LAST:
		return STEP_DONE;
	case PERL_END:
		return STEP_NONE;
	default:
		p->si = 0;
		return STEP_BROKEN;
	}
}

#endif /* BPF_PERL_BPF_H */
