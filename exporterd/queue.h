/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue - requests that wait to be sent, and the batches that they were made of
 *
 * Requests: bounded in bytes and number; first in, first out.  A request that
 * does not fit pushes out the oldest ones: after a long outage of a receiver, the
 * last minutes are worth more than the first.
 *
 * Batches: a receiver may find a request too large long after its batch was
 * unmapped.  Until the last item of a batch is freed, a duplicate of its sealed
 * descriptor keeps its pages, so that it can be mapped and encoded again in
 * halves.  symbolizerd holds the newest batches itself (BATCHES_HELD), so the
 * duplicates of those cost no memory.  Older ones live by the duplicate alone:
 * beyond KEPT_BYTES or KEPT_MAX the oldest is closed.  Its samples are still
 * sent, but can no longer be halved.
 */
#ifndef EXPORTERD_QUEUE_H
#define EXPORTERD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "exporterd/body.h"
#include "ipc/batch.h"

/* --- batches ---------------------------------------------------------------- */

#define KEPT_BYTES	(64u << 20)	/* one of BATCH_BYTES_MAX at least */
#define KEPT_MAX	264		/* a full queue, and one being sent to each receiver */

struct kept_batch;

/* The batches that have a descriptor, oldest first; zeroed: none.  Must outlive
 * every batch that was kept in it. */
struct kept_batches {
	struct kept_batch *first, *last;
	size_t n, bytes;
};

/* Keep the batch of fd, which stays the caller's.  Returns a reference, or
 * NULL when memory or descriptors are short. */
struct kept_batch *kept_batch_new(struct kept_batches *in, int fd,
				  size_t bytes);

struct kept_batch *kept_batch_get(struct kept_batch *k);
void kept_batch_put(struct kept_batch *k);	/* accepts NULL */

/* Map it and fill *ret; k may be NULL.  Returns 0, when kept_batch_unmap() has
 * to follow; -ENOENT when it is no longer kept; -errno; -EPROTO. */
int kept_batch_map(const struct kept_batch *k, struct batch *ret);
void kept_batch_unmap(const struct batch *b);

/* --- requests --------------------------------------------------------------- */

#define QUEUE_BYTES	(64u << 20)
#define QUEUE_ITEMS	256

/* Events of a batch, ready to be sent to one receiver. */
struct item {
	struct item *next;
	uint64_t id;		/* of its MSG_BATCH */
	uint64_t samples;	/* events */
	uint32_t profiles;	/* in the request */
	struct body *body;	/* a reference; never NULL */
	struct kept_batch *batch;	/* a reference to the batch; NULL: it could
					 * not be kept */
	uint32_t first;		/* of its events, the first one in this item */
	uint64_t span_ns;	/* the time in which its batch was sampled */
};

/* Memory that it holds, without the batch; a shared body counts for each of its
 * holders. */
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

/* Takes `it` over.  Returns the list (by next) of the dropped items, oldest first,
 * which is the caller's; it is `it` itself when that is larger than the queue. */
struct item *queue_push(struct queue *q, struct item *it);

struct item *queue_pop(struct queue *q);	/* NULL: empty */

#endif /* EXPORTERD_QUEUE_H */
