/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay - walk a snapshot's threads again, with nothing but what is in it
 */
#ifndef SYMBOLIZERD_SNAPSHOT_REPLAY_H
#define SYMBOLIZERD_SNAPSHOT_REPLAY_H

#include "symbolizerd/snapshot/snapshot.h"

struct replay_misses {
	uint32_t memory;	/* reads of what the snapshot does not have */
	uint32_t rows;		/* places that it has no rule for */
};

/*
 * Walk all threads of s; *got, empty before, gets threads and frames.  0 or -errno, as
 * frames_walk(); *got is to be freed in any case.  Where the walk is the one that the
 * snapshot was made with, nothing is missing.
 */
int replay(const struct snapshot *s, struct snapshot *got,
	   struct replay_misses *misses);

#endif /* SYMBOLIZERD_SNAPSHOT_REPLAY_H */
