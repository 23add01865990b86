/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners - how much of a shared resource each user has
 *
 * The owner of a file is the user that it belongs to on the host: a file is charged
 * to the user who made it, not to those who run it.  When a resource runs short,
 * the owner with the largest share gives first.
 */
#ifndef SYMBOLIZERD_TABLES_OWNERS_H
#define SYMBOLIZERD_TABLES_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/process.h"	/* owner_of_uid() */
#include "common/hash_table.h"
#include "common/vector.h"

#define OWNER_UNKNOWN	UINT32_MAX	/* what a former hub left */

/* One part in OWNER_SPARE of a resource is reserved: the owner with the largest share
 * gets nothing of it, while others have some, too. */
#define OWNER_SPARE	16

struct owner_share {
	uint64_t amount;
	uint32_t owner;
};

struct owners {			/* begins as zeroes, but for .seed */
	VECTOR(struct owner_share) list;
	struct hash_table by_owner;	/* of .list */
	uint64_t total;
	uint32_t most;		/* element of .list, unless .stale */
	bool stale;
	uint64_t seed;
};

void owners_fini(struct owners *o);	/* keeps the seed */

/* This owner has n more, or fewer.  Without memory a new owner's share is not
 * counted. */
void owners_add(struct owners *o, uint32_t owner, int64_t n);

/* The element of .list of an owner, which stays; INDEX_NONE: he never had any. */
uint32_t owners_index(const struct owners *o, uint32_t owner);

uint64_t owners_have(const struct owners *o, uint32_t owner);

/* *ret: the owner with the largest share.  False: nobody has any. */
bool owners_most(struct owners *o, uint32_t *ret);

/* How much of `all` may be in use after this owner has taken more. */
uint64_t owners_limit(struct owners *o, uint32_t owner, uint64_t all);

#endif /* SYMBOLIZERD_TABLES_OWNERS_H */
