/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facets - the processes, threads ... of a range, with their numbers of samples
 *
 * The values of a key are subject to the filters of all other keys, but not of its own,
 * so that its other values can still be chosen.
 */
#ifndef VIEWER_SERVER_FACETS_H
#define VIEWER_SERVER_FACETS_H

#include "common/buffer.h"
#include "viewer/server/select.h"

/* Append a JSON object: for each key the `limit` values with most samples as
 * [value, label, samples], and `others`: the samples of all other values.  0 or
 * -ENOMEM. */
int facets_encode(const struct store *s, const struct query *q, uint32_t limit,
		  struct buffer *out);

#endif /* VIEWER_SERVER_FACETS_H */
