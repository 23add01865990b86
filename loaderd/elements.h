/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements - writing where the hub says, as far as that is allowed
 *
 * Owns the slabs: fixed-size arrays of 64-byte elements, made when first
 * written, within a budget, and dropped when the hub says so.  What an element
 * means, which are in use, and when one may be overwritten is the hub's affair:
 * the BPF programs are safe for any content at any time.  Kept here: a write
 * stays within a slab, and all slabs within the budget.
 */
#ifndef LOADERD_ELEMENTS_H
#define LOADERD_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/slab.h"

#define SLAB_BYTES	(SLAB_ELEMENTS * sizeof(struct slab_element))
#define SLABS_NEW_MAX	40	/* by one write: each waits for the kernel */

struct slab {
	int fd;				/* -1: not made */
	struct slab_element *at;	/* while a message is worked on */
};

struct elements {
	int outer_fd;			/* map `slabs`; borrowed */
	uint32_t slabs_max, n_slabs;
	struct slab slabs[SLABS_MAX];
};

/* slab0_fd: the slab that is in outer_fd already (rules).  budget in bytes; a
 * quarter more may be made in slabs, since these are never quite full, and one
 * slab beside those of rules.  Both descriptors are borrowed. */
void elements_init(struct elements *e, int outer_fd, int slab0_fd,
		   uint64_t budget);

/*
 * Write n runs; data: the n runs, then the elements of those with
 * TABLE_RUN_NEW, len bytes in all.  0; or MSG_BAD_CONTENT, and no element has
 * changed: they do not fit data, their slabs, or the budget; or -errno: not all
 * is written.
 */
int elements_write(struct elements *e, const void *data, size_t len, uint32_t n);

/* Give a slab back to the kernel.  0; or MSG_BAD_CONTENT: it holds rules, or is
 * not there. */
int elements_drop(struct elements *e, uint32_t slab);

/* The next slab from i on, or SLABS_MAX. */
uint32_t elements_next(const struct elements *e, uint32_t i);

/* A copy in sealed memory: struct slab_copy.  A descriptor, or -errno. */
int elements_copy(struct elements *e, uint32_t i);

#endif /* LOADERD_ELEMENTS_H */
