/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * table - layout of unwind tables in memory
 *
 * A table gives, for a place in a file, the rule that leads from a frame to its caller.
 * Places are *file offsets*, not virtual
 * addresses, so no program headers are needed in the kernel, and a file with
 * several executable segments is nothing special.
 *
 * Rows are 4 bytes, sorted, per 64 KiB page of the file; rules are shared by
 * all files.  The unit of storage is an element of 64 bytes (slab.h).
 *
 *	file_entry.dir -> directory: 8 dir_entry an element, one a page
 *	dir_entry.first -> ceil(n / 32) index elements, then n row elements
 *
 * An index element holds the low half of the first row of 32 row elements, so
 * a lookup touches one or two lines of index and one of rows.
 *
 * Two forms: in the kernel (struct file_entry; positions of elements name slab and
 * element, rules are global numbers), and on the way from a worker to the hub (struct
 * table_hdr in a sealed memfd; positions and rules are local to it).  The hub assigns
 * elements and numbers of rules.
 */
#ifndef BPF_TABLE_H
#define BPF_TABLE_H

#include <linux/types.h>

#include "file.h"
#include "slab.h"

#define TABLE_PAGE_SHIFT	16	/* 64 KiB of the file a directory entry */
#define ELEMENT_ROWS		16
#define INDEX_FANOUT		32	/* row elements an index element covers */
#define PAGE_ELEMENTS_MAX	4096	/* 65,536 rows of one page */
#define PAD_LOW			0xffff	/* pads index elements */

#define RULES_MAX		65536

/* How to compute the CFA (canonical frame address) of a frame. */
enum cfa_kind {
	CFA_NONE = 0,		/* nothing known: frame pointer, or stop */
	CFA_END,		/* outermost frame */
	CFA_SP,			/* sp + cfa_off */
	CFA_FP,			/* fp + cfa_off */
	CFA_REG,		/* regs[cfa_reg] + cfa_off */
	CFA_SP_DEREF,		/* *(sp + cfa_off) + aux */
	CFA_FP_DEREF,		/* *(fp + cfa_off) + aux */
	CFA_REG_DEREF,		/* *(regs[cfa_reg] + cfa_off) + aux */
	CFA_PLT,		/* x86-64: sp + 8 + ((pc & 15) >= 11 ? 8 : 0) */
	CFA_SIGNAL,		/* signal frame: all from the ucontext */
	CFA_UNSUPPORTED,	/* CFI says something that rules cannot */
	CFA_RUNTIME,		/* no rule: what the unwinder of the file's runtime
				 * must know (RUNTIME_* below); at places below
				 * RUNTIME_FACTS, where no code is: fact by fact.  At
				 * other places: which text lies there */
	CFA__MAX
};

/* Where the return address is. */
enum ra_kind {
	RA_CFA = 0,		/* *(cfa + ra_off): -8 on x86-64 */
	RA_REG,			/* in regs[ra_reg]: LR; vfork(): rdi */
	RA__MAX
};

/*
 * Registers that a CFA may depend on, apart from SP and FP.  First the callee-saved
 * ones, which are followed from frame to frame: x86-64 rbx r12 r13 r14 r15; arm64 x19 to
 * x23.  Then those that calls may clobber, known only where execution was
 * interrupted: x86-64 rax rdx rcx rsi rdi r8 r9 r10 r11; arm64 x30 (LR) x0 x13.
 */
#define SAVED_REGS	5
#define SAVED_FP	SAVED_REGS	/* bit of FP in .saved and .by_fp */
#define REGS_MAX	16		/* a power of two */
#define RULE_INJECTED	0x40		/* in .saved: the frame was put between two
					 * instructions of the caller */
#define RULE_ELSEWHERE	0x80		/* in .saved: the caller's frame lies on
					 * another stack, maybe at a lower address */

#define RULE_LOOP		0x40		/* in .by_fp: the loop of an interpreter,
					 * whose unwinder has frames for it */
#define RULE_LOOP_PART		0x80		/* in .by_fp: a function that such a
					 * loop calls and that is part of it */

#define RUNTIME_FACTS	16		/* of a file: its first bytes are ELF's */
/* The words of a rule of CFA_RUNTIME. */
#define RUNTIME_VERSION(r)	((__u32)(r)->cfa_off)
#define RUNTIME_TEXT(r)		((__u32)(r)->aux)
#define RUNTIME_AUX(r)		((r)->aux)
#define RUNTIME_ROOT(r)		((__u64)(__u32)(r)->ra_off |		\
				 (__u64)(__u32)(r)->fp_off << 32)

struct unwind_rule {
	__u8 cfa;		/* enum cfa_kind */
	__u8 ra;		/* enum ra_kind */
	__u8 saved;		/* bit i: regs[i] is at cfa + 8 * reg_off[i];
				 * bit SAVED_FP: FP is at cfa + fp_off;
				 * RULE_* */
	__u8 cfa_reg;		/* for CFA_REG*: index below REGS_MAX */
	__s32 cfa_off;		/* bytes */
	__s32 aux;		/* bytes, added after a dereference */
	__s32 fp_off;
	__s32 ra_off;
	__s16 reg_off[SAVED_REGS];	/* in units of 8 bytes */
	__u8 by_fp;		/* of .saved: at fp + ..., not at cfa + ... */
	__u8 ra_reg;		/* for RA_REG */
};
_Static_assert(sizeof(struct unwind_rule) == 32, "unwind_rule: layout");

/* Global and local rule numbers 0 and 1 are fixed. */
#define RULE_NONE	0	/* .cfa = CFA_NONE, all else 0 */
#define RULE_END	1	/* .cfa = CFA_END, all else 0 */

struct unwind_row {
	__u16 low;		/* low half of the first file offset */
	__u16 rule;
};

struct dir_entry {
	__u32 first;		/* kernel: slab << SLAB_SHIFT | element;
				 * memfd: index into the elements */
	__u16 n;		/* row elements; 0: rule_before holds throughout */
	__u16 rule_before;	/* for places before the page's first row */
};

union element {
	struct unwind_row row[ELEMENT_ROWS];	/* padded with copies of the
						 * last row, low = PAD_LOW */
	__u16 index[INDEX_FANOUT];		/* padded with PAD_LOW */
	struct dir_entry dir[8];
	struct unwind_rule rule[2];
};
_Static_assert(sizeof(union element) == sizeof(struct slab_element),
	       "element: one cache line");

/* A slab on its way from loaderd to the successor of a hub. */
struct slab_copy {
	union element element[SLAB_ELEMENTS];
};

/*
 * A table on its way: this header, then n_rules rules, then `pages` directory
 * entries (padded to a multiple of 64 bytes), then n_elements elements, and
 * nothing more.  rules[0] and [1] are RULE_NONE and RULE_END.  Each section
 * starts at a multiple of 32 bytes.
 */
#define TABLE_MAGIC	0x31744674u	/* "tFt1", little endian */
struct table_hdr {
	__u32 magic;
	__u32 n_rules;		/* 2 .. RULES_MAX */
	__u32 pages;		/* 0: no unwind information; then all else 0 */
	__u32 n_elements;
	__u32 n_rows;		/* for statistics */
	__u32 pad[3];		/* 0 */
};
_Static_assert(sizeof(struct table_hdr) == 32, "table_hdr: layout");
_Static_assert(RULES_MAX * sizeof(struct unwind_rule) ==
	       RULE_SLABS * SLAB_ELEMENTS * sizeof(union element),
	       "all rules fit their slabs");

#endif /* BPF_TABLE_H */
