/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facets - which processes, threads ... there are in a range, and how many
 * samples each has
 *
 * For one key the filters of all others hold, not its own: so its other values
 * can still be chosen.
 */
#ifndef VIEWER_SERVER_FACETS_H
#define VIEWER_SERVER_FACETS_H

#include "common/buffer.h"
#include "viewer/server/select.h"

/* Append a JSON object: for each key the `limit` values with most samples as
 * [value, label, samples], and `others`: samples of those left out.  0 or
 * -ENOMEM. */
int facets_encode(const struct store *s, const struct query *q, uint32_t limit,
		  struct buffer *out);

#endif /* VIEWER_SERVER_FACETS_H */
