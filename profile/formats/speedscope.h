/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope - a batch as a file that www.speedscope.app opens
 *
 * Source of the layout: the schema that the package speedscope 1.25.0 holds as
 * file-format-schema.json.  One "sampled" profile for each process, that with
 * most samples shown first.  Samples stand in the order of their times; equal
 * neighbours are one.  A sample weighs one period of the sampling clock (unit:
 * nanoseconds) whatever passed before it, so the time axis is CPU time of all
 * threads and not the clock on the wall.  An incomplete stack has a marker
 * as its root that says why.
 */
#ifndef PROFILE_FORMATS_SPEEDSCOPE_H
#define PROFILE_FORMATS_SPEEDSCOPE_H

#include "profile/profile.h"

/* 0 or -ENOMEM. */
int speedscope_encode(const struct batch *b, const struct profile_info *info,
		      struct buffer *out);

#endif /* PROFILE_FORMATS_SPEEDSCOPE_H */
