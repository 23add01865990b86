/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements - the slabs, which hold the tables
 *
 * Arrays of fixed size of 64-byte elements, made and dropped when the hub says so,
 * within a budget.  The hub maps and writes them, and alone knows what an element means,
 * which are in use, and when one may be overwritten.  The BPF programs are safe for any
 * content at any time, and the kernel keeps every write within the slab.
 */
#ifndef LOADERD_ELEMENTS_H
#define LOADERD_ELEMENTS_H

#include <stdint.h>

#include "bpf/slab.h"

#define SLAB_BYTES	(SLAB_ELEMENTS * sizeof(struct slab_element))

struct elements {
	int outer_fd;			/* map `slabs`; borrowed */
	uint32_t slabs_max, n_slabs;
	int slabs[SLABS_MAX];		/* -1: not made */
};

/* Take the slabs of a former loaderd from the store.  slab0_fd: the slab that is in
 * outer_fd already (rules).  budget: in bytes; slabs may have a quarter more, since they
 * are never quite full, and there may be one more beside those of rules.  Both descriptors
 * are borrowed. */
void elements_init(struct elements *e, int outer_fd, int slab0_fd,
		   uint64_t budget);

/* Make a slab, unless it is there.  0; MSG_BAD_CONTENT: no such number, or over the
 * budget; or -errno. */
int elements_make(struct elements *e, uint32_t i);

/* Give a slab back to the kernel.  0; or MSG_BAD_CONTENT: it holds rules, or is
 * not there. */
int elements_drop(struct elements *e, uint32_t slab);

#endif /* LOADERD_ELEMENTS_H */
