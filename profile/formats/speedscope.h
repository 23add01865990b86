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
 *
 * To speedscope a frame is a function: each entry of the list of frames is one
 * in its table and in its graph.  So a function is one entry, with the line where
 * it begins (as in Chrome's and stackprof's files), or else the first line of it
 * that was met, and not one for each line that ran.  The format has no word for
 * inlined calls; they are frames of their own, without a mark in the name, which
 * would make two functions of one that is inlined at some places only.
 */
#ifndef PROFILE_FORMATS_SPEEDSCOPE_H
#define PROFILE_FORMATS_SPEEDSCOPE_H

#include "profile/profile.h"

/* 0 or -ENOMEM. */
int speedscope_encode(const struct batch *b, const struct profile_info *info,
		      struct buffer *out);

#endif /* PROFILE_FORMATS_SPEEDSCOPE_H */
