/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hangs - whose file systems are entered no more
 *
 * A debug file or a perf map is opened below the root of a process, where a file system
 * may be that never answers: that leaves an opener behind, of which loaderd has 64
 * (loaderd/opener.c).  So each user has a few, and all together some more.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_HANGS_H
#define SYMBOLIZERD_KNOWLEDGE_HANGS_H

#include <errno.h>
#include <stdbool.h>

#include "symbolizerd/tables/owners.h"

#define HANGS_OWNER	4u	/* openers that hung for one user: from then on none */
#define HANGS_MAX	16u	/* likewise, for all */
#define HANG		EHOSTDOWN	/* why there is no perf map: its opener hung */

struct hangs {
	struct owners by_owner;
};

/* May a file be opened below the root of a process of this user? */
static inline bool hangs_allow(const struct hangs *h, uint32_t owner)
{
	return h->by_owner.total < HANGS_MAX && owners_have(&h->by_owner, owner) < HANGS_OWNER;
}

/* An opener hung there.  True: from now on none is asked for anybody. */
static inline bool hangs_note(struct hangs *h, uint32_t owner)
{
	owners_add(&h->by_owner, owner, 1);
	return h->by_owner.total == HANGS_MAX;
}

#endif /* SYMBOLIZERD_KNOWLEDGE_HANGS_H */
