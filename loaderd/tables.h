/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables - unwind tables and rules in BPF maps
 *
 * Owns the slabs: fixed-size arrays of 64-byte elements, made when needed.
 * A table comes from symbolizerd (bpf/table.h, "on its way"); what is checked
 * here keeps the allocator and the rule counts right.  The BPF programs are
 * safe for any content.
 */
#ifndef LOADERD_TABLES_H
#define LOADERD_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"

struct run {
	uint32_t pos;		/* slab << SLAB_SHIFT | element */
	uint32_t n;		/* elements */
};

/* What one installed table holds. */
struct table_ref {
	uint32_t dir;		/* position of its directory */
	uint32_t pages;
	uint32_t rows;
	uint32_t elements;
	struct run *runs;
	uint32_t n_runs;
	uint16_t *rules;	/* global numbers, each counted once */
	uint32_t n_rules;
};

struct slab {
	int fd;			/* -1: not made */
	uint32_t used;		/* elements */
	uint32_t hint;		/* where to search first */
	uint32_t run_max;	/* no more free elements in a row than this */
	uint64_t bits[SLAB_ELEMENTS / 64];	/* 1: in use */
};

struct tables {
	int outer_fd;		/* map `slabs`; borrowed */
	uint64_t budget;	/* bytes of elements, rules not counted */
	uint64_t elements;	/* in use */
	uint64_t rows;
	uint32_t n_slabs;
	uint32_t n_rules;	/* in use */
	uint32_t rule_top;	/* numbers ever used are below */
	uint32_t n_rule_free;
	uint16_t *rule_free;	/* [RULES_MAX]: of those, not used now */
	struct slab *slabs[SLABS_MAX];
	uint32_t *rule_refs;	/* [RULES_MAX] */
	struct unwind_rule *rules;	/* [RULES_MAX], a copy */
	uint16_t *rule_hash;	/* number by hash, open addressing; 0: none */
};

/* slab0_fd: the slab that is in outer_fd already (rules).  budget in bytes.
 * Both descriptors are borrowed.  0 or -errno. */
int tables_init(struct tables *t, int outer_fd, int slab0_fd, uint64_t budget);

/*
 * Check and install len bytes.  Returns 0 and *ret; -EPROTO: not a table;
 * -EFBIG: more than the whole budget; -ENOSPC: budget or a limit (give
 * something back and try again); -errno.
 * On failure nothing has changed.
 */
int tables_install(struct tables *t, const void *data, size_t len,
		   struct table_ref *ret);

/* The last slab, if the others have ample room for what is in it; or 0. */
uint32_t tables_spare(const struct tables *t);

/* Copy a table to slabs below this one.  The caller gives the old one back when
 * nobody sees it any more.  0 and *ret; or -errno, and nothing has changed. */
int tables_copy(struct tables *t, const struct table_ref *ref, uint32_t below,
		struct table_ref *ret);

/* Has a table a part in this slab? */
bool tables_in(const struct table_ref *ref, uint32_t slab);

/* Give all of a table back.  No BPF program may still see it. */
void tables_release(struct tables *t, struct table_ref *ref);

#endif /* LOADERD_TABLES_H */
