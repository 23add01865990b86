/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof - a batch as a gzipped perftools.profiles.Profile
 *
 * Source of the layout: google/pprof, proto/profile.proto.  Sample types are
 * samples/count and cpu/nanoseconds (count times the period).  A mapping is a
 * file: it starts at 0 with offset 0, so addresses are file offsets; in the mapping
 * of the kernel, "[kernel]", they are offsets in the named symbol.  Labels of samples:
 * comm, pid, thread, thread_id, container_id, unit, and, for an incomplete stack,
 * stack_end with the reason.
 */
#ifndef PROFILE_FORMATS_PPROF_H
#define PROFILE_FORMATS_PPROF_H

#include "profile/profile.h"

/* 0, -ENOMEM, or -EIO when zlib fails. */
int pprof_encode(const struct batch *b, const struct profile_info *info,
		 struct buffer *out);

#endif /* PROFILE_FORMATS_PPROF_H */
