// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/file_symbols.h"
#include "tests/unit/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NAME	4000	/* bytes of each function's name */
#define FUNCTIONS	256u

static struct met_symbols all;
static struct file_symbols files[64];

/* A table of FUNCTIONS of 64 bytes each, with long names. */
static void *table(size_t *len, struct symbol_index *idx)
{
	size_t names = 1 + FUNCTIONS * (NAME + 1);
	struct symbols_hdr h = { SYMBOLS_MAGIC, FUNCTIONS, 0, 0, (uint32_t)names, 0 };
	struct symbol *s;
	char *map, *name;

	*len = sizeof(h) + FUNCTIONS * sizeof(struct symbol) + names;
	map = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED);
	memcpy(map, &h, sizeof(h));
	s = (struct symbol *)(void *)(map + sizeof(h));
	name = (char *)(s + FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t at = 1 + i * (NAME + 1);

		s[i] = (struct symbol){ 64ULL * i, 64, at };
		memset(name + at, 'x', NAME);
		name[at + (size_t)snprintf(name + at, 8, "%06u", i)] = 'x';
	}
	CHECK_EQ(symbols_open(map, *len, idx), 0);
	return map;
}

static bool there(struct file_symbols *s, uint32_t function)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	bool new;

	if (!file_symbols_places(s, 64ULL * function + 7, &new, at))
		return false;
	CHECK_EQ(strlen(at[0].name), NAME);
	CHECK_EQ((uint32_t)atoi(at[0].name), function);
	return true;
}

/* Read it, have samples meet so many functions from this one on, and let the rest go. */
static void read_and_meet(struct file_symbols *s, uint32_t owner, uint32_t first, uint32_t n)
{
	struct symbol_index idx;
	size_t len;
	void *map = table(&len, &idx);

	s->all = &all;
	file_symbols_set(s, map, len, &idx, false);
	CHECK(!s->partial);
	for (uint32_t i = first; i < first + n; i++)
		CHECK(there(s, i));
	CHECK_EQ(file_symbols_keep(s, owner), 0);
	CHECK(!s->map && s->partial);
}

static void set_up(void)
{
	memset(files, 0, sizeof(files));
	met_symbols_init(&all, 5);
}

static void tear_down(void)
{
	for (uint32_t i = 0; i < 64; i++) {
		if (files[i].all)
			file_symbols_clear(&files[i]);
	}
	CHECK_EQ(all.cache.bytes.total, 0);
	met_symbols_fini(&all);
}

TEST(file_symbols_that_samples_met_stay)
{
	set_up();
	read_and_meet(&files[0], 0, 10, 3);
	CHECK(there(&files[0], 10) && there(&files[0], 12) && !there(&files[0], 13));
	/* more come to them */
	read_and_meet(&files[0], 0, 100, 2);
	CHECK(there(&files[0], 10) && there(&files[0], 12) && there(&files[0], 101));
	CHECK(!all.lost && !files[0].went);
	tear_down();
}

/* A user's files with all of their names, more than there is room for: the user's own oldest
 * go, and are known to be missing; root's stay, however old. */
TEST(file_symbols_are_lost_by_who_has_the_most)
{
	uint32_t gone = 0;

	set_up();
	read_and_meet(&files[0], 0, 0, 5);
	for (uint32_t i = 1; i < 64; i++) {
		read_and_meet(&files[i], 1000, 0, FUNCTIONS);
		CHECK(all.cache.bytes.total <= MET_BYTES);
		CHECK(there(&files[1], 200));	/* it is in use */
	}
	for (uint32_t i = 2; i < 64; i++) {
		CHECK_EQ(files[i].went, !files[i].few_data);
		CHECK(files[i].partial);
		if (files[i].went)
			gone++;
		else
			CHECK(i > gone + 1);	/* the oldest */
	}
	CHECK(gone > 25 && gone < 40);
	CHECK_EQ(all.lost, gone);
	CHECK(there(&files[0], 4));
	/* it is read again, and has them again */
	CHECK(!there(&files[2], 3));
	files[2].went = false;
	read_and_meet(&files[2], 1000, 3, 1);
	CHECK(there(&files[2], 3) && there(&files[0], 4));
	tear_down();
}

/* While a table is here whole, nothing is missing. */
TEST(file_symbols_of_a_whole_table_are_not_lost)
{
	struct symbol_index idx;
	size_t len;
	void *map;

	set_up();
	read_and_meet(&files[0], 1000, 7, 1);
	map = table(&len, &idx);
	file_symbols_set(&files[0], map, len, &idx, false);
	for (uint32_t i = 1; i < 64; i++)
		read_and_meet(&files[i], 1000, 0, FUNCTIONS);
	CHECK(!files[0].few_data && !files[0].went && !files[0].partial);
	CHECK(there(&files[0], 7));
	CHECK_EQ(file_symbols_keep(&files[0], 1000), 0);
	CHECK(there(&files[0], 7));
	tear_down();
}

TEST(file_symbols_are_their_owners)
{
	set_up();
	read_and_meet(&files[0], 0, 0, 5);
	file_symbols_give(&files[0], 1000);
	CHECK_EQ(owners_have(&all.cache.bytes, 0), 0);
	CHECK(owners_have(&all.cache.bytes, 1000) > 5 * NAME);
	file_symbols_give(&files[1], 1000);	/* it has none */
	tear_down();
}

TEST(file_symbols_with_better_names_forget_the_few)
{
	struct symbol_index idx;
	size_t len;
	void *map;

	set_up();
	read_and_meet(&files[0], 0, 7, 1);
	/* there is no room for them: the few stay */
	file_symbols_set(&files[0], NULL, 0, &(struct symbol_index){ 0 }, true);
	CHECK(there(&files[0], 7) && files[0].partial);
	map = table(&len, &idx);
	file_symbols_set(&files[0], map, len, &idx, true);
	CHECK(!files[0].few_data && there(&files[0], 7) && !files[0].partial && !all.lost);
	/* it must go at once */
	file_symbols_shrink(&files[0], 0);
	CHECK(there(&files[0], 7) && files[0].partial && files[0].went && !all.lost);
	tear_down();
}
