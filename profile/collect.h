/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect - many batches merged into one
 *
 * When there is no room, every second event is dropped, by a hash of its time,
 * and the frequency of the merged batch is halved: the remaining events still
 * stand for all the CPU time.  If half the frequency is no whole number, new
 * batches are refused instead.
 */
#ifndef PROFILE_COLLECT_H
#define PROFILE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

#define COLLECT_RECENT	64	/* remembered, to recognise one that is sent again */

struct collect {
	struct batch_builder *builder;
	uint64_t estimate;	/* bytes: the merged batch is not larger */
	uint64_t seed;		/* of the hashes: profiled processes choose the content */
	uint64_t recent[COLLECT_RECENT];	/* hashes of batches */
	uint64_t n_batches;
	uint64_t events;	/* accepted */
	uint64_t refused;	/* events without room */
	uint64_t start_ns, end_ns;
	uint32_t frequency;	/* of the batches, Hz */
	uint32_t thin;		/* one of 2^thin events is kept */
	bool full;
};

/* 0 or -ENOMEM. */
int collect_init(struct collect *c, uint32_t frequency);
void collect_fini(struct collect *c);

/* Add a batch of len bytes with as many events as the sender claims.  Returns the
 * answer to the sender. */
enum batch_outcome collect_add(struct collect *c, const void *data, size_t len,
			       uint64_t events);

/* The merged batch, in malloc'ed memory.  0 or -errno. */
int collect_finish(struct collect *c, void **ret, size_t *len);

#endif /* PROFILE_COLLECT_H */
