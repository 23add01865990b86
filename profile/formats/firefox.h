/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox - a batch as a Gecko profile, which profiler.firefox.com opens
 *
 * Source of the layout: firefox-devtools/profiler, src/types/gecko-profile.ts
 * (types GeckoProfile, GeckoThread), in version 24, the one that Linux' own
 * tools/perf/scripts/python/gecko.py writes; the Firefox Profiler upgrades it.
 * The processed format changes too often to be written from outside.
 *
 * One thread for each thread sampled, its samples at their own times, in
 * milliseconds since the recording began.  A frame's location is "name (in
 * file)", the form that the Firefox Profiler splits (process-profile.ts).
 * Each frame has the line that ran.  Inlined calls are frames of their own
 * without a mark: inlineDepth and nativeSymbol are columns of the processed format
 * (src/types/profile.ts, version 70), and a Gecko profile's frameTable, up to
 * version 36, has neither; process-profile.ts fills in 0 and null.  A mark in the
 * name would split a function that is inlined at some places only into two.
 * Categories are the kinds of frames; an incomplete stack has a marker with the reason
 * as its root.
 */
#ifndef PROFILE_FORMATS_FIREFOX_H
#define PROFILE_FORMATS_FIREFOX_H

#include "profile/profile.h"

/* 0 or -ENOMEM. */
int firefox_encode(const struct batch *b, const struct profile_info *info,
		   struct buffer *out);

#endif /* PROFILE_FORMATS_FIREFOX_H */
