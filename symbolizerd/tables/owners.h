/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners - who has how much of something that all share
 *
 * The owner of a file is the user to whom it belongs on the host: who made it
 * expensive pays for it, whoever runs it.  When something runs short, who has
 * the most of it gives first.
 */
#ifndef SYMBOLIZERD_TABLES_OWNERS_H
#define SYMBOLIZERD_TABLES_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"

/* Uids from OWNER_UIDS on count by so many of them: a user who was given
 * subordinate uids (subuid(5): 65,536 of them) is two owners at most. */
#define OWNER_UIDS	65536u
#define OWNER_UNKNOWN	UINT32_MAX	/* of what a former hub left */

/* The part of anything that is left to others: who has the most of it, while
 * others have some too, gets nothing of the last one in so many. */
#define OWNER_SPARE	16

struct owner_share {
	uint64_t amount;
	uint32_t owner;
};

struct owners {			/* .seed is the user's to set; else zeroes */
	VECTOR(struct owner_share) list;
	struct hash_table by_owner;	/* of .list */
	uint64_t total;
	uint32_t most;		/* element of .list, unless .stale */
	bool stale;
	uint64_t seed;
};

static inline uint32_t owner_of_uid(uint32_t uid)
{
	return uid < OWNER_UIDS ? uid : OWNER_UIDS + uid / OWNER_UIDS;
}

void owners_fini(struct owners *o);	/* keeps the seed */

/* This owner has n more, or less.  Without memory a new owner's are not
 * counted. */
void owners_add(struct owners *o, uint32_t owner, int64_t n);

/* The element of .list of an owner, which stays; INDEX_NONE: he never had any. */
uint32_t owners_index(const struct owners *o, uint32_t owner);

uint64_t owners_have(const struct owners *o, uint32_t owner);

/* Has one owner the most?  *ret is who. */
bool owners_most(struct owners *o, uint32_t *ret);

/* Of `all` in whole, how much may be in use when this owner takes more. */
uint64_t owners_limit(struct owners *o, uint32_t owner, uint64_t all);

#endif /* SYMBOLIZERD_TABLES_OWNERS_H */
