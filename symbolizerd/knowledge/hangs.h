/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hangs - whose file systems are entered no more
 *
 * A debug file or a perf map is opened below the root of a process, where a file system
 * may be that never answers: that leaves an opener behind, of which loaderd has 64
 * (loaderd/opener.c).  So each user has a few, and all together some more; of the rest, up
 * to half of loaderd's, those have one for whom none has hung yet.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_HANGS_H
#define SYMBOLIZERD_KNOWLEDGE_HANGS_H

#include <errno.h>
#include <stdbool.h>

#include "symbolizerd/tables/owners.h"

#define HANGS_OWNER	4u	/* openers that hung for one user: from then on none */
#define HANGS_MAX	16u	/* for all: from then on none for whom one hung */
#define HANGS_ALL	32u	/* ... and here none for anybody */
#define HANG		EHOSTDOWN	/* why there is no perf map: its opener hung */

struct hangs {
	struct owners by_owner;
};

/* May a file be opened below the root of a process of this user? */
static inline bool hangs_allow(const struct hangs *h, uint32_t owner)
{
	uint64_t own = owners_have(&h->by_owner, owner);

	if (h->by_owner.total < HANGS_MAX)
		return own < HANGS_OWNER;
	return !own && h->by_owner.total < HANGS_ALL;
}

/* An opener hung there.  True: from now on none is asked for anybody. */
static inline bool hangs_note(struct hangs *h, uint32_t owner)
{
	owners_add(&h->by_owner, owner, 1);
	return h->by_owner.total == HANGS_ALL;
}

#endif /* SYMBOLIZERD_KNOWLEDGE_HANGS_H */
