// SPDX-License-Identifier: Apache-2.0
#include "common/hash_table.h"

#include "tests/unit/harness.h"
#include "tests/unit/malloc_fails.h"

#define MANY	20000

struct set {
	struct hash_table t;
	uint64_t keys[MANY];
	bool in[MANY];
	uint64_t seed;
	uint64_t mask;		/* of hashes: few bits make them collide */
};

static struct set set;

static uint64_t hash_of(uint64_t key)
{
	return hash_mix(set.seed, &key, sizeof(key)) & set.mask;
}

static struct hash_slot *find(uint64_t key)
{
	struct hash_slot *s = hash_find(&set.t, hash_of(key));

	while (s && set.keys[hash_index(s)] != key)
		s = hash_next(&set.t, s);
	return s;
}

static void agrees(uint32_t n)
{
	uint32_t in = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct hash_slot *s = find(set.keys[i]);

		CHECK_EQ(s != NULL, set.in[i]);
		if (s)
			CHECK_EQ(hash_index(s), i);
		in += set.in[i];
	}
	CHECK_EQ(set.t.n, in);
}

/* Adds and removes at random, beside a plain array. */
static void churn(uint32_t n, uint64_t mask)
{
	uint64_t random = 88172645463325252ULL;

	set = (struct set){ .seed = hash_seed(), .mask = mask };
	for (uint32_t i = 0; i < n; i++)
		set.keys[i] = i * 0x100000001ULL;
	for (uint32_t round = 0; round < 6 * n; round++) {
		uint32_t i;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		i = (uint32_t)(random % n);
		if (set.in[i] && round % 2)
			hash_remove(&set.t, find(set.keys[i]));
		else if (set.in[i])
			hash_remove_index(&set.t, hash_of(set.keys[i]), i);
		else
			CHECK(hash_add(&set.t, hash_of(set.keys[i]), i));
		set.in[i] = !set.in[i];
		if (round % (n / 4) == 0)
			agrees(n);
	}
	agrees(n);
	CHECK(set.t.n <= set.t.cap / 2);
	hash_free(&set.t);
}

TEST(hash_table_agrees_with_a_plain_array)
{
	churn(2000, UINT64_MAX);
}

/* Runs that wrap around the end, and equal hashes of different keys. */
TEST(hash_table_agrees_when_hashes_collide)
{
	churn(200, 0x7);
	churn(400, 0xffffffc0);
	churn(300, 0);
}

TEST(hash_table_without_elements_finds_nothing)
{
	struct hash_table t = { .cap = 0 };

	CHECK(!hash_find(&t, 5));
	hash_free(&t);
}

/* The most slots that a search looks at. */
static uint32_t longest_search(const struct hash_table *t)
{
	uint32_t longest = 0, run = 0;

	for (uint32_t i = 0; i < 2 * t->cap; i++) {
		run = t->slots[i & (t->cap - 1)].index ? run + 1 : 0;
		longest = run > longest && run <= t->cap ? run : longest;
	}
	return longest;
}

/*
 * Keys that a plain `key & mask` or an unseeded multiplication puts into one
 * place: multiples of a large power of two, and what collides under seed 0.
 */
TEST(hash_table_is_quick_for_keys_that_somebody_chose)
{
	uint32_t found = 0;

	set = (struct set){ .seed = hash_seed(), .mask = UINT64_MAX };
	for (uint32_t i = 0; i < 5000; i++)
		set.keys[i] = (uint64_t)i << 48;
	for (uint64_t key = 1; found < 5000 && key < 20000000; key++) {
		if ((hash_mix(0, &key, sizeof(key)) & 0x7ff) == 0)
			set.keys[5000 + found++] = key;
	}
	CHECK_EQ(found, 5000);
	for (uint32_t i = 0; i < 10000; i++)
		CHECK(hash_add(&set.t, hash_of(set.keys[i]), i));
	/* with random hashes, 32,768 slots and 10,000 elements: about 20 */
	CHECK(longest_search(&set.t) < 100);
	hash_free(&set.t);
	/* the same keys under the seed that was attacked */
	set.seed = 0;
	for (uint32_t i = 5000; i < 10000; i++)
		CHECK(hash_add(&set.t, hash_of(set.keys[i]), i));
	CHECK(longest_search(&set.t) > 100);
	hash_free(&set.t);
}

TEST(hash_mix_depends_on_every_byte_the_length_and_the_seed)
{
	uint8_t key[40] = { 0 };
	uint64_t h = hash_mix(1, key, sizeof(key));

	CHECK(hash_mix(2, key, sizeof(key)) != h);
	for (size_t n = 0; n < sizeof(key); n++)
		CHECK(hash_mix(1, key, n) != h);
	for (size_t i = 0; i < sizeof(key); i++) {
		for (int bit = 0; bit < 8; bit++) {
			uint64_t other;

			key[i] ^= (uint8_t)(1u << bit);
			other = hash_mix(1, key, sizeof(key));
			CHECK((uint32_t)other != (uint32_t)h);
			key[i] ^= (uint8_t)(1u << bit);
		}
	}
}

TEST(hash_seeds_differ)
{
	CHECK(hash_seed() != hash_seed());
}

TEST(hash_table_is_unchanged_when_memory_is_short)
{
	set = (struct set){ .seed = 7, .mask = UINT64_MAX };
	for (uint32_t i = 0; i < 1000; i++)
		set.keys[i] = i;
	for (uint32_t i = 0; i < 1000; i++) {
		fail_at = 0;
		if (!hash_add(&set.t, hash_of(i), i)) {
			fail_at = -1;
			agrees(i);
			CHECK(hash_add(&set.t, hash_of(i), i));
		}
		fail_at = -1;
		set.in[i] = true;
	}
	agrees(1000);
	hash_free(&set.t);
}
