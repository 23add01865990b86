/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * slab - storage of tables and rules
 *
 * Tables and rules are kept in elements of 64 bytes, one cache line, and these
 * in slabs: arrays of one fixed size.  loaderd creates them without knowing their
 * contents; the hub writes them: table.h.
 */
#ifndef BPF_SLAB_H
#define BPF_SLAB_H

#include <linux/types.h>

#define SLAB_SHIFT		14	/* elements of a slab: 1 MiB of 64 bytes */
#define SLAB_ELEMENTS		(1u << SLAB_SHIFT)
#define SLABS_MAX		1024	/* 1 GiB; the byte budget is far lower */
#define RULE_SLABS		2	/* slabs 0 and 1 hold the rules */

struct slab_element {
	__u64 word[8];
};

/* Consecutive elements of one slab. */
struct table_span {
	__u32 pos;		/* slab << SLAB_SHIFT | element, of the first */
	__u32 n;		/* 1 or more */
};

#endif /* BPF_SLAB_H */
