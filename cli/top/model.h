/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_model - the batches of the last minute, and tables made from them
 *
 * Keeps the batches themselves, so that any view, window and filter is
 * possible at any time, also when the display is paused.  Foreign strings are
 * not changed here: code that shows them escapes them (top_text.h).
 */
#ifndef CLI_TOP_MODEL_H
#define CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/top/table.h"
#include "common/vector.h"
#include "profile/names.h"

#define TOP_SPAN_NS	60000000000ULL	/* a display needs no more */
#define TOP_BYTES_MAX	(192u << 20)	/* of all batches kept */
#define TOP_SLICES_MAX	1024

struct top_model {
	uint64_t keep_ns;
	uint64_t seed;
	enum function_names names;	/* of functions; set by the caller */
	VECTOR(struct top_slice);	/* oldest first */
	size_t bytes;
	uint64_t dropped;	/* slices dropped because of TOP_BYTES_MAX */
	bool gap;		/* the next one does not follow the last */
	uint64_t cleared_ns;	/* end of the last one that was dropped by
				 * top_model_clear(); 0: none */
};

/* Keep batches of the last keep_ns (0: all that fit). */
void top_model_init(struct top_model *m, uint64_t keep_ns);
void top_model_fini(struct top_model *m);

/*
 * Add a copy of a batch with this number of samples.  Returns 0; -EPROTO when it
 * is invalid; -ENOMEM. Rows of older tables become invalid.
 */
int top_model_add(struct top_model *m, const void *data, size_t len,
		  uint64_t samples);

/* Drop all batches; the next one still follows the last. */
void top_model_clear(struct top_model *m);

/* Batches are missing here: the next one has the length of its own times. */
void top_model_gap(struct top_model *m);

/* Time that all kept batches cover, in ns. */
uint64_t top_model_span(const struct top_model *m);

/* Make a table; rows in no order.  They borrow from the model, until the next
 * top_model_add(). *t is zero or from an earlier call. */
void top_model_table(const struct top_model *m, const struct top_query *q,
		     struct top_table *t);

#endif /* CLI_TOP_MODEL_H */
