/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take - adds a batch of the hub to the store
 *
 * Details that the store does not need are left out, so that more samples are equal: the
 * CPU of a sample, and how a complete stack ended.  The comm of a resource becomes the
 * name of its process, as in decode.h.
 */
#ifndef VIEWER_SERVER_TAKE_H
#define VIEWER_SERVER_TAKE_H

#include <stddef.h>
#include <stdint.h>

#include "viewer/server/store.h"

#define TAKE_FUTURE_NS	60000000000ULL	/* clocks may be set */

/*
 * Validate len bytes at data, a batch of `samples` events according to the hub, and add
 * it.  now: CLOCK_REALTIME, ns; events that are too old for the store, or of the future,
 * are left out.  Returns 0; -EPROTO: not a batch, or not with this number of events; or
 * -ENOMEM, -E2BIG: nothing was added.
 */
int take_batch(struct store *s, const void *data, size_t len, uint64_t samples,
	       uint64_t now);

#endif /* VIEWER_SERVER_TAKE_H */
