/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox - a batch as a profile that profiler.firefox.com opens
 *
 * Source of the layout: firefox-devtools/profiler, src/types/profile.ts (type Profile), in
 * version FIREFOX_VERSION of its "processed" format; later versions of the Firefox Profiler
 * upgrade it (processed-profile-versioning.ts), earlier ones refuse it.
 *
 * One thread for each thread sampled, its samples at their own times, in milliseconds
 * since the recording began.  Each resource of the batch is a process; where several have
 * one pid, the first has it, the others have "PID.1", "PID.2".  Stacks, frames, functions
 * and strings are shared by all.
 * A function has its source file and the line where it begins, and its file as its
 * library; each frame has the line that ran, and how deep it is inlined.  Categories
 * are the kinds of frames; an incomplete stack has a marker with the reason as its root.
 * There are no addresses and libraries to symbolize: names are all that there is.
 */
#ifndef PROFILE_FORMATS_FIREFOX_H
#define PROFILE_FORMATS_FIREFOX_H

#include "profile/profile.h"

#define FIREFOX_VERSION		70	/* .preprocessedProfileVersion */
#define FIREFOX_GECKO_VERSION	36	/* of Firefox's own profiles at that time */

/* 0 or -ENOMEM. */
int firefox_encode(const struct batch *b, const struct profile_info *info,
		   struct buffer *out);

#endif /* PROFILE_FORMATS_FIREFOX_H */
