/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes - what each thread ran over time: for each part of the range the function with
 * most samples
 *
 * A JSON object:
 *
 *	from, to, bin_ms	ms since 1970; the parts of the range
 *	threads		the threads with most samples, most first, each an array:
 *			label of its process, process ID, thread ID, name, samples, and
 *			flat, for each part with samples: its number, label of the
 *			function, samples of it, all samples
 *	others		number and samples of all other threads
 *	labels		[name, module, enum batch_frame_kind] of the used ones
 *
 * It takes one walk over the samples of the range, and the answer has at most
 * LANES_CELLS_MAX parts, however many threads there are.
 */
#ifndef VIEWER_SERVER_LANES_H
#define VIEWER_SERVER_LANES_H

#include "common/buffer.h"
#include "viewer/server/select.h"

#define LANES_CELLS_MAX	100000u		/* parts of all threads */

/* Append it, of `limit` threads and at most `bins` parts.  0, -ENOMEM, or -E2BIG:
 * more than SELECT_TIMES_MAX samples. */
int lanes_encode(const struct store *s, const struct query *q, uint32_t bins,
		 uint32_t limit, struct buffer *out);

#endif /* VIEWER_SERVER_LANES_H */
