/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope - a batch as a file that www.speedscope.app opens
 *
 * Source of the layout: file-format-schema.json of the package speedscope 1.25.0.
 * One "sampled" profile for each process.  Of several there is one of all processes
 * before them, which is shown first: its roots are names of processes, as in folded stacks.
 * Samples are in the order of their times; equal neighbours are merged.  A sample
 * weighs one period of the sampling clock (unit: nanoseconds) whatever time passed
 * before it, so the time axis is CPU time of all threads, not wall-clock time.  An
 * incomplete stack has a marker with the reason as its root.
 *
 * To speedscope a frame is a function: each entry of the list of frames is one
 * in its table and in its graph.  So a function is one entry, with the line where
 * it begins (as in Chrome's and stackprof's files), or else the first line of it
 * that was met, and not one for each line that ran.  The format cannot mark inlined
 * calls; they are frames of their own, without a mark in the name, which would split
 * a function that is inlined at some places only into two.
 */
#ifndef PROFILE_FORMATS_SPEEDSCOPE_H
#define PROFILE_FORMATS_SPEEDSCOPE_H

#include "profile/profile.h"

/* 0 or -ENOMEM. */
int speedscope_encode(const struct batch *b, const struct profile_info *info,
		      struct buffer *out);

#endif /* PROFILE_FORMATS_SPEEDSCOPE_H */
