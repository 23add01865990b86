/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * perl - where Perl keeps its contexts, subs and names, by version
 *
 * The numbers are constants here, not sent by workers: so the table of a file can choose
 * a version and the places of its variables, but not which words of an object are read.
 *
 * Taken by offsetof() from the headers of 5.32.1, 5.34.3, 5.36.0, 5.38.2, 5.40.1, 5.42.3
 * and 5.44.0 (the files are named below).  64 bits.
 */
#ifndef BPF_PERL_H
#define BPF_PERL_H

#include <linux/types.h>

/* Facts of the file (facts.bpf.h).  Fact 0: the minor version of 5.x, PERL_THREADED, and the
 * place of PL_thr_key or of PL_curcop.  Without threads two more: the places of
 * PL_curstackinfo and PL_top_env. */
#define PERL_THREADED		0x100
#define PERL_MINOR(which)	((which) & 0xff)
#define PERL_MINOR_MIN		32
#define PERL_MINOR_MAX		44
#define PERL_LAYOUTS		8	/* a power of two */
enum perl_fact { PERL_FACT_ROOT, PERL_FACT_STACK, PERL_FACT_ENV };

struct perl_layout {
	/* intrpvar.h, of the interpreter of a thread: PL_curcop, which PL_curstack and
	 * PL_curstackinfo follow; PL_top_env */
	__u16 curcop, top_env;
	/* hv.h, HvAUX(): from the body of a hash; 0: it lies behind HvARRAY() */
	__u16 aux;
};

/* By half the minor version, from PERL_MINOR_MIN on. */
#define PERL_LAYOUT_TABLE {						\
	[0] = { .curcop = 0xe0, .top_env = 0x308 },			\
	[1] = { .curcop = 0xd0, .top_env = 0x2f8 },			\
	[2] = { .curcop = 0xd0, .top_env = 0x2f8, .aux = 32 },		\
	[3] = { .curcop = 0xd0, .top_env = 0x308, .aux = 32 },		\
	[4] = { .curcop = 0xd0, .top_env = 0x308, .aux = 32 },		\
	[5] = { .curcop = 0xd0, .top_env = 0x308, .aux = 32 },		\
	[6] = { .curcop = 0xd0, .top_env = 0x308, .aux = 32 },		\
}

/* cop.h, struct stackinfo (PERL_SI): words, and halves of words */
#define PERL_SI_WORDS		6
#define PERL_SI_STACK		0	/* an AV; PL_curstack */
#define PERL_SI_CXSTACK		1
#define PERL_SI_PREV		2	/* outwards */
#define PERL_SI_CXIX(w)		((__s32)(w)[4])
#define PERL_SI_CXMAX(w)	((__s32)((w)[4] >> 32))
#define PERL_SI_TYPE(w)		((__s32)((w)[5] >> 32))
#define PERL_SI_MAIN		1	/* PERLSI_MAIN: what lies beyond is another's */
#define PERL_SI_TYPE_MIN	(-1)	/* PERLSI_UNKNOWN */
#define PERL_SI_TYPE_MAX	31	/* PERLSI_REGCOMP is 10; 5.42 has some more */

/* cop.h, struct context (PERL_CONTEXT): words */
#define PERL_CX_WORDS		13
#define PERL_CX_TYPE(w)		((__u32)(w)[0] & 15)
#define PERL_CX_FLAGS(w)	((__u32)(w)[0] & 0xf0)
#define PERL_CX_OLDCOP		2
#define PERL_CX_RETOP		6	/* sub, format, eval */
#define PERL_CX_CV		9	/* sub, format */
#define PERL_CX_REQUIRED	8	/* eval: old_namesv, of require */
enum perl_cx {
	PERL_CX_NULL = 0,		/* the block of a sort */
	PERL_CX_SUB = 9,
	PERL_CX_FORMAT = 10,
	PERL_CX_EVAL = 11,
	PERL_CX_SUBST = 12,		/* of another form */
};
#define PERL_CX_FAKE		0x80	/* sub: CXp_SUB_RE_FAKE, (?{ }) in its own scope */
#define PERL_CX_REAL		0x20	/* eval: CXp_REAL, of a string, or require */
#define PERL_CX_TRY		0x80	/* eval: CXp_TRY, no frame for caller() */

/* cop.h, struct jmpenv: the one outside */
#define PERL_ENV_PREV		0

/* sv.h, the head of a value: body; reference count and flags; sv_u */
#define PERL_SV_WORDS		3
#define PERL_SV_BODY		0
#define PERL_SV_FLAGS(w)	((__u32)((w)[1] >> 32))
#define PERL_SV_U		2
#define PERL_SV_TYPE(w)		(PERL_SV_FLAGS(w) & 0xff)
enum perl_sv {				/* svtype */
	PERL_SV_GLOB = 9,
	PERL_SV_ARRAY = 11,
	PERL_SV_HASH = 12,
	PERL_SV_CODE = 13,
	PERL_SV_FORMAT = 14,
};
#define PERL_SV_GP		0x8000		/* SVpgv_GP */
#define PERL_SV_AUX		0x02000000	/* SVf_OOK, SVphv_HasAUX */

/* cv.h, the body of a CV, from xcv_stash on: words */
#define PERL_CV_BODY		32
#define PERL_CV_WORDS		9
#define PERL_CV_STASH		0
#define PERL_CV_START		1
#define PERL_CV_ROOT		2
#define PERL_CV_NAME		3	/* xcv_gv_u: a HEK or a GV */
#define PERL_CV_FILE		4
#define PERL_CV_FLAGS(w)	((__u32)((w)[7] >> 32))
#define PERL_CV_DEPTH(w)	((__s32)(w)[8])
#define PERL_CV_NAMED		0x8000	/* CVf_NAMED */
#define PERL_CV_LEXICAL		0x10000	/* CVf_LEXICAL */

/* gv.h: of struct gp; the body of a GV */
#define PERL_GP_EGV		56
#define PERL_GV_NAME		32
#define PERL_GV_STASH		40

/* hv.h: of a body; of struct xpvhv_aux; of struct hek */
#define PERL_HV_MAX		24
#define PERL_AUX_WORDS		4
#define PERL_AUX_COUNT(w)	((__s32)((w)[3] >> 32))
#define PERL_HEK_LEN		4
#define PERL_HEK_KEY		8
#define PERL_HEK_END		0x0f00	/* behind the text: a NUL, flags: HVhek_UTF8 and others */
#define PERL_HEK_UTF8		1	/* of these: HVhek_UTF8 */

/* op.h, cop.h: of an op; of a COP */
#define PERL_OP_PPADDR		16
#define PERL_COP_LINE		36
#define PERL_COP_FILE		48	/* threaded: a text; else a GV called _<FILE */

#endif /* BPF_PERL_H */
