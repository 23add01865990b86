/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_table - finds the element of an array that has a key
 *
 * Open addressing, at most half full.  A slot holds an element's index and its
 * hash; the keys stay in the owner's array, and the owner compares them:
 *
 *	struct hash_slot *s = hash_find(&t, hash);
 *
 *	while (s && !same(&array[s->index], key))
 *		s = hash_next(&t, s);
 *
 * Other processes choose the keys, so their hash has a secret seed: from hash_mix(),
 * or from XXH3_64bits_withSeed() where xxhash is linked.  The table uses the
 * lower 32 bits.
 */
#ifndef COMMON_HASH_TABLE_H
#define COMMON_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t index;		/* + 1; 0: free.  Read it by hash_index(). */
	uint32_t hash;
};

struct hash_table {		/* zero-initialised */
	struct hash_slot *slots;
	uint32_t cap;		/* a power of two, or 0 */
	uint32_t n;
};

/* Random; or else made of the address of the stack and the time. */
uint64_t hash_seed(void);

/* n bytes, by multiplication of 64 by 64 bits, folded. */
uint64_t hash_mix(uint64_t seed, const void *p, size_t n);

static inline uint64_t hash_pair(uint64_t seed, uint32_t a, uint32_t b)
{
	const uint32_t key[] = { a, b };

	return hash_mix(seed, key, sizeof(key));
}

void hash_free(struct hash_table *t);
void hash_clear(struct hash_table *t);		/* keeps its memory */

/* Room for one more.  False: no memory; nothing changed. */
bool hash_grow(struct hash_table *t);

static inline bool hash_reserve(struct hash_table *t)
{
	return t->n < t->cap / 2 || hash_grow(t);
}

static inline uint32_t hash_index(const struct hash_slot *s)
{
	return s->index - 1;
}

/* The slot of this hash from position i on. */
static inline struct hash_slot *hash_scan(const struct hash_table *t,
					  uint32_t i, uint32_t hash)
{
	for (;; i++) {
		struct hash_slot *s = &t->slots[i & (t->cap - 1)];

		if (!s->index)
			return NULL;
		if (s->hash == hash)
			return s;
	}
}

/* The first element of this hash, then the others, or NULL. */
static inline struct hash_slot *hash_find(const struct hash_table *t,
					  uint64_t hash)
{
	return t->cap ? hash_scan(t, (uint32_t)hash, (uint32_t)hash) : NULL;
}

static inline struct hash_slot *hash_next(const struct hash_table *t,
					  const struct hash_slot *s)
{
	return hash_scan(t, (uint32_t)(s - t->slots) + 1, s->hash);
}

/* Add an element that is not in the table.  index < UINT32_MAX.  False: no memory. */
bool hash_add(struct hash_table *t, uint64_t hash, uint32_t index);

/* Remove a slot that hash_find() has returned.  All others may move. */
void hash_remove(struct hash_table *t, struct hash_slot *s);

/* Remove an element that is in the table, by its index. */
void hash_remove_index(struct hash_table *t, uint64_t hash, uint32_t index);

#endif /* COMMON_HASH_TABLE_H */
