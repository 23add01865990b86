// SPDX-License-Identifier: Apache-2.0
/* A cache that owners share: bounds, who loses what, and that new entries get in. */
#include "symbolizerd/knowledge/owner_cache.h"
#include "tests/unit/harness.h"

#include <stdlib.h>

#define OWNERS	40
#define KEYS	100000

struct thing {
	struct cache_entry entry;	/* first */
	uint64_t key;
	char *piece;
};

static struct owner_cache c;
static uint32_t dropped, pieces;	/* calls; pieces that live */
static uint64_t last_dropped;		/* its key */
static bool rests;
static uint32_t held;			/* entries */

static bool same(const void *entry, const void *key)
{
	return ((const struct thing *)entry)->key == *(const uint64_t *)key;
}

static bool on_dropped(void *ctx, uint32_t i)
{
	struct thing *t = owner_cache_at(&c, i);

	CHECK(ctx == &dropped);
	dropped++;
	last_dropped = t->key;
	if (t->piece)
		pieces--;
	free(t->piece);
	t->piece = NULL;
	return rests;
}

static void begin(uint64_t max)
{
	c = (struct owner_cache){
		.size = sizeof(struct thing), .max = max, .seed = 7, .same = same,
		.dropped = on_dropped, .ctx = &dropped,
	};
	dropped = pieces = 0;
	rests = false;
	held = 0;
}

static void end(void)
{
	owner_cache_fini(&c);
	CHECK_EQ(pieces, 0);
	CHECK(!c.v && !c.n && !c.bytes.total && !c.unused.v && !c.lists.v);
}

static uint64_t hash_of(uint64_t key)
{
	return key % 1000 * 0x9e3779b9;		/* some are the same */
}

static uint32_t add(uint32_t owner, uint64_t key, uint32_t more)
{
	uint32_t i = owner_cache_add_key(&c, owner, hash_of(key), more);
	struct thing *t;

	if (i == INDEX_NONE)
		return i;
	t = owner_cache_at(&c, i);
	CHECK(!t->key && !t->piece && t->entry.owner == owner);
	t->key = key;
	t->piece = malloc(more + 1);
	pieces++;
	return i;
}

static uint32_t find(uint64_t key)
{
	return owner_cache_find(&c, hash_of(key), &key);
}

/* What the entries say: what each owner has, and that his list has all that are not
 * held, each once. */
static void check_sums(void)
{
	static uint64_t bytes[OWNERS];
	uint64_t total = 0;
	uint32_t used = 0, listed = 0, in_lists = 0;

	memset(bytes, 0, sizeof(bytes));
	for (uint32_t i = 0; i < c.n; i++) {
		const struct cache_entry *e = owner_cache_at(&c, i);

		if (!e->bytes)
			continue;
		used++;
		listed += e->listed;
		total += e->bytes;
		bytes[e->owner] += e->bytes;
	}
	CHECK_EQ(total, c.bytes.total);
	CHECK_EQ(used, owner_cache_used(&c));
	for (uint32_t o = 0; o < OWNERS; o++)
		CHECK_EQ(bytes[o], owners_have(&c.bytes, o));
	for (uint32_t k = 0; k < c.lists.n; k++) {
		uint32_t older = INDEX_NONE;

		for (uint32_t i = c.lists.v[k].oldest; i != INDEX_NONE;) {
			const struct cache_entry *e = owner_cache_at(&c, i);

			CHECK(e->older == older && e->listed && e->bytes);
			CHECK_EQ(e->owner, c.bytes.list.v[k].owner);
			older = i;
			i = e->newer;
			in_lists++;
		}
		CHECK_EQ(c.lists.v[k].newest, older);
	}
	CHECK_EQ(in_lists, listed);
	CHECK_EQ(listed, used - held);
}

TEST(entries_are_found_until_they_are_dropped)
{
	uint32_t a, b;

	begin(1 << 20);
	a = add(1, 5, 10);
	b = add(1, 1005, 10);		/* of the same hash */
	CHECK(a != b && find(5) == a && find(1005) == b && find(2005) == INDEX_NONE);
	owner_cache_drop(&c, a);
	CHECK(find(5) == INDEX_NONE && find(1005) == b && !owner_cache_has(&c, a));
	CHECK(dropped == 1 && c.lost == 0);
	/* the index is given again */
	CHECK_EQ(add(2, 6, 0), a);
	check_sums();
	end();
}

TEST(the_owner_who_has_most_loses_his_oldest)
{
	uint64_t each, key = 100;

	begin(0);
	each = owner_cache_cost(&c) + 20;
	c.max = 10 * each;
	for (uint32_t i = 0; i < 7; i++)
		CHECK(add(1, i, 20) != INDEX_NONE);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(add(2, 50 + i, 20) != INDEX_NONE);
	CHECK_EQ(c.lost, 0);
	owner_cache_touch(&c, find(0));		/* was used, and so is not the oldest */
	CHECK(add(2, 60, 20) != INDEX_NONE && last_dropped == 1);
	/* his own new ones cost him his own */
	CHECK(add(1, 7, 20) != INDEX_NONE && last_dropped == 2);
	CHECK(add(1, 8, 20) != INDEX_NONE && last_dropped == 3);
	/* a newcomer gets in, and stays */
	CHECK(add(3, key, 20) != INDEX_NONE && last_dropped == 4);
	for (uint32_t i = 0; i < 100; i++)
		CHECK(add(1, 1000 + i, 20) != INDEX_NONE);
	CHECK(find(key) != INDEX_NONE && find(60) != INDEX_NONE && find(50) != INDEX_NONE);
	CHECK_EQ(owners_have(&c.bytes, 2), 4 * each);
	CHECK_EQ(c.lost, dropped);
	check_sums();
	end();
}

TEST(what_is_held_stays_and_nothing_is_larger_than_all)
{
	uint32_t a;

	begin(0);
	c.max = 2 * (owner_cache_cost(&c) + 50);
	a = add(1, 1, 50);
	add(1, 2, 50);
	owner_cache_hold(&c, a);
	CHECK(add(2, 3, 0) != INDEX_NONE && last_dropped == 2);
	CHECK_EQ(find(2), INDEX_NONE);
	owner_cache_hold(&c, find(3));
	/* all that there is is held */
	CHECK_EQ(add(1, 4, 50), INDEX_NONE);
	owner_cache_touch(&c, a);
	CHECK_EQ(add(1, 4, 50), a);
	CHECK_EQ(find(1), INDEX_NONE);
	CHECK_EQ(add(1, 5, (uint32_t)c.max), INDEX_NONE);
	CHECK_EQ(add(1, 5, UINT32_MAX), INDEX_NONE);
	CHECK(!owner_cache_resize(&c, find(4), (uint32_t)c.max));
	CHECK(find(4) != INDEX_NONE && find(3) != INDEX_NONE);
	held = 1;
	check_sums();
	end();
}

TEST(an_entry_grows_at_the_cost_of_others)
{
	uint32_t i;

	begin(0);
	c.max = 4 * (owner_cache_cost(&c) + 50);
	for (uint64_t k = 0; k < 4; k++)
		add(1, k, 50);
	i = find(0);
	CHECK(owner_cache_resize(&c, i, 150));
	CHECK(find(0) == i && find(1) == INDEX_NONE && find(3) != INDEX_NONE);
	CHECK(owner_cache_resize(&c, i, 0));
	CHECK_EQ(c.bytes.total, 2 * (owner_cache_cost(&c) + 50) + owner_cache_cost(&c));
	owner_cache_give(&c, i, 2);
	CHECK_EQ(owners_have(&c.bytes, 2), owner_cache_cost(&c));
	check_sums();
	/* to be given to its own owner is no use */
	i = find(2);
	owner_cache_give(&c, i, 1);
	CHECK(add(3, 9, 150) != INDEX_NONE && find(2) == INDEX_NONE && find(3) != INDEX_NONE);
	end();
}

TEST(an_index_may_rest)
{
	uint32_t a;

	begin(1 << 20);
	rests = true;
	a = add(1, 1, 0);
	owner_cache_drop(&c, a);
	CHECK(add(1, 2, 0) != a && find(1) == INDEX_NONE);
	owner_cache_reuse(&c, a);
	CHECK_EQ(add(1, 3, 0), a);
	c.limit = c.n;
	CHECK_EQ(add(1, 4, 0), INDEX_NONE);
	CHECK_EQ(c.bytes.total, 2 * owner_cache_cost(&c));
	end();
}

/* Entries of another cache that pays: they count, and do not go by themselves. */
TEST(a_cache_may_pay_for_another)
{
	struct owner_cache other;
	uint32_t i;

	begin(0);
	other = (struct owner_cache){
		.size = sizeof(struct thing), .payer = &c, .dropped = on_dropped, .ctx = &dropped,
	};
	c.max = 10 * owner_cache_cost(&c);
	for (uint64_t k = 0; k < 8; k++)
		add(1, k, 0);
	i = owner_cache_add(&other, 1, owner_cache_cost(&c));
	CHECK(i != INDEX_NONE && c.lost == 0);
	CHECK_EQ(owners_have(&c.bytes, 1), c.max);
	CHECK(add(2, 9, 0) != INDEX_NONE && last_dropped == 0);
	owner_cache_drop(&other, i);
	CHECK_EQ(c.bytes.total, 8 * owner_cache_cost(&c));
	owner_cache_fini(&other);
	end();
}

static uint32_t next_random(uint32_t below)
{
	static uint64_t x = 1;

	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(x >> 33) % below;
}

/* An owner of large ones, some of small ones, many that come and go. */
static uint32_t random_owner(void)
{
	if (next_random(2))
		return 0;
	return next_random(4) ? next_random(5) : next_random(OWNERS);
}

/* Whatever owners do: the bound holds, all new ones get in, and who loses something had
 * most just before. */
TEST(random_owners)
{
	begin(100000);
	for (uint32_t n = 0; n < 200000; n++) {
		uint32_t owner = random_owner(), what = next_random(10), more = next_random(300), i;
		uint64_t key = 1 + next_random(KEYS), lost = c.lost, most = 0, had;

		for (uint32_t o = 0; o < OWNERS; o++) {
			if (owners_have(&c.bytes, o) > most)
				most = owners_have(&c.bytes, o);
		}
		had = owners_have(&c.bytes, owner);
		i = find(key);
		if (i == INDEX_NONE) {
			i = add(owner, key, more);
			CHECK(i != INDEX_NONE && find(key) == i);
			/* nobody with less than another has lost anything */
			if (had + more + owner_cache_cost(&c) < most / 2 && c.lost != lost)
				CHECK(owners_have(&c.bytes, owner) > had);
		} else if (what < 4) {
			owner_cache_touch(&c, i);
		} else if (what < 7) {
			CHECK(owner_cache_resize(&c, i, more) && find(key) == i);
		} else if (what < 8) {
			owner_cache_give(&c, i, owner);
		} else {
			owner_cache_drop(&c, i);
			CHECK_EQ(find(key), INDEX_NONE);
		}
		CHECK(c.bytes.total <= c.max);
		if (n % 1000 == 0)
			check_sums();
	}
	CHECK(c.lost > 100000 && c.bytes.total > c.max * 9 / 10);
	/* the many small ones are all there */
	for (uint32_t o = 5; o < OWNERS; o++) {
		uint64_t had = owners_have(&c.bytes, o);

		CHECK(add(o, KEYS + o, 0) != INDEX_NONE);
		CHECK_EQ(owners_have(&c.bytes, o), had + owner_cache_cost(&c));
	}
	end();
}
