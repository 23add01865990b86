/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - the last hour of samples, within a budget of bytes
 *
 * Segments in the order of their start.  New segments are merged in powers of
 * STORE_FAN, and those of a minute into one when it is over, so that a sample is
 * copied only a few times and a query reads few segments; this loses nothing.
 * Over the budget, these steps are taken until it holds, each at the oldest
 * segment where it is possible:
 *
 *	the times of a minute are dropped (counts stay), and addresses and
 *	lines of frames that have a name;
 *	STORE_LONG such minutes, if there are twice as many, become one segment
 *	without threads;
 *	the oldest segment is dropped.
 *
 * The newest STORE_FRESH_NS stay exact as long as older segments can be made
 * coarser.  Segments older than keep_ns are dropped.
 */
#ifndef VIEWER_SERVER_STORE_H
#define VIEWER_SERVER_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/vector.h"
#include "viewer/server/names.h"
#include "viewer/server/segment.h"

#define STORE_FAN	8
#define STORE_LONG	10
#define STORE_FRESH_NS	60000000000ULL

struct store {
	VECTOR(struct segment *);
	uint64_t budget, bytes;
	uint64_t keep_ns;
	uint64_t samples;		/* held */
	uint64_t sealed;		/* earlier minutes are merged; 0: none yet */
	uint64_t batches;		/* of store_add() */
	uint64_t dropped;		/* samples: for the budget, or memory */
	uint64_t expired;		/* samples: older than keep_ns */
	uint32_t frequency;		/* Hz, of the last batch; 0: unknown */
	struct viewer_names names;
};

/* The time ns before now, or 0. */
static inline uint64_t store_ago(uint64_t now, uint64_t ns)
{
	if (now < ns)
		return 0;
	return now - ns;
}

void store_init(struct store *s, uint64_t budget, uint64_t keep_ns);
void store_fini(struct store *s);

/*
 * Add a batch (malloc'ed bytes, which the store takes over; NULL: a batch without
 * samples) and make room.  now: CLOCK_REALTIME, ns.  0, or -ENOMEM or -EPROTO:
 * nothing was added.
 */
int store_add(struct store *s, void *data, size_t len, uint64_t now);

/* Drop segments that are too old. */
void store_expire(struct store *s, uint64_t now);

/* The end (CLOCK_REALTIME, ns) of the last segment in this state or a later one; 0:
 * there is none. */
uint64_t store_coarse_ns(const struct store *s, enum segment_state state);

#endif /* VIEWER_SERVER_STORE_H */
