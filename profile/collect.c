// SPDX-License-Identifier: Apache-2.0
#include "profile/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"

int collect_init(struct collect *c, uint32_t frequency)
{
	*c = (struct collect){
		.builder = batch_builder_new(frequency),
		.seed = hash_seed(), .start_ns = UINT64_MAX,
	};
	return c->builder ? 0 : -ENOMEM;
}

void collect_fini(struct collect *c)
{
	batch_builder_free(c->builder);
}

static bool collect_came_before(const struct collect *c, uint64_t hash)
{
	for (uint64_t i = 0; i < COLLECT_RECENT && i < c->n_batches; i++) {
		if (c->recent[i] == hash)
			return true;
	}
	return false;
}

/*
 * Room for len bytes more?  Two batches merged are at most as large as both
 * together, mostly far smaller; when the estimate is too large, building gives
 * the real size.
 */
static bool collect_has_room(struct collect *c, size_t len)
{
	size_t real;
	void *data;

	if (c->full || len > BATCH_BYTES_MAX)
		return false;
	if (c->estimate <= BATCH_BYTES_MAX - len)
		return true;
	if (collect_finish(c, &data, &real))
		return false;
	free(data);
	/* 16 bytes an event while it is built, 8 in the end */
	c->estimate = real + 8 * c->events;
	/* correcting again and again for the last few would be too slow */
	c->full = c->estimate > BATCH_BYTES_MAX / 16 * 15;
	return !c->full && c->estimate <= BATCH_BYTES_MAX - len;
}

enum batch_outcome collect_add(struct collect *c, const void *data, size_t len,
			       uint64_t events)
{
	uint64_t hash = XXH3_64bits_withSeed(data, len, c->seed), before;
	struct batch b;

	if (batch_open(data, len, &b))
		return BATCH_INVALID;
	if (batch_n(&b, BATCH_TIMES) != events)
		return BATCH_INVALID;
	if (collect_came_before(c, hash))
		return BATCH_DELIVERED;
	if (!collect_has_room(c, len + 8 * (size_t)batch_n(&b, BATCH_TIMES))) {
		c->refused += events;
		return BATCH_QUEUE_FULL;
	}
	before = batch_events(c->builder);
	batch_merge(c->builder, &b);
	if (batch_events(c->builder) - before != events)
		return BATCH_INVALID;
	c->estimate += len + 8 * (uint64_t)batch_n(&b, BATCH_TIMES);
	c->events += events;
	c->recent[c->n_batches++ % COLLECT_RECENT] = hash;
	if (b.hdr->start_ns < c->start_ns)
		c->start_ns = b.hdr->start_ns;
	if (b.hdr->end_ns > c->end_ns)
		c->end_ns = b.hdr->end_ns;
	return BATCH_DELIVERED;
}

int collect_finish(struct collect *c, void **ret, size_t *len)
{
	uint64_t start = c->n_batches ? c->start_ns : 0;

	return batch_builder_finish(c->builder, start, c->end_ns, ret, len);
}
