// SPDX-License-Identifier: Apache-2.0
/*
 * Elements in real BPF maps: what may be written is there, and what may not has
 * changed nothing.  Needs root.
 */
#include "loaderd/elements.h"
#include "tests/unit/harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/table.h"
#include "ipc/message_loader.h"
#include "ipc/sealed.h"

#define AT(slab, i)	((uint32_t)(slab) << SLAB_SHIFT | (i))
#define MIB		(1u << 20)

static struct elements elements;
static int outer;
static uint64_t seed = 0x2545f4914f6cdd1dULL;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (seed >> 20) % below;
}

static void setup(uint64_t budget)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_MMAPABLE);

	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	opts.inner_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", 4, 64,
					   SLAB_ELEMENTS, &inner);
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "slabs", 4, 4,
			       SLABS_MAX, &opts);
	elements_init(&elements, outer, opts.inner_map_fd, budget);
}

/* Runs and, for those that bring their own, elements that all begin with salt;
 * more: elements too many, or too few. */
static int write_runs(const struct table_run *run, uint32_t n, uint32_t salt,
		      int more)
{
	size_t len = n * sizeof(*run), elements_len;
	uint64_t own = 0;
	char *data;
	int r;

	for (uint32_t i = 0; i < n; i++)
		own += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
	elements_len = (own + more) * 64;
	data = malloc(len + elements_len + 1);
	memcpy(data, run, len);
	for (size_t i = 0; i < elements_len / 4; i++)
		memcpy(data + len + i * 4, &salt, 4);
	r = elements_write(&elements, data, len + elements_len, n);
	free(data);
	return r;
}

static int write_at(uint32_t pos, uint32_t n, uint32_t salt)
{
	struct table_run run = { pos, n, TABLE_RUN_NEW, 0 };

	return write_runs(&run, 1, salt, 0);
}

/* The first word of an element, as BPF programs see it. */
static uint32_t word_at(uint32_t pos)
{
	uint32_t i = pos & (SLAB_ELEMENTS - 1);
	uint32_t e[16];

	CHECK(elements.slabs[pos >> SLAB_SHIFT].fd >= 0);
	CHECK_EQ(bpf_map_lookup_elem(elements.slabs[pos >> SLAB_SHIFT].fd, &i,
				     e), 0);
	return e[0];
}

static bool in_outer(uint32_t slab)
{
	uint32_t id;

	return bpf_map_lookup_elem(outer, &slab, &id) == 0;
}

TEST(elements_are_written_where_they_should)
{
	struct table_run run[] = {
		{ AT(0, 5), 1, TABLE_RUN_NEW, 0 },
		{ AT(2, 0), 3, TABLE_RUN_NEW, 0 },
		{ AT(3, SLAB_ELEMENTS - 2), 2, TABLE_RUN_NEW, 0 },
	};
	struct table_run copy = { AT(2, 100), 2, AT(3, SLAB_ELEMENTS - 2), 0 };

	setup(4 * MIB);
	CHECK_EQ(word_at(AT(0, 0)), 0);		/* RULE_NONE */
	CHECK_EQ(write_runs(run, 3, 77, 0), 0);
	CHECK_EQ(word_at(AT(0, 5)), 77);
	CHECK_EQ(word_at(AT(0, 6)), 0);
	CHECK_EQ(word_at(AT(2, 2)), 77);
	CHECK_EQ(word_at(AT(2, 3)), 0);
	CHECK_EQ(word_at(AT(3, SLAB_ELEMENTS - 1)), 77);
	CHECK_EQ(word_at(AT(3, SLAB_ELEMENTS - 3)), 0);
	CHECK_EQ(elements.n_slabs, 3);
	CHECK(in_outer(2) && in_outer(3) && !in_outer(1));
	CHECK_EQ(write_runs(&copy, 1, 0, 0), 0);
	CHECK_EQ(word_at(AT(2, 101)), 77);
	CHECK_EQ(word_at(AT(2, 102)), 0);
}

TEST(elements_out_of_bounds_change_nothing)
{
	static const struct table_run bad[] = {
		{ AT(2, 0), 0, TABLE_RUN_NEW, 0 },
		{ AT(2, 1), SLAB_ELEMENTS, TABLE_RUN_NEW, 0 },
		{ AT(2, SLAB_ELEMENTS - 1), 2, TABLE_RUN_NEW, 0 },
		{ AT(SLABS_MAX, 0), 1, TABLE_RUN_NEW, 0 },
		{ 0xffffffff, 1, TABLE_RUN_NEW, 0 },
		{ AT(1, SLAB_ELEMENTS - 1), 2, TABLE_RUN_NEW, 0 },
		{ AT(2, 20), 1, AT(2, SLAB_ELEMENTS), 0 },
		{ AT(2, 20), 2, AT(2, SLAB_ELEMENTS - 1), 0 },
		{ AT(2, 20), 1, AT(900, 0), 0 },
	};

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 10), 4, 5), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct table_run run[] = {
			{ AT(2, 32), 2, TABLE_RUN_NEW, 0 }, bad[i],
		};

		printf("# row %zu\n", i);
		CHECK_EQ(write_runs(run, 2, 9, 0), MSG_BAD_CONTENT);
		CHECK_EQ(elements.n_slabs, 2);
		CHECK_EQ(word_at(AT(2, 32)), 0);
		CHECK_EQ(word_at(AT(2, 13)), 5);
	}
}

/* What is there may be overwritten at any time: rules, and what the hub says. */
TEST(elements_are_overwritten)
{
	struct table_run run[] = {
		{ AT(2, 11), 3, TABLE_RUN_NEW, 0 },
		{ AT(2, 12), 1, AT(2, 10), 0 },		/* over the run before */
		{ AT(0, 1), 1, TABLE_RUN_NEW, 0 },
	};

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 10), 4, 5), 0);
	CHECK_EQ(write_at(AT(0, 0), 3, 5), 0);
	CHECK_EQ(write_runs(run, 3, 9, 0), 0);
	CHECK_EQ(word_at(AT(2, 10)), 5);
	CHECK_EQ(word_at(AT(2, 11)), 9);
	CHECK_EQ(word_at(AT(2, 12)), 5);
	CHECK_EQ(word_at(AT(2, 13)), 9);
	CHECK_EQ(word_at(AT(0, 1)), 9);
	CHECK_EQ(word_at(AT(0, 2)), 5);
}

TEST(elements_must_be_as_many_as_the_runs_say)
{
	struct table_run run[] = {
		{ AT(2, 0), 2, TABLE_RUN_NEW, 0 },
		{ AT(2, 8), 2, TABLE_RUN_NEW, 0 },
	};
	char data[2 * sizeof(*run) + 4 * 64 + 1];

	setup(4 * MIB);
	memset(data, 7, sizeof(data));
	memcpy(data, run, sizeof(run));
	for (size_t len = 0; len <= sizeof(data); len++) {
		if (len == sizeof(data) - 1)
			continue;
		CHECK_EQ(elements_write(&elements, data, len, 2),
			 MSG_BAD_CONTENT);
		if (in_outer(2))
			CHECK_EQ(word_at(AT(2, 0)), 0);
	}
	CHECK_EQ(elements_write(&elements, data, sizeof(data) - 1, 2), 0);
	CHECK_EQ(word_at(AT(2, 0)), 0x07070707);
}

/* An element in each slab would take far more memory than the budget. */
TEST(slabs_stay_in_the_budget)
{
	setup(4 * MIB);
	CHECK_EQ(elements.slabs_max, RULE_SLABS + 1 + 5);
	for (uint32_t i = 1; i < elements.slabs_max; i++)
		CHECK_EQ(write_at(AT(i, 0), 1, 1), 0);
	CHECK_EQ(write_at(AT(100, 0), 1, 1), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n_slabs, elements.slabs_max);
	CHECK_EQ(elements_drop(&elements, 3), 0);
	CHECK_EQ(write_at(AT(100, 0), 1, 1), 0);
	CHECK_EQ(write_at(AT(3, 0), 1, 1), MSG_BAD_CONTENT);
}

TEST(slabs_of_one_write_are_limited)
{
	static struct table_run run[SLABS_NEW_MAX + 1];

	setup(256ull * MIB);
	for (uint32_t i = 0; i <= SLABS_NEW_MAX; i++)
		run[i] = (struct table_run){ AT(2 + i, 0), 1, TABLE_RUN_NEW, 0 };
	CHECK_EQ(write_runs(run, SLABS_NEW_MAX + 1, 1, 0), MSG_BAD_CONTENT);
	CHECK_EQ(word_at(AT(2, 0)), 0);
	CHECK_EQ(write_runs(run, SLABS_NEW_MAX + 1, 1, 0), 0);
}

TEST(slabs_are_dropped)
{
	setup(4 * MIB);
	for (uint32_t i = 1; i < 5; i++)
		CHECK_EQ(write_at(AT(i, 9), 1, i), 0);
	CHECK_EQ(elements_drop(&elements, 3), 0);
	CHECK_EQ(elements.n_slabs, 4);
	CHECK(in_outer(2) && !in_outer(3) && in_outer(4));
	CHECK_EQ(elements_next(&elements, 1), 1);
	CHECK_EQ(elements_next(&elements, 3), 4);
	CHECK_EQ(elements_next(&elements, 5), SLABS_MAX);
	/* made again, it is empty */
	CHECK_EQ(write_at(AT(3, 0), 1, 8), 0);
	CHECK_EQ(word_at(AT(3, 0)), 8);
	CHECK_EQ(word_at(AT(3, 9)), 0);
}

TEST(slabs_of_rules_or_not_there_are_not_dropped)
{
	static const uint32_t bad[] = { 0, 1, 3, SLABS_MAX - 1, SLABS_MAX,
					0xffffffff };

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(1, 9), 1, 1), 0);
	CHECK_EQ(write_at(AT(2, 9), 1, 2), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(elements_drop(&elements, bad[i]), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n_slabs, 3);
	CHECK(in_outer(1) && in_outer(2));
	CHECK_EQ(elements_drop(&elements, 2), 0);
	CHECK_EQ(elements_drop(&elements, 2), MSG_BAD_CONTENT);
}

TEST(slabs_are_copied)
{
	const struct slab_copy *copy;
	const void *data;
	size_t len;
	int fd;

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 64), 3, 42), 0);
	fd = elements_copy(&elements, 2);
	CHECK_EQ(sealed_map(fd, sizeof(*copy), sizeof(*copy), &data, &len), 0);
	copy = data;
	CHECK_EQ(copy->element[66].row[0].low, 42);
	CHECK_EQ(copy->element[67].row[0].low, 0);
	/* not what comes after it */
	CHECK_EQ(write_at(AT(2, 64), 3, 43), 0);
	CHECK_EQ(copy->element[66].row[0].low, 42);
	munmap((void *)data, len);
	close(fd);
}

/* Random writes, copies and drops, right ones and wrong ones, beside a plain
 * model. */
#define MODEL_SLABS	6
#define MODEL_N		(MODEL_SLABS * SLAB_ELEMENTS)

static uint32_t word[MODEL_N];
static bool made[MODEL_SLABS];

static uint32_t model_made(void)
{
	uint32_t n = 0;

	for (int i = 0; i < MODEL_SLABS; i++)
		n += made[i];
	return n;
}

static uint32_t model_pos(uint32_t at)
{
	return AT(RULE_SLABS + at / SLAB_ELEMENTS, at % SLAB_ELEMENTS);
}

/* from: MODEL_N: the elements are new. */
static bool model_write(uint32_t at, uint32_t n, uint32_t from, uint32_t salt)
{
	if (at % SLAB_ELEMENTS + n > SLAB_ELEMENTS ||
	    (from < MODEL_N && (!made[from / SLAB_ELEMENTS] ||
				from % SLAB_ELEMENTS + n > SLAB_ELEMENTS)) ||
	    (!made[at / SLAB_ELEMENTS] &&
	     1 + model_made() >= elements.slabs_max))
		return false;
	made[at / SLAB_ELEMENTS] = true;
	if (from < MODEL_N)
		memmove(word + at, word + from, n * sizeof(*word));
	for (uint32_t i = 0; from == MODEL_N && i < n; i++)
		word[at + i] = salt;
	return true;
}

static bool model_drop(uint32_t slab)
{
	bool there = made[slab];

	made[slab] = false;
	memset(word + slab * SLAB_ELEMENTS, 0, SLAB_ELEMENTS * sizeof(*word));
	return there;
}

TEST(elements_agree_with_a_model)
{
	uint32_t refused = 0;

	setup(2 * MIB);		/* slab 0, and four more at most */
	for (uint32_t step = 1; step <= 6000; step++) {
		uint32_t at = rnd(MODEL_N), n = 1 + rnd(3000);
		uint32_t from = step % 2 ? MODEL_N : rnd(MODEL_N);
		uint32_t salt = rnd(1 << 30), slab = rnd(MODEL_SLABS);
		struct table_run run = { model_pos(at), n, TABLE_RUN_NEW, 0 };
		bool right;

		if (from < MODEL_N)
			run.from = model_pos(from);
		if (step % 50 == 0) {
			right = model_drop(slab);
			CHECK_EQ(elements_drop(&elements, RULE_SLABS + slab),
				 right ? 0 : MSG_BAD_CONTENT);
		} else {
			right = model_write(at, n, from, salt);
			CHECK_EQ(write_runs(&run, 1, salt, 0),
				 right ? 0 : MSG_BAD_CONTENT);
		}
		refused += !right;
		CHECK_EQ(elements.n_slabs, 1 + model_made());
		at = rnd(MODEL_N);
		if (made[at / SLAB_ELEMENTS])
			CHECK_EQ(word_at(model_pos(at)), word[at]);
	}
	printf("# %u of 6000 refused\n", refused);
	CHECK(refused > 200 && refused < 5800);
}
