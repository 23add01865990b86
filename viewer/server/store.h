/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - the last hour of samples, within a budget of bytes
 *
 * Segments in the order of their start.  What arrives is merged in powers of
 * STORE_FAN, and to a whole once its minute is over, so that a sample is
 * copied a few times only and a query meets few segments; nothing is lost by
 * that.  Over the budget, one step after the other until it holds, each at the
 * oldest place where it can be done:
 *
 *	of a minute the times are dropped (counts stay), and addresses and
 *	lines of frames that have a name;
 *	STORE_LONG such minutes, of at least twice as many, become one segment
 *	without threads;
 *	the oldest segment goes.
 *
 * The newest STORE_FRESH_NS stay exact as long as older ones can be made
 * coarser.  What is older than `keep` goes.
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
	uint64_t sealed;		/* minutes before are whole; 0: not yet */
	uint64_t batches;		/* of store_add() */
	uint64_t dropped;		/* samples: for the budget, or memory */
	uint64_t expired;		/* samples: older than keep_ns */
	uint32_t frequency;		/* Hz; the last one that was told; 0: none */
	struct viewer_names names;
};

void store_init(struct store *s, uint64_t budget, uint64_t keep_ns);
void store_fini(struct store *s);

/*
 * Add a batch (its bytes malloc'ed, the store's from now on; NULL: one
 * without samples) and make room.  now: CLOCK_REALTIME, ns.  0, or -ENOMEM or
 * -EPROTO: nothing was added.
 */
int store_add(struct store *s, void *data, size_t len, uint64_t now);

/* Forget what is too old. */
void store_expire(struct store *s, uint64_t now);

/* Up to when (CLOCK_REALTIME, ns) there are segments in this state or a later
 * one; 0: none. */
uint64_t store_coarse_ns(const struct store *s, enum segment_state state);

#endif /* VIEWER_SERVER_STORE_H */
