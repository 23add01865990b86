/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location_order - in which order a request's locations take few bytes
 *
 * Stacks name locations by varints, so the LOCATION_ORDER_SHORT that most
 * stacks name come first: one byte each.  Otherwise neighbours in a file are
 * neighbours here, so that what compresses meets nearly the same bytes again:
 * the mapping, the high bits of the address, and, as functions and strings are
 * added with their locations, ascending indices.
 */
#ifndef PROFILE_FORMATS_LOCATION_ORDER_H
#define PROFILE_FORMATS_LOCATION_ORDER_H

#include <stdint.h>

#include "ipc/batch.h"

#define LOCATION_ORDER_SHORT	127	/* varints of one byte, but for 0 */

/* Of each of b's stacks its first depth[stack] frames: malloc'ed, *n of them, each
 * once.  NULL: memory is short. */
uint32_t *location_order(const struct batch *b, const uint32_t *depth,
			 uint32_t *n);

#endif /* PROFILE_FORMATS_LOCATION_ORDER_H */
