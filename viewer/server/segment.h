/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment - samples of a stretch of time, which never change
 *
 * A batch (ipc/batch.h), and for what is coarse a count of each of its
 * samples instead of their times.
 */
#ifndef VIEWER_SERVER_SEGMENT_H
#define VIEWER_SERVER_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

enum segment_state {
	SEGMENT_EXACT,		/* all that was received */
	SEGMENT_MINUTE,		/* no times, and no addresses and lines of named
				 * frames: a minute, or less */
	SEGMENT_LONG,		/* several of these; no threads */
};

struct segment {
	struct batch b;
	void *data;		/* that b borrows */
	uint32_t *counts;	/* of b.samples, each of which has one time;
				 * NULL: as many as times (SEGMENT_EXACT) */
	size_t bytes;		/* of all of this */
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME, [start, end) */
	uint64_t samples;	/* sum of counts */
	uint64_t minute;	/* in which it begins */
	enum segment_state state;
	uint8_t grade;		/* SEGMENT_EXACT: how often it was merged */
};

/* Of a batch's bytes (malloc'ed), which it owns on success.  0, -EPROTO or
 * -ENOMEM. */
int segment_new(void *data, size_t len, struct segment **ret);
void segment_free(struct segment *s);

/* Merge n segments (n >= 1) into one with the detail of the state; they stay
 * as they are. 0, -ENOMEM, or -E2BIG. */
int segment_merge(struct segment *const *v, size_t n, enum segment_state to,
		  struct segment **ret);

/* How many events sample i stands for. */
static inline uint32_t segment_count(const struct segment *s, uint32_t i)
{
	return s->counts ? s->counts[i] : s->b.samples[i].n;
}

#endif /* VIEWER_SERVER_SEGMENT_H */
