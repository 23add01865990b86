/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select - the samples that a query matches
 *
 * Samples of exact segments are matched by their times.  A coarse segment that lies
 * only partly in the range counts by the share of its time, rounded so that the parts
 * of a segment add up to it, in any division and by any of the functions below.
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
	KEY_EXECUTABLE,		/* its path */
	KEY_KIND,		/* of any frame in the stack */
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
		uint32_t n;			/* 0: every value matches */
	} key[KEY__COUNT];
	uint32_t kinds;			/* KEY_KIND: 1 << enum batch_frame_kind;
					 * 0: all */
};

/* The part of one segment that a query matches. */
struct match {
	const struct segment *seg;
	const struct query *q;
	uint8_t *resources, *attrs, *stacks;	/* 1 << keys that do not match */
	uint16_t *kinds;		/* by stack: 1 << kinds of its frames */
};

/* 0 or -ENOMEM; match_fini() in either case. */
int match_init(struct match *m, const struct segment *s, const struct query *q);
void match_fini(struct match *m);

/*
 * Put the number of matching events of each sample into counts (for all samples).
 * ignore: 1 << keys of filters that are not applied.  Returns the sum.
 */
uint64_t match_counts(const struct match *m, uint32_t ignore, uint32_t *counts);

/* Add the events to bins of bin_ns, the first of which begins at q->from_ns. */
void match_timeline(const struct match *m, uint64_t bin_ns, uint64_t *bins,
		    size_t n);

/* Parts of a range, at most as many as requested. */
struct query_bins {
	uint64_t from_ms, to_ms;	/* to: rounded up */
	uint64_t ms;			/* of a part */
	size_t n;
};

struct query_bins query_bins(const struct query *q, uint32_t most);

/* Has the segment a part in the range? */
bool select_overlaps(const struct segment *s, const struct query *q);

/* --- into one batch -------------------------------------------------------------- */

enum {				/* what a selection has besides counts */
	SELECT_THREADS = 1,
	SELECT_TIMES = 2,		/* of each event; dropped times are
					 * replaced by evenly spread ones */
	SELECT_FIRST = 4,		/* the time of each sample's first event;
					 * coarse: the start of its segment */
	SELECT_LEAVES = 8,		/* only the innermost frame of each
					 * stack */
};

/* Events of a selection with times: more do not fit into a batch, which takes 16 bytes
 * an event while it is built. */
#define SELECT_TIMES_MAX	(BATCH_BYTES_MAX / 16)

/*
 * Without SELECT_TIMES the .n of its samples are counts, and each has just one time: the
 * start of the range, or with SELECT_FIRST that of its first event.  For encoders that
 * use counts only.
 */
struct selection {
	struct batch b;
	void *data;
	uint32_t *base;			/* counts of samples in it; NULL without a base */
	uint64_t samples, base_samples;
};

/* with: SELECT_...  base: a second query to compare with, not with SELECT_TIMES or
 * SELECT_FIRST; or NULL.  0, -ENOMEM, or -E2BIG. */
int select_batch(const struct store *s, const struct query *q,
		 const struct query *base, unsigned int with,
		 struct selection *ret);
void selection_fini(struct selection *s);

#endif /* VIEWER_SERVER_SELECT_H */
