// SPDX-License-Identifier: Apache-2.0
#include "common/hash_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define HASH_FIRST	64	/* slots of the first allocation */
#define HASH_MAX	(1u << 30)

static uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t hash_seed(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(uintptr_t)&seed << 20 ^ (uint64_t)now.tv_nsec;
}

uint64_t hash_mix(uint64_t seed, const void *p, size_t n)
{
	/* a second key of the first; constants: the golden ratio and pi, odd */
	uint64_t key = hash_fold(seed ^ 0x9e3779b97f4a7c15ULL,
				 0x243f6a8885a308d3ULL) | 1;
	const uint8_t *at = p;
	uint64_t h = seed ^ n;

	while (n) {
		size_t len = n < sizeof(uint64_t) ? n : sizeof(uint64_t);
		uint64_t w = 0;

		memcpy(&w, at, len);
		h = hash_fold(h ^ w, key);
		at += len;
		n -= len;
	}
	return hash_fold(h ^ key, 0x243f6a8885a308d3ULL);
}

void hash_free(struct hash_table *t)
{
	free(t->slots);
	*t = (struct hash_table){ .cap = 0 };
}

void hash_clear(struct hash_table *t)
{
	if (t->n)
		memset(t->slots, 0, t->cap * sizeof(*t->slots));
	t->n = 0;
}

static struct hash_slot *hash_free_slot(const struct hash_table *t, uint32_t i)
{
	while (t->slots[i & (t->cap - 1)].index)
		i++;
	return &t->slots[i & (t->cap - 1)];
}

bool hash_grow(struct hash_table *t)
{
	struct hash_table more = {
		.cap = t->cap ? 2 * t->cap : HASH_FIRST, .n = t->n,
	};

	if (more.cap > HASH_MAX)
		return false;
	more.slots = calloc(more.cap, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < t->cap; i++) {
		if (t->slots[i].index)
			*hash_free_slot(&more, t->slots[i].hash) = t->slots[i];
	}
	free(t->slots);
	*t = more;
	return true;
}

bool hash_add(struct hash_table *t, uint64_t hash, uint32_t index)
{
	if (!hash_reserve(t))
		return false;
	*hash_free_slot(t, (uint32_t)hash) = (struct hash_slot){
		.index = index + 1, .hash = (uint32_t)hash,
	};
	t->n++;
	return true;
}

void hash_remove(struct hash_table *t, struct hash_slot *s)
{
	uint32_t mask = t->cap - 1, hole = (uint32_t)(s - t->slots);

	/* move back elements that are after the hole only because it was taken */
	for (uint32_t i = (hole + 1) & mask; t->slots[i].index;
	     i = (i + 1) & mask) {
		uint32_t home = t->slots[i].hash & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole].index = 0;
	t->n--;
}

void hash_remove_index(struct hash_table *t, uint64_t hash, uint32_t index)
{
	struct hash_slot *s = hash_find(t, hash);

	while (hash_index(s) != index)
		s = hash_next(t, s);
	hash_remove(t, s);
}
