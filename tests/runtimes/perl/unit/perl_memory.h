/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perl_memory - Perl's objects in made-up memory, as a version lays them out
 *
 * The test says where the memory is; what is made lies one behind the other, at
 * multiples of 16.  To be included after bpf/perl_read.bpf.h.
 */
#ifndef TESTS_PERL_MEMORY_H
#define TESTS_PERL_MEMORY_H

#include <string.h>

#include "tests/unit/harness.h"

struct perl_memory {
	__u64 start;		/* address in the process */
	char *b;		/* the same, here */
	size_t size, n;
	__u32 version;		/* fact 0 */
	__u64 interp, si;	/* of the thread: the innermost stack of contexts */
	__u64 stash;		/* package main */
	__u64 env;		/* innermost struct jmpenv */
};

static struct perl_memory pl;

static inline void *pl_at(__u64 addr)
{
	CHECK(addr - pl.start < pl.size);
	return pl.b + (addr - pl.start);
}

static inline void pl_put(__u64 addr, __u64 v)
{
	memcpy(pl_at(addr), &v, sizeof(v));
}

static inline void pl_put32(__u64 addr, __u32 v)
{
	memcpy(pl_at(addr), &v, sizeof(v));
}

static inline __u64 pl_get(__u64 addr)
{
	__u64 v;

	memcpy(&v, pl_at(addr), sizeof(v));
	return v;
}

static inline __u64 pl_alloc(size_t len)
{
	__u64 at = pl.start + pl.n;

	CHECK(pl.size - pl.n >= len + 16);
	pl.n = (pl.n + len + 15) / 16 * 16;
	return at;
}

static inline __u64 pl_text(const char *text)
{
	__u64 at = pl_alloc(strlen(text) + 1);

	strcpy(pl_at(at), text);
	return at;
}

/* flags: HVhek_* */
static inline __u64 pl_hek(const char *text, __u8 flags)
{
	size_t len = strlen(text);
	__u64 hek = pl_alloc(8 + len + 2);

	pl_put32(hek + 4, (__u32)len);
	strcpy(pl_at(hek + 8), text);
	*(__u8 *)pl_at(hek + 8 + len + 1) = flags;
	return hek;
}

/* The head of a value; the body is its own. */
static inline __u64 pl_sv(__u64 body, __u32 flags, __u64 u)
{
	__u64 sv = pl_alloc(24);

	pl_put(sv, body);
	pl_put32(sv + 8, 1);
	pl_put32(sv + 12, flags);
	pl_put(sv + 16, u);
	return sv;
}

/* A package; n: of names, with HvNAME the first.  0: the one name is no array. */
static inline __u64 pl_stash(const char *name, __s32 n)
{
	const struct perl_layout *l = perl_layout(pl.version);
	__u64 body = pl_alloc(128), array = pl_alloc(8 * 8 + 64), names = pl_alloc(16), aux;

	pl_put(body + 24, 7);			/* xhv_max */
	aux = l->aux ? body + l->aux : array + 8 * 8;
	pl_put(names, pl_hek(name, 0));
	pl_put(aux, n ? names : pl_get(names));
	pl_put32(aux + 28, (__u32)n);
	return pl_sv(body, PERL_SV_HASH | PERL_SV_AUX, array);
}

/* A glob; egv: where it comes from, or 0. */
static inline __u64 pl_glob(const char *name, __u64 stash, __u64 egv)
{
	__u64 body = pl_alloc(64), gp = pl_alloc(96);

	pl_put(gp + 56, egv);
	pl_put(body + 32, pl_hek(name, 0));
	pl_put(body + 40, stash);
	return pl_sv(body, PERL_SV_GLOB | PERL_SV_GP, gp);
}

/* A statement. */
static inline __u64 pl_cop(const char *file, __u32 line)
{
	__u64 cop = pl_alloc(96);

	pl_put(cop + 16, 0x4000);		/* Perl_pp_nextstate */
	pl_put32(cop + 36, line);
	if (pl.version & PERL_THREADED) {
		pl_put(cop + 48, pl_text(file));
	} else {
		char name[64] = "_<";

		strcat(name, file);
		pl_put(cop + 48, pl_glob(name, pl.stash, 0));
	}
	return cop;
}

/* A sub or a format; by: a HEK if flags say so, else a GV. */
static inline __u64 pl_sub_of(enum perl_sv type, __u64 by, __u64 stash, __u32 flags,
			      __u64 start)
{
	__u64 body = pl_alloc(112);

	pl_put(body + 32, stash);
	pl_put(body + 40, start);
	pl_put(body + 48, pl_alloc(48));	/* xcv_root */
	pl_put(body + 56, by);
	pl_put(body + 64, pl_text("/a/sub.pl"));
	pl_put32(body + 92, flags);
	pl_put32(body + 96, 1);			/* xcv_depth */
	return pl_sv(body, type, 0);
}

/* A named sub of package main, whose first line is `line`. */
static inline __u64 pl_sub(const char *name, __u32 line)
{
	return pl_sub_of(PERL_SV_CODE, pl_hek(name, 0), pl.stash, PERL_CV_NAMED,
			 pl_cop("/a/sub.pl", line));
}

/* A stack of contexts, inside of the last one. */
static inline __u64 pl_stack(__s32 type)
{
	__u64 si = pl_alloc(56);

	pl_put(si, pl_sv(pl_alloc(32), PERL_SV_ARRAY, 0));
	pl_put(si + 8, pl_alloc(104 * 24));
	pl_put(si + 16, pl.si);
	pl_put32(si + 32, UINT32_MAX);		/* none */
	pl_put32(si + 36, 23);
	pl_put32(si + 44, (__u32)type);
	pl.si = si;
	return si;
}

/* One more context; its address. */
static inline __u64 pl_context(__u32 type, __u64 oldcop, __u64 retop)
{
	__u32 ix = (__u32)pl_get(pl.si + 32) + 1;
	__u64 cx = pl_get(pl.si + 8) + 104 * ix;

	CHECK(ix < 24);
	pl_put32(pl.si + 32, ix);
	memset(pl_at(cx), 0, 104);
	*(__u8 *)pl_at(cx) = (__u8)type;
	pl_put(cx + 16, oldcop);
	pl_put(cx + 48, retop);
	return cx;
}

#define PL_BACK	0x5000	/* some op: the loop returns to it */

/* A sub is called at this statement; retop: PL_BACK, or 0: C has called it. */
static inline __u64 pl_call(__u64 cv, __u64 oldcop, __u64 retop)
{
	__u64 cx = pl_context(PERL_CX_SUB, oldcop, retop);

	pl_put(cx + 72, cv);
	return cx;
}

/* The thread runs this statement in the innermost stack. */
static inline void pl_runs(__u64 cop)
{
	const struct perl_layout *l = perl_layout(pl.version);

	pl_put(pl.interp + l->curcop, cop);
	pl_put(pl.interp + l->curcop + 8, pl_get(pl.si));
	pl_put(pl.interp + l->curcop + 16, pl.si);
	pl_put(pl.interp + l->top_env, pl.env);
}

/* An interpreter with nothing but the stack of its program. */
static inline void pl_begin(__u32 version, char *b, __u64 start, size_t size)
{
	memset(b, 0, size);
	pl = (struct perl_memory){ .start = start, .b = b, .size = size, .version = version };
	pl_alloc(64);
	pl.interp = pl_alloc(4096);
	pl.stash = pl_stash("main", 0);
	pl_stack(PERL_SI_MAIN);
}

#define EACH_PERL(v)							\
	for (__u32 v = PERL_MINOR_MIN; v <= PERL_MINOR_MAX + PERL_THREADED; v++) \
		if (perl_has_layout(v) && (v <= PERL_MINOR_MAX || v & PERL_THREADED))

#endif /* TESTS_PERL_MEMORY_H */
