/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_batch - batches that may have to be encoded again, in halves
 *
 * A receiver may find a request too large when its batch is long mapped and
 * unmapped.  Until the last item of a batch is gone, a duplicate of its sealed
 * descriptor keeps its pages, which are mapped again only then.
 *
 * symbolizerd holds the newest batches itself (BATCHES_HELD), so the duplicates
 * of those cost no memory.  Older ones live by the duplicate alone: beyond
 * KEPT_BYTES or KEPT_MAX the oldest is closed.  Its samples are still sent, but
 * can no longer be halved.
 */
#ifndef EXPORTERD_KEPT_BATCH_H
#define EXPORTERD_KEPT_BATCH_H

#include <stddef.h>

#include "ipc/batch.h"

#define KEPT_BYTES	(64u << 20)	/* one of BATCH_BYTES_MAX at least */
#define KEPT_MAX	264		/* a full queue, one under way at each receiver */

struct kept_batch;

/* Those that have a descriptor, oldest first.  All 0: none.  It has to live as
 * long as any batch that was kept in it. */
struct kept_batches {
	struct kept_batch *first, *last;
	size_t n, bytes;
};

/* Keep the batch behind fd, which stays the caller's.  Returns a reference, or
 * NULL when memory or descriptors are short. */
struct kept_batch *kept_batch_new(struct kept_batches *in, int fd,
				  size_t bytes);

struct kept_batch *kept_batch_get(struct kept_batch *k);
void kept_batch_put(struct kept_batch *k);	/* accepts NULL */

/* Map it and fill *ret; k may be NULL.  Returns 0, when kept_batch_unmap() has
 * to follow; -ENOENT when it is no longer kept; -errno; -EPROTO. */
int kept_batch_map(const struct kept_batch *k, struct batch *ret);
void kept_batch_unmap(const struct batch *b);

#endif /* EXPORTERD_KEPT_BATCH_H */
