/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements - writing where the hub says, as far as that is allowed
 *
 * Owns the slabs: fixed-size arrays of 64-byte elements, made when first
 * written.  What an element means, and where a table goes, is the hub's
 * affair; the BPF programs are safe for any content.  Kept here: a write stays
 * within a slab and within the budget, and it never touches an element that
 * BPF programs may be reading.  Such an element is in use from the write that
 * claims it until a grace period after it was freed.  Rules (slabs 0 and 1) may
 * be written at any time.
 */
#ifndef LOADERD_ELEMENTS_H
#define LOADERD_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/slab.h"

#define SLAB_WORDS	(SLAB_ELEMENTS / 64)
#define SLAB_BYTES	(SLAB_ELEMENTS * sizeof(struct slab_element))
#define SLABS_NEW_MAX	40	/* by one write: each waits for the kernel */

struct slab {
	int fd;
	struct slab_element *at;		/* while a message is worked on */
	uint32_t n;			/* elements in use */
	uint64_t in_use[SLAB_WORDS];
	uint64_t freed[2][SLAB_WORDS];	/* of them, since the last tick, and
					 * before it */
};

struct elements {
	int outer_fd;		/* map `slabs`; borrowed */
	uint64_t budget;	/* of elements, rules not counted */
	uint64_t n;		/* in use */
	uint32_t slabs_max, n_slabs;
	struct slab *slabs[SLABS_MAX];
	uint64_t freed_id[2];	/* of the last elements_free() of each generation;
				 * 0: none */
};

/* slab0_fd: the slab that is in outer_fd already (rules).  budget in bytes.
 * Both descriptors are borrowed.  0 or -errno. */
int elements_init(struct elements *e, int outer_fd, int slab0_fd, uint64_t budget);

/*
 * Write n runs; data: the n runs, then the elements of those with
 * TABLE_RUN_NEW, len bytes in all.  0; or MSG_BAD_CONTENT, and nothing has
 * changed: they do not fit data, their slabs, or the budget, or an element is
 * in use; or -errno: not all is written.
 */
int elements_write(struct elements *e, const void *data, size_t len, uint32_t n);

/* These n spans are not used any more; id is not 0.  0; or MSG_BAD_CONTENT, and
 * nothing has changed: an element was not in use, or is a rule. */
int elements_free(struct elements *e, const struct table_span *span, uint32_t n,
		uint64_t id);

/* A second or more has passed since the last call.  What was freed before that
 * one is out of use now.  Returns the last id of that, or 0. */
uint64_t elements_tick(struct elements *e);

/* Nobody waits for what was freed: it counts as in use until freed again. */
void elements_forget_freed(struct elements *e);

/* The next slab from i on, or SLABS_MAX. */
uint32_t elements_next(const struct elements *e, uint32_t i);

/* A copy in sealed memory: struct slab_copy.  A descriptor, or -errno. */
int elements_copy(struct elements *e, uint32_t i);

#endif /* LOADERD_ELEMENTS_H */
