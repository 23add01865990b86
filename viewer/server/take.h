/* SPDX-License-Identifier: Apache-2.0 */
/*
 * take - a batch of the hub becomes one of the store
 *
 * What the store does not need is left out, so that equal samples are one: the
 * CPU of a sample, and how its stack ended where it is complete.  The comm of
 * a resource becomes the name of its process, as decode.h has it.
 */
#ifndef VIEWER_SERVER_TAKE_H
#define VIEWER_SERVER_TAKE_H

#include <stddef.h>
#include <stdint.h>

#include "viewer/server/store.h"

#define TAKE_FUTURE_NS	60000000000ULL	/* clocks may be set */

/*
 * Validate len bytes at data and add what is in them: samples events, says the
 * hub. now: CLOCK_REALTIME, ns; events older than what is kept, or of the
 * future, are left out.  Returns 0; -EPROTO: no batch, or not with so many
 * events; or
 * -ENOMEM, -E2BIG: nothing was added.
 */
int take_batch(struct store *s, const void *data, size_t len, uint64_t samples,
	       uint64_t now);

#endif /* VIEWER_SERVER_TAKE_H */
