/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue - requests that wait to be sent, bounded in bytes and number
 *
 * First in, first out.  A request that does not fit pushes out the oldest
 * ones: of a receiver that is away for long, the last minutes are worth more
 * than the first.
 */
#ifndef EXPORTERD_QUEUE_H
#define EXPORTERD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "exporterd/body.h"

#define QUEUE_BYTES	(64u << 20)
#define QUEUE_ITEMS	256

struct kept_batch;

/* Events of a batch, ready to be sent to one receiver. */
struct item {
	struct item *next;
	uint64_t id;		/* of its MSG_BATCH */
	uint64_t samples;	/* events */
	uint32_t profiles;	/* in the request */
	struct body *body;	/* a reference; never NULL */
	struct kept_batch *batch; /* a reference to the batch, of which
					 * these events are first ...; NULL: it
					 * could not be kept */
	uint32_t first;
};

/* Memory that it holds, the batch left out; a body that others hold, too, counts
 * for each. */
static inline size_t item_bytes(const struct item *it)
{
	return it->body->len;
}

/* Takes a reference of its own to body.  NULL when memory is short. */
struct item *item_new(struct body *body, uint64_t id, uint64_t samples,
		      uint32_t profiles);
void item_free(struct item *it);	/* accepts NULL */

struct queue {
	struct item *first, *last;
	size_t n, bytes;	/* bytes: item_bytes() of all */
	size_t max_n, max_bytes;
	uint64_t samples;
};

static inline void queue_init(struct queue *q, size_t max_n, size_t max_bytes)
{
	*q = (struct queue){ .max_n = max_n, .max_bytes = max_bytes };
}

/* Takes it over.  Returns a list (by next) of those that were dropped, oldest
 * first, which is the caller's; `it` itself when it is larger than the
 * queue. */
struct item *queue_push(struct queue *q, struct item *it);

struct item *queue_pop(struct queue *q);	/* NULL: empty */

#endif /* EXPORTERD_QUEUE_H */
