/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs - which elements of loaderd's slabs are in use
 *
 * Known here alone: loaderd writes wherever it is told to, within a slab.  An
 * element is in use until no BPF program can be reading it (tables.h).  Slabs 0
 * and 1 hold rules and are not counted.
 */
#ifndef SYMBOLIZERD_TABLES_SLABS_H
#define SYMBOLIZERD_TABLES_SLABS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"
#include "ipc/message_hub.h"

struct slab_use {
	uint32_t used;		/* elements */
	uint32_t hint;		/* where to search first */
	uint32_t run_max;	/* no more free elements in a row than this */
	uint64_t bits[SLAB_ELEMENTS / 64];	/* 1: in use */
};

struct slabs {
	struct slab_use *v[SLABS_MAX];	/* NULL: all of it is free */
	uint64_t elements;		/* in use */
	uint32_t limit;		/* as many loaderd makes: numbers are below */
};

void slabs_fini(struct slabs *s);	/* all is free then */

/* n elements in a row, within one slab below number `below`; SLABS_MAX: a slab
 * that is not there yet may be begun.  0 and *ret; -ENOSPC; -ENOMEM. */
int slabs_alloc(struct slabs *s, uint32_t n, uint32_t below,
		struct table_span *ret);
void slabs_free(struct slabs *s, const struct table_span *span);

/* Is it within one slab of tables? */
bool slabs_within(const struct table_span *span);

/* Take a span that is within one slab.  False, and nothing is taken, when a
 * part of it is in use, or without memory. */
bool slabs_take(struct slabs *s, const struct table_span *span);

/* The last slab, if the others have ample room for what is in it; or 0. */
uint32_t slabs_spare(const struct slabs *s);

#endif /* SYMBOLIZERD_TABLES_SLABS_H */
