// SPDX-License-Identifier: Apache-2.0
#include "profile/index_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

uint64_t index_seed(void)
{
	uint64_t seed;

	return getrandom(&seed, sizeof(seed), 0) == sizeof(seed) ? seed : 0;
}

uint64_t index_pair_hash(uint32_t a, uint32_t b, uint64_t seed)
{
	uint64_t key = (uint64_t)a << 32 | b;

	return XXH3_64bits_withSeed(&key, sizeof(key), seed);
}

bool index_set_room(struct index_set *s,
		    uint64_t (*hash_of)(const void *arg,
					const struct index_set *s, uint32_t i),
		    const void *arg)
{
	uint32_t cap = s->cap ? s->cap * 2 : 1024;
	uint32_t *slots;

	if (s->n < s->cap / 2)
		return true;
	if (cap > 1u << 30)
		return false;
	slots = malloc(cap * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0xff, cap * sizeof(*slots));
	for (uint32_t i = 0; i < s->cap; i++) {
		uint64_t at;

		if (s->slots[i] == INDEX_NONE)
			continue;
		at = hash_of(arg, s, s->slots[i]) & (cap - 1);
		while (slots[at] != INDEX_NONE)
			at = (at + 1) & (cap - 1);
		slots[at] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	return true;
}

bool array_room(void **array, uint32_t *cap, uint32_t n, size_t size)
{
	uint32_t want = *cap ? *cap * 2 : 1024;
	void *p;

	if (n < *cap)
		return true;
	p = reallocarray(*array, want, size);
	if (!p)
		return false;
	*array = p;
	*cap = want;
	return true;
}
