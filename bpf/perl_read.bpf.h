/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * perl_read - from the loop of Perl's interpreter to the subs that it runs
 *
 * Pure functions that read memory only through bpf_probe_read_user(): for the
 * kernel and for the host.  All that is read was written by the profiled process, and an
 * adversary may have chosen where to begin: so an object is taken for a sub, a glob or a
 * package only if its type says so, and an interpreter is one only if its stack is.
 *
 * Perl has a stack of contexts for each entry from C (PERL_SI); a context is a sub, an eval,
 * a loop, a block.  Each entry is one native frame of the loop, so the contexts fall into
 * groups, one for each such frame, the innermost first.  A group ends
 * - with a sub to which the loop does not return (.retop is 0), for C has called it;
 *   if C has wrapped it in an eval, that belongs to it;
 * - where its stack of contexts ends, if anything has run there since the last such end.
 * There is one more loop without contexts of its own: docatch() (pp_ctl.c) begins one for an
 * eval in a sub that C has called, and it runs until that sub returns.  Such a loop has the
 * frames inside of the sub, and the outer one the sub.
 */
#ifndef BPF_PERL_READ_BPF_H
#define BPF_PERL_READ_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "hash.h"
#include "perl.h"
#include "user.bpf.h"

#define PERL_CONTEXTS_MAX	16384	/* of one stack */
#define PERL_WALK_MAX		16384	/* contexts and stacks in a sample */
#define PERL_WINDOW		4	/* contexts that are read at once; a power of two */
#define PERL_ENVS		16	/* passed over in one step */
#define PERL_NAME_MAX		1024	/* bytes of a HEK */
#define PERL_LINE_MAX		0xffffff

/* From the stack pointer in the frame of a loop to the struct jmpenv of docatch(), which has
 * called it.  Others that call a loop have at least a struct jmpenv between. */
#define PERL_CATCH_NEAR		128

static const struct perl_layout perl_layouts[PERL_LAYOUTS] = PERL_LAYOUT_TABLE;

enum perl_kind { PERL_SUB, PERL_EVAL, PERL_MAIN };

/* A frame, found. */
struct perl_frame {
	__u64 function;		/* what stands for it */
	__u64 cookie;		/* differs if that is reused */
	__u64 at;		/* COP */
	__u64 name, stash;	/* of a sub: HEK or GV; its package */
	__u64 file;		/* of a sub: text */
	__u64 start;		/* of a sub: its first op */
	__u32 kind;		/* enum perl_kind */
	__u32 flags;		/* CvFLAGS of a sub */
	__u32 line;		/* 0: not known */
	__u32 first_line;	/* of an eval; of a sub: perl_first_line() */
};

/* What must be 0 when a sample begins. */
#define PERL_STATE_BEGIN	__builtin_offsetof(struct perl_state, frame)

struct perl_state {
	__u64 si;		/* the stack at hand, PERL_SI; 0: no frames are left */
	__u64 prev;		/* the stack outside */
	__u64 base;		/* its contexts */
	__u64 at;		/* COP: where the next frame is */
	__u64 env;		/* the innermost struct jmpenv outside of the loop at hand */
	__s32 ix;		/* the next context; -1: none is left */
	__s32 type;		/* of the stack */
	__u32 version;		/* fact 0 */
	__u32 known;		/* the thread was looked for */
	__u32 inner;		/* no context was taken yet: it may be half made */
	__u32 runs;		/* contexts were passed since the last group ended */
	__u32 wrapped;		/* the last one was called by C, in an eval */
	__u32 catches;		/* the loop at hand is docatch()'s */
	__u32 walked;		/* contexts and stacks in this sample */
	__u32 reads;		/* of memory, since it was set to 0 */
	__s32 window_at;	/* of which context the window is the first */
	__u32 window_n;
	struct perl_frame frame;	/* that was taken last */
	__u64 window[PERL_WINDOW * PERL_CX_WORDS];
	__u64 words[PERL_CV_WORDS];	/* what was read last */
};

enum perl_found {
	PERL_NOTHING,		/* no frame; go on */
	PERL_FRAME,		/* a frame; go on */
	PERL_LAST,		/* a frame, the last of this loop */
	PERL_END,		/* no more frames of this loop */
	PERL_BROKEN,		/* no more frames at all, but there should be */
};

static __always_inline const struct perl_layout *perl_layout(__u64 version)
{
	__u64 i = (PERL_MINOR(version) - PERL_MINOR_MIN) / 2;

	/* keep the mask, which the compiler would drop: the verifier needs it */
	asm volatile("" : "+r"(i));
	return &perl_layouts[i & (PERL_LAYOUTS - 1)];
}

static __always_inline int perl_has_layout(__u32 version)
{
	__u32 minor = PERL_MINOR(version);

	return minor >= PERL_MINOR_MIN && minor <= PERL_MINOR_MAX && !(minor & 1);
}

/* Read n words into p->words; false: they cannot be read, or it is no object. */
static __always_inline int perl_read(struct perl_state *p, __u64 at, __u32 n)
{
	p->reads++;
	return at && !(at & 7) && !bpf_probe_read_user(p->words, 8 * n, (void *)at);
}

/* The head of a value of this type, into p->words. */
static __always_inline int perl_read_sv(struct perl_state *p, __u64 sv, enum perl_sv type)
{
	return perl_read(p, sv, PERL_SV_WORDS) && PERL_SV_TYPE(p->words) == type;
}

static __always_inline __u64 perl_word(struct perl_state *p, __u64 at)
{
	p->reads++;
	return user_word(at);
}

/* --- names -------------------------------------------------------------------------- */

struct perl_text {
	__u64 at;		/* of the characters */
	__u32 bytes;
	__u32 utf8;		/* else Latin-1 */
};

/* Find the text of a HEK; false: there is none, or it is no HEK, which has a NUL behind its
 * text, and flags. */
static __always_inline int perl_read_hek(struct perl_state *p, __u64 hek,
					 struct perl_text *ret)
{
	__u32 len = hek ? user_u32(hek + PERL_HEK_LEN) : 0;
	__u16 end = 0;

	p->reads += 2;
	if (!len || len > PERL_NAME_MAX)
		return 0;
	ret->at = hek + PERL_HEK_KEY;
	ret->bytes = len;
	if (bpf_probe_read_user(&end, sizeof(end), (void *)(ret->at + len)) ||
	    end & ~PERL_HEK_END)
		return 0;
	ret->utf8 = end >> 8 & PERL_HEK_UTF8;
	return 1;
}

/* The HEK that names a package; 0: it has none. */
static __always_inline __u64 perl_stash_name(struct perl_state *p, __u64 stash)
{
	const struct perl_layout *l = perl_layout(p->version);
	__u64 *w = p->words, aux;

	if (!perl_read_sv(p, stash, PERL_SV_HASH) || !(PERL_SV_FLAGS(w) & PERL_SV_AUX))
		return 0;
	aux = w[PERL_SV_BODY] + l->aux;
	if (!l->aux)
		aux = w[PERL_SV_U] + 8 * (perl_word(p, w[PERL_SV_BODY] + PERL_HV_MAX) + 1);
	if (!perl_read(p, aux, PERL_AUX_WORDS))
		return 0;
	/* of several names the first one */
	return PERL_AUX_COUNT(w) && w[0] ? perl_word(p, w[0]) : w[0];
}

/* The body of a glob; 0: it is none. */
static __always_inline __u64 perl_glob(struct perl_state *p, __u64 gv)
{
	__u64 *w = p->words;

	return perl_read_sv(p, gv, PERL_SV_GLOB) && PERL_SV_FLAGS(w) & PERL_SV_GP ?
	       w[PERL_SV_BODY] : 0;
}

/* The HEKs of a sub's name and of its package; 0: it has none. */
static __always_inline void perl_sub_name(struct perl_state *p, const struct perl_frame *f,
					  __u64 *name, __u64 *package)
{
	__u64 body, egv;

	*name = *package = 0;
	if (f->flags & PERL_CV_NAMED) {
		*name = f->name;
		if (!(f->flags & PERL_CV_LEXICAL))
			*package = perl_stash_name(p, f->stash);
		return;
	}
	body = perl_glob(p, f->name);
	if (!body)
		return;
	/* a glob that was assigned to another one goes by its first name */
	egv = perl_word(p, p->words[PERL_SV_U] + PERL_GP_EGV);
	if (egv && egv != f->name)
		body = perl_glob(p, egv);
	if (!body || !perl_read(p, body + PERL_GV_NAME, 2))
		return;
	*name = p->words[0];
	*package = perl_stash_name(p, p->words[1]);
}

/* Without threads a COP's file is a glob called _<FILE. */
static __always_inline int perl_file_glob(struct perl_state *p, __u64 cop,
					  struct perl_text *ret)
{
	__u64 body = perl_glob(p, perl_word(p, cop + PERL_COP_FILE));

	if (!body || !perl_read_hek(p, perl_word(p, body + PERL_GV_NAME), ret) ||
	    ret->bytes <= 2 || user_u16(ret->at) != ('_' | '<' << 8))
		return 0;
	ret->at += 2;
	ret->bytes -= 2;
	return 1;
}

/* --- the thread --------------------------------------------------------------------- */

/* Go to a stack of contexts. */
static __always_inline int perl_enter_stack(struct perl_state *p, __u64 si)
{
	const __u64 *w = p->words;

	p->si = 0;
	if (!perl_read(p, si, PERL_SI_WORDS))
		return 0;
	p->base = w[PERL_SI_CXSTACK];
	p->prev = w[PERL_SI_PREV];
	p->ix = PERL_SI_CXIX(w);
	p->type = PERL_SI_TYPE(w);
	if (p->ix < -1 || p->ix >= PERL_CONTEXTS_MAX || p->ix > PERL_SI_CXMAX(w) ||
	    p->type < PERL_SI_TYPE_MIN || p->type > PERL_SI_TYPE_MAX || p->base & 7)
		return 0;
	p->window_n = 0;
	p->runs = 0;
	p->si = si;
	return 1;
}

/* The interpreter is one, and not other memory, if it says twice which stack it has. */
static __always_inline void perl_begin_at(struct perl_state *p, __u64 at, __u64 si,
					  __u64 stack, __u64 env)
{
	__u64 av;

	if (!at || at & 7 || !perl_enter_stack(p, si))
		return;
	av = p->words[PERL_SI_STACK];
	if ((stack && av != stack) || !perl_read_sv(p, av, PERL_SV_ARRAY)) {
		p->si = 0;
		return;
	}
	p->at = at;
	p->env = env & 7 ? 0 : env;
	p->inner = 1;
}

/* A thread with this interpreter. */
static __always_inline void perl_begin(struct perl_state *p, __u64 interp)
{
	const struct perl_layout *l = perl_layout(p->version);
	__u64 at, stack, si;

	if (!perl_read(p, interp + l->curcop, 3))
		return;
	at = p->words[0];
	stack = p->words[1];
	si = p->words[2];
	/* where the file of a statement is a glob, there are no threads */
	if (stack && at && !(at & 7) && !perl_glob(p, perl_word(p, at + PERL_COP_FILE)))
		perl_begin_at(p, at, si, stack, perl_word(p, interp + l->top_env));
}

/* The same for a perl without threads, by the addresses of its variables. */
static __always_inline void perl_begin_global(struct perl_state *p, __u64 curcop,
					      __u64 curstackinfo, __u64 top_env)
{
	__u64 at = perl_word(p, curcop);
	struct perl_text t;

	/* with threads the interpreter holds all of them; here its file says that it is one */
	if (at && !(at & 7) && perl_file_glob(p, at, &t))
		perl_begin_at(p, at, perl_word(p, curstackinfo), 0, perl_word(p, top_env));
}

/* The loop at hand has this stack pointer: which struct jmpenv is outside of it? */
static __always_inline void perl_enter_loop(struct perl_state *p, __u64 sp)
{
	for (int i = 0; i < PERL_ENVS && p->env && p->env < sp; i++) {
		__u64 next = perl_word(p, p->env + PERL_ENV_PREV);

		p->env = next > p->env && !(next & 7) ? next : 0;
	}
	p->catches = p->env && p->env >= sp && p->env - sp < PERL_CATCH_NEAR;
	p->wrapped = 0;
}

/* --- contexts ----------------------------------------------------------------------- */

/* A context of the stack at hand; NULL: it cannot be read. */
static __always_inline const __u64 *perl_context(struct perl_state *p, __s32 ix)
{
	__u64 i = (__u32)(ix - p->window_at);
	__s32 first = ix < PERL_WINDOW ? 0 : ix - PERL_WINDOW + 1;

	if (ix < 0)
		return (void *)0;
	if (i >= p->window_n) {
		p->window_n = 0;
		p->reads++;
		if (bpf_probe_read_user(p->window, sizeof(p->window),
					(void *)(p->base + 8ULL * PERL_CX_WORDS * first)))
			return (void *)0;
		p->window_at = first;
		p->window_n = PERL_WINDOW;
		i = ix - first;
	}
	/* keep the mask for the verifier */
	asm volatile("" : "+r"(i));
	return &p->window[(i & (PERL_WINDOW - 1)) * PERL_CX_WORDS];
}

/* A sub to which no loop returns.  Was it called by C?  Otherwise its call is the last op of
 * a block of a sort, or of a regular expression.  Sets p->wrapped. */
static __always_inline int perl_called_by_c(struct perl_state *p)
{
	const __u64 *outer = perl_context(p, p->ix - 1);

	if (!outer)
		return 1;
	switch (PERL_CX_TYPE(outer)) {
	case PERL_CX_NULL:
		return 0;
	case PERL_CX_SUB:
		return !(PERL_CX_FLAGS(outer) & PERL_CX_FAKE);
	case PERL_CX_EVAL:
		p->wrapped = !outer[PERL_CX_RETOP] && !(PERL_CX_FLAGS(outer) & PERL_CX_REAL);
		return !p->wrapped;
	default:
		return 1;
	}
}

/* What is known of a sub by its CV; false: it is none. */
static __always_inline int perl_read_cv(struct perl_state *p, __u64 cv, __u32 cx,
					struct perl_frame *f)
{
	const __u64 *w = p->words;

	if (!perl_read_sv(p, cv, cx == PERL_CX_FORMAT ? PERL_SV_FORMAT : PERL_SV_CODE) ||
	    !perl_read(p, w[PERL_SV_BODY] + PERL_CV_BODY, PERL_CV_WORDS))
		return 0;
	f->kind = PERL_SUB;
	f->name = w[PERL_CV_NAME];
	f->stash = w[PERL_CV_STASH];
	f->file = w[PERL_CV_FILE];
	f->start = w[PERL_CV_START];
	f->flags = PERL_CV_FLAGS(w);
	/* closures share what was compiled, and so do threads */
	f->function = w[PERL_CV_ROOT] ? w[PERL_CV_ROOT] : cv;
	f->cookie = (f->name * HASH_FACTOR + f->stash) * HASH_FACTOR + w[PERL_CV_START];
	return 1;
}

/* The line of a COP; 0: not known. */
static __always_inline __u32 perl_line(struct perl_state *p, __u64 cop)
{
	__u32 line = cop && !(cop & 7) ? user_u32(cop + PERL_COP_LINE) : 0;

	p->reads++;
	return line <= PERL_LINE_MAX ? line : 0;
}

/* The first line of a sub: of its first op, if that is a statement, as f->at is.  0: not
 * known. */
static __always_inline __u32 perl_first_line(struct perl_state *p, const struct perl_frame *f)
{
	__u64 op = f->start && !(f->start & 7) ? perl_word(p, f->at + PERL_OP_PPADDR) : 0;

	return op && perl_word(p, f->start + PERL_OP_PPADDR) == op ? perl_line(p, f->start) : 0;
}

/*
 * The line of a sub that was read last.  One that has just been called has not said yet
 * where it is: then its first line is taken, not that of its caller.  A recursive one may be
 * at the statement that has called it.
 */
static __always_inline void perl_sub_line(struct perl_state *p, struct perl_frame *f,
					  __u64 oldcop)
{
	__s32 depth = PERL_CV_DEPTH(p->words);

	f->line = 0;
	if (p->inner && f->at == oldcop && depth <= 1)
		f->line = perl_first_line(p, f);
	if (!f->line)
		f->line = perl_line(p, f->at);
}

static __always_inline enum perl_found perl_next_sub(struct perl_state *p, const __u64 *cx,
						     struct perl_frame *f)
{
	__u64 oldcop = cx[PERL_CX_OLDCOP], retop = cx[PERL_CX_RETOP];
	int ends;

	if (!perl_read_cv(p, cx[PERL_CX_CV], PERL_CX_TYPE(cx), f)) {
		if (!p->inner)
			return PERL_BROKEN;
		/* it is counted before it is filled in */
		p->inner = 0;
		p->ix--;
		return PERL_NOTHING;
	}
	f->at = p->at;
	perl_sub_line(p, f, oldcop);
	ends = !retop && perl_called_by_c(p);
	if (ends && p->catches)
		return PERL_END;
	p->at = oldcop;
	p->inner = 0;
	p->runs = !ends;
	p->ix--;
	return ends ? PERL_LAST : PERL_FRAME;
}

/* An eval stands for itself where it is written: by its statement. */
static __always_inline enum perl_found perl_next_eval(struct perl_state *p, const __u64 *cx,
						      struct perl_frame *f)
{
	__u32 real = PERL_CX_FLAGS(cx) & PERL_CX_REAL, by_c = !cx[PERL_CX_RETOP];
	int ends = by_c && (real || p->wrapped);

	p->inner = 0;
	p->wrapped = 0;
	p->ix--;
	if (!ends && !by_c)
		p->runs = 1;
	if (ends)
		p->runs = 0;
	if (PERL_CX_FLAGS(cx) & PERL_CX_TRY)
		return ends ? PERL_END : PERL_NOTHING;
	f->kind = PERL_EVAL;
	f->at = p->at;
	f->function = cx[PERL_CX_OLDCOP];
	f->line = perl_line(p, f->at);
	f->first_line = perl_line(p, f->function);
	f->cookie = cx[PERL_CX_REQUIRED] * HASH_FACTOR + f->first_line;
	p->at = cx[PERL_CX_OLDCOP];
	return ends ? PERL_LAST : PERL_FRAME;
}

/* The stack at hand has no more contexts. */
static __always_inline enum perl_found perl_next_stack(struct perl_state *p,
						       struct perl_frame *f)
{
	__u32 runs = p->runs;

	if (p->type == PERL_SI_MAIN) {
		f->kind = PERL_MAIN;
		f->at = p->at;
		f->function = p->si;
		f->cookie = 0;
		f->line = perl_line(p, f->at);
		p->si = 0;
		return PERL_LAST;
	}
	if (runs && p->catches)
		return PERL_END;
	if (!perl_enter_stack(p, p->prev))
		return PERL_BROKEN;
	return runs ? PERL_END : PERL_NOTHING;
}

/* Take the next context. */
static __always_inline enum perl_found perl_next(struct perl_state *p, struct perl_frame *f)
{
	const __u64 *cx;

	if (!p->si)
		return PERL_END;
	if (p->walked++ >= PERL_WALK_MAX)
		return PERL_BROKEN;
	if (p->ix < 0)
		return perl_next_stack(p, f);
	cx = perl_context(p, p->ix);
	if (!cx)
		return PERL_BROKEN;
	switch (PERL_CX_TYPE(cx)) {
	case PERL_CX_SUB:
		if (!(PERL_CX_FLAGS(cx) & PERL_CX_FAKE))
			return perl_next_sub(p, cx, f);
		break;
	case PERL_CX_FORMAT:
		return perl_next_sub(p, cx, f);
	case PERL_CX_EVAL:
		return perl_next_eval(p, cx, f);
	case PERL_CX_SUBST:
		break;
	default:
		p->runs = 1;
	}
	p->inner = 0;
	p->ix--;
	return PERL_NOTHING;
}

#endif /* BPF_PERL_READ_BPF_H */
