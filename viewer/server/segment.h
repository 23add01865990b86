/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment - samples of a period of time, which never change
 *
 * A batch (ipc/batch.h); a coarse segment has a count of each of its samples instead
 * of their times.
 */
#ifndef VIEWER_SERVER_SEGMENT_H
#define VIEWER_SERVER_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

enum segment_state {
	SEGMENT_EXACT,		/* everything that was received */
	SEGMENT_MINUTE,		/* a minute, or less, without times, and without
				 * addresses and lines of named frames */
	SEGMENT_LONG,		/* several of these, without threads */
};

struct segment {
	struct batch b;
	void *data;		/* that b borrows */
	uint32_t *counts;	/* of b.samples, each of which has one time;
				 * NULL: the number of times (SEGMENT_EXACT) */
	size_t bytes;		/* of the segment with all its memory */
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME, [start, end) */
	uint64_t samples;	/* sum of counts */
	uint64_t minute;	/* in which it begins */
	enum segment_state state;
	uint8_t grade;		/* SEGMENT_EXACT: how often it was merged */
};

/* Make one of the bytes of a batch (malloc'ed), which it takes over on success.  0,
 * -EPROTO or -ENOMEM. */
int segment_new(void *data, size_t len, struct segment **ret);
void segment_free(struct segment *s);

/* Merge n segments (n >= 1) into a new one with the detail of the state.  0, -ENOMEM, or
 * -E2BIG. */
int segment_merge(struct segment *const *v, size_t n, enum segment_state to,
		  struct segment **ret);

/* The number of events of sample i. */
static inline uint32_t segment_count(const struct segment *s, uint32_t i)
{
	if (s->counts)
		return s->counts[i];
	return s->b.samples[i].n;
}

#endif /* VIEWER_SERVER_SEGMENT_H */
