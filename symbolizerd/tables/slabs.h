/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs - which elements of loaderd's slabs are in use
 *
 * Only this process knows: loaderd writes wherever it is told to, within a slab.  An
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
	uint32_t hint;		/* element to search from */
	uint32_t run_max;	/* no run of free elements is longer */
	uint64_t bits[SLAB_ELEMENTS / 64];	/* 1: in use */
};

struct slabs {
	struct slab_use *v[SLABS_MAX];	/* NULL: free as a whole */
	uint64_t elements;		/* in use */
	uint32_t limit;		/* slabs that loaderd makes: numbers are below */
};

void slabs_fini(struct slabs *s);	/* all is free then */

/* Take n successive elements in one slab below number `below`; SLABS_MAX: a new slab
 * may be begun.  0 and *ret; -ENOSPC; -ENOMEM. */
int slabs_alloc(struct slabs *s, uint32_t n, uint32_t below,
		struct table_span *ret);
void slabs_free(struct slabs *s, const struct table_span *span);

/* Is the span within one slab of tables? */
bool slabs_within(const struct table_span *span);

/* Take this span, which is within one slab.  False, and nothing is taken, if a part
 * of it is in use, or without memory. */
bool slabs_take(struct slabs *s, const struct table_span *span);

/* The last slab, if the others have ample room for its contents; otherwise 0. */
uint32_t slabs_spare(const struct slabs *s);

#endif /* SYMBOLIZERD_TABLES_SLABS_H */
