/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_cache - entries that can be lost, in bounded memory that users share
 *
 * Each entry is charged to an owner (symbolizerd/tables/owners.h).  When a new entry needs
 * memory that is not there, the owner with the most loses the entry that was not used
 * for longest.  So an owner that fills the cache loses its own entries and no others, and
 * a new entry is not refused for what others have, but for .limit.
 *
 * The client's struct begins with a struct cache_entry.  Entries are known by their index,
 * which holds until they are dropped; a pointer holds until the next one is added.
 *
 * A cache with .payer has no memory of its own: its entries are charged there, and only
 * the client drops them.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_OWNER_CACHE_H
#define SYMBOLIZERD_KNOWLEDGE_OWNER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/tables/owners.h"

struct cache_entry {
	uint64_t hash;
	uint32_t owner;
	uint32_t bytes;		/* charged; 0: free, or its index rests */
	uint32_t older, newer;	/* the owner's entries by their last use; INDEX_NONE: none */
	bool listed;		/* is one of them: may be dropped for memory */
	bool hashed;
};

/* The ends of the list of one owner's entries. */
struct cache_list {
	uint32_t oldest, newest;
};

struct owner_cache {
	size_t size;		/* of an entry */
	uint64_t max;		/* bytes of all entries */
	uint64_t seed;
	struct owner_cache *payer;	/* NULL: this one */
	uint32_t limit;		/* of entries; 0: none but memory */
	/* Is this the entry of this key? */
	bool (*same)(const void *entry, const void *key);
	/* Entry i goes: free what it holds.  True: its index rests until
	 * owner_cache_reuse(), and the client may write to the entry. */
	bool (*dropped)(void *ctx, uint32_t i);
	void *ctx;
	/* Those that follow start as zeroes. */
	char *v;		/* entries: owner_cache_at() */
	uint32_t n, cap;	/* indices that were used; room */
	VECTOR(uint32_t) unused;
	struct hash_table by_hash;
	struct owners bytes;
	VECTOR(struct cache_list) lists;	/* as bytes.list */
	uint64_t lost;		/* entries dropped for memory */
};

/* Free everything; .dropped() is called for each entry.  The settings stay. */
void owner_cache_fini(struct owner_cache *c);

static inline void *owner_cache_at(const struct owner_cache *c, uint32_t i)
{
	return c->v + i * c->size;
}

static inline bool owner_cache_has(const struct owner_cache *c, uint32_t i)
{
	return i < c->n && ((const struct cache_entry *)owner_cache_at(c, i))->bytes;
}

/* Charged for an entry, besides what it points to. */
static inline uint32_t owner_cache_cost(const struct owner_cache *c)
{
	return (uint32_t)(c->size + 2 * sizeof(struct hash_slot));
}

/* INDEX_NONE: there is none. */
uint32_t owner_cache_find(const struct owner_cache *c, uint64_t hash, const void *key);

/* A new entry, zeroes after its cache_entry, charged with owner_cache_cost() and so many
 * bytes more.  INDEX_NONE: no memory; or all that could go is held. */
uint32_t owner_cache_add(struct owner_cache *c, uint32_t owner, uint32_t more);

/* Likewise, and it can be found by this hash. */
uint32_t owner_cache_add_key(struct owner_cache *c, uint32_t owner, uint64_t hash,
			     uint32_t more);

/* It now points to so many bytes.  False: as owner_cache_add(), and nothing changed.
 * The entry itself is not dropped for it. */
bool owner_cache_resize(struct owner_cache *c, uint32_t i, uint32_t more);

/* It was used. */
void owner_cache_touch(struct owner_cache *c, uint32_t i);

/* Until owner_cache_touch() it is not dropped for memory. */
void owner_cache_hold(struct owner_cache *c, uint32_t i);

/* From now on it is charged to another owner. */
void owner_cache_give(struct owner_cache *c, uint32_t i, uint32_t owner);

/* Drop an entry; not as lost. */
void owner_cache_drop(struct owner_cache *c, uint32_t i);

/* An index that rested can be given again. */
void owner_cache_reuse(struct owner_cache *c, uint32_t i);

/* Entries that are there. */
static inline uint32_t owner_cache_used(const struct owner_cache *c)
{
	return c->n - c->unused.n;
}

#endif /* SYMBOLIZERD_KNOWLEDGE_OWNER_CACHE_H */
