/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select - which samples a question is about
 *
 * What is exact counts by its times.  A coarse segment of which only a part
 * lies in the range counts by its share of it, rounded so that the parts of a
 * segment add up to it, in any division and by any of the functions below.
 */
#ifndef VIEWER_SERVER_SELECT_H
#define VIEWER_SERVER_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "viewer/server/segment.h"
#include "viewer/server/store.h"

enum select_key {
	KEY_PROCESS,		/* its name */
	KEY_PID,
	KEY_THREAD,		/* its name */
	KEY_TID,
	KEY_CONTAINER,
	KEY_EXECUTABLE,		/* path of the process's */
	KEY_KIND,		/* of a frame, any in the stack */
	KEY__COUNT
};

#define SELECT_VALUES_MAX	64	/* of a key */

struct select_text {
	const char *s;			/* borrowed */
	size_t len;
};

struct query {
	uint64_t from_ns, to_ns;	/* CLOCK_REALTIME; [from, to) */
	struct {
		struct select_text text[SELECT_VALUES_MAX];
		uint32_t number[SELECT_VALUES_MAX];	/* KEY_PID, KEY_TID */
		uint32_t n;			/* 0: every value is right */
	} key[KEY__COUNT];
	uint32_t kinds;			/* KEY_KIND: 1 << enum batch_frame_kind;
					 * 0: all */
};

/* The part of one segment that a query matches. */
struct match {
	const struct segment *seg;
	const struct query *q;
	uint8_t *resources, *attrs, *stacks;	/* keys that do not match */
	uint16_t *kinds;		/* of a stack: kinds of its frames */
};

/* 0 or -ENOMEM; match_fini() either way. */
int match_init(struct match *m, const struct segment *s, const struct query *q);
void match_fini(struct match *m);

/*
 * How many events of each sample match, into counts (of all samples). ignore:
 * 1 << key of filters that shall not count.  Returns their sum.
 */
uint64_t match_counts(const struct match *m, uint32_t ignore, uint32_t *counts);

/* Add the events to bins of bin_ns, the first of which begins at q->from_ns. */
void match_timeline(const struct match *m, uint64_t bin_ns, uint64_t *bins,
		    size_t n);

/* Parts of a range, at most as many as was asked for. */
struct query_bins {
	uint64_t from_ms, to_ms;	/* to: the last ms that was begun counts */
	uint64_t ms;			/* of a part */
	size_t n;
};

struct query_bins query_bins(const struct query *q, uint32_t most);

/* Does the segment reach into the range? */
bool select_overlaps(const struct segment *s, const struct query *q);

/* --- into one batch -------------------------------------------------------------- */

enum {				/* what a selection has beside counts */
	SELECT_THREADS = 1,
	SELECT_TIMES = 2,		/* of each event: where they were
					 * dropped, spread evenly */
	SELECT_FIRST = 4,		/* of each sample when its first event
					 * was; coarse: its piece began */
	SELECT_LEAVES = 8,		/* of each stack only what ran: its
					 * innermost frame */
};

/* Events of a selection with times: beyond that it would be no batch, which takes
 * 16 bytes an event while it is built. */
#define SELECT_TIMES_MAX	(BATCH_BYTES_MAX / 16)

/*
 * Without SELECT_TIMES its samples' .n are right but it has no times: one for
 * all, or for each with SELECT_FIRST.  It serves encoders that use counts only.
 */
struct selection {
	struct batch b;
	void *data;
	uint32_t *base;			/* of samples; NULL without a base */
	uint64_t samples, base_samples;
};

/* with: SELECT_...  base: NULL, or, without SELECT_TIMES and SELECT_FIRST, a second query to
 * compare with.  0, -ENOMEM, or -E2BIG. */
int select_batch(const struct store *s, const struct query *q,
		 const struct query *base, unsigned int with,
		 struct selection *ret);
void selection_fini(struct selection *s);

#endif /* VIEWER_SERVER_SELECT_H */
