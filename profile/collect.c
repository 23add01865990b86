// SPDX-License-Identifier: Apache-2.0
#include "profile/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"
#include "common/log.h"
#include "profile/cut.h"

int collect_init(struct collect *c, uint32_t frequency)
{
	*c = (struct collect){
		.builder = batch_builder_new(frequency),
		.frequency = frequency,
		.seed = hash_seed(), .start_ns = UINT64_MAX,
	};
	if (!c->builder)
		return -ENOMEM;
	return 0;
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
 * Is there room for len more bytes?  Two merged batches are at most as large as both
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
	c->estimate = real + 8 * batch_events(c->builder);
	/* correcting the estimate often, for a little more, would be too slow */
	c->full = c->estimate > BATCH_BYTES_MAX / 16 * 15;
	return !c->full && c->estimate <= BATCH_BYTES_MAX - len;
}

/* The events of an opened batch that are kept, one of 2^thin; *data NULL: none. */
static int collect_cut(const struct batch *b, uint32_t thin, void **data,
		       size_t *len, uint64_t *events)
{
	const struct cut c = { .end_ns = UINT64_MAX, .thin = thin };

	return cut_batch(&c, b, data, len, events);
}

/* Drop every second event.  False: nothing is changed. */
static bool collect_thin(struct collect *c)
{
	struct batch_builder *half;
	uint64_t events = 0;
	void *data, *kept = NULL;
	struct batch b;
	bool done;
	size_t len;

	if (c->frequency % (2u << c->thin) || collect_finish(c, &data, &len))
		return false;
	half = batch_builder_new(c->frequency >> (c->thin + 1));
	done = half && !batch_open(data, len, &b) &&
	       !collect_cut(&b, c->thin + 1, &kept, &len, &events) && kept &&
	       !batch_open(kept, len, &b);
	if (done) {
		batch_merge(half, &b);
		batch_builder_free(c->builder);
		c->builder = half;
		c->thin++;
		c->estimate = len + 8 * events;
		c->full = false;
		log_info("a long recording: one of %u samples is kept, of all "
			 "of it, as if at %u Hz", 1u << c->thin,
			 c->frequency >> c->thin);
	}
	if (!done)
		batch_builder_free(half);
	free(data);
	free(kept);
	return done;
}

/* Add an opened batch.  False: it has not as many events as the sender claims. */
static bool collect_merge(struct collect *c, const struct batch *b, size_t len,
			  uint64_t events)
{
	uint64_t before = batch_events(c->builder);

	batch_merge(c->builder, b);
	c->estimate += len + 8 * events;
	return batch_events(c->builder) - before == events;
}

/* The same, of a batch that is thinned first. */
static bool collect_merge_thin(struct collect *c, const struct batch *b)
{
	uint64_t events;
	struct batch part;
	size_t len;
	void *data;
	bool ok;

	if (collect_cut(b, c->thin, &data, &len, &events))
		return false;
	ok = !data || (!batch_open(data, len, &part) &&
		       collect_merge(c, &part, len, events));
	free(data);
	return ok;
}

enum batch_outcome collect_add(struct collect *c, const void *data, size_t len,
			       uint64_t events)
{
	uint64_t hash = XXH3_64bits_withSeed(data, len, c->seed);
	size_t most = len + 8 * (size_t)events;
	struct batch b;
	bool ok;

	if (batch_open(data, len, &b))
		return BATCH_INVALID;
	if (batch_n(&b, BATCH_TIMES) != events)
		return BATCH_INVALID;
	if (collect_came_before(c, hash))
		return BATCH_DELIVERED;
	if (!collect_has_room(c, most) &&
	    (!collect_thin(c) || !collect_has_room(c, most))) {
		c->refused += events;
		return BATCH_QUEUE_FULL;
	}
	if (c->thin)
		ok = collect_merge_thin(c, &b);
	else
		ok = collect_merge(c, &b, len, events);
	if (!ok)
		return BATCH_INVALID;
	c->events += events;
	c->recent[c->n_batches % COLLECT_RECENT] = hash;
	c->n_batches++;
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
