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
	CHECK_EQ(elements_init(&elements, outer, opts.inner_map_fd, budget), 0);
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

static int free_at(uint32_t pos, uint32_t n, uint64_t id)
{
	struct table_span span = { pos, n };

	return elements_free(&elements, &span, 1, id);
}

/* The first word of an element, as BPF programs see it. */
static uint32_t word_at(uint32_t pos)
{
	uint32_t i = pos & (SLAB_ELEMENTS - 1);
	uint32_t e[16];

	CHECK(elements.slabs[pos >> SLAB_SHIFT]);
	CHECK_EQ(bpf_map_lookup_elem(elements.slabs[pos >> SLAB_SHIFT]->fd, &i,
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
	CHECK_EQ(elements.n, 5);
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
		{ AT(2, 12), 4, TABLE_RUN_NEW, 0 },	/* 10 to 13: in use */
		{ AT(2, 7), 4, TABLE_RUN_NEW, 0 },
		{ AT(2, 30), 3, TABLE_RUN_NEW, 0 },	/* the run before it */
	};

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 10), 4, 5), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct table_run run[] = {
			{ AT(2, 32), 2, TABLE_RUN_NEW, 0 }, bad[i],
		};

		printf("# row %zu\n", i);
		CHECK_EQ(write_runs(run, 2, 9, 0), MSG_BAD_CONTENT);
		CHECK_EQ(elements.n, 4);
		CHECK_EQ(elements.slabs[2]->n, 4);
		CHECK_EQ(word_at(AT(2, 32)), 0);
		CHECK_EQ(word_at(AT(2, 13)), 5);
	}
	/* what was claimed in vain is free */
	CHECK_EQ(write_at(AT(2, 32), 2, 9), 0);
}

TEST(elements_must_be_as_many_as_the_runs_say)
{
	struct table_run run[] = {
		{ AT(2, 0), 2, TABLE_RUN_NEW, 0 },
		{ AT(2, 8), 2, TABLE_RUN_NEW, 0 },
	};
	char data[2 * sizeof(*run) + 4 * 64 + 1] = "";

	setup(4 * MIB);
	memcpy(data, run, sizeof(run));
	for (size_t len = 0; len <= sizeof(data); len++) {
		if (len == sizeof(data) - 1)
			continue;
		CHECK_EQ(elements_write(&elements, data, len, 2),
			 MSG_BAD_CONTENT);
		CHECK_EQ(elements.n, 0);
	}
	CHECK_EQ(elements_write(&elements, data, sizeof(data) - 1, 2), 0);
}

TEST(elements_wait_for_two_ticks_until_they_are_free)
{
	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 0), 8, 1), 0);
	CHECK_EQ(free_at(AT(2, 0), 4, 11), 0);
	CHECK_EQ(write_at(AT(2, 0), 1, 2), MSG_BAD_CONTENT);
	CHECK_EQ(elements_tick(&elements), 0);
	CHECK_EQ(write_at(AT(2, 0), 1, 2), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(2, 0), 1, 12), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(2, 4), 4, 12), 0);
	CHECK_EQ(elements.n, 8);
	CHECK_EQ(elements_tick(&elements), 11);
	CHECK_EQ(elements.n, 4);
	CHECK_EQ(write_at(AT(2, 0), 4, 3), 0);
	CHECK_EQ(write_at(AT(2, 4), 1, 3), MSG_BAD_CONTENT);
	CHECK_EQ(elements_tick(&elements), 12);
	CHECK_EQ(elements_tick(&elements), 0);
	CHECK_EQ(write_at(AT(2, 4), 4, 3), 0);
	/* a question only */
	CHECK_EQ(elements_free(&elements, NULL, 0, 13), 0);
	CHECK_EQ(elements_tick(&elements), 0);
	CHECK_EQ(elements_tick(&elements), 13);
}

TEST(elements_freed_wrongly_stay)
{
	struct table_span twice[] = { { AT(2, 0), 2 }, { AT(2, 1), 2 } };

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 0), 8, 1), 0);
	CHECK_EQ(elements_free(&elements, twice, 2, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(2, 7), 2, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(2, 8), 1, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(2, 0), 0, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(3, 0), 1, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(AT(0, 0), 1, 5), MSG_BAD_CONTENT);
	CHECK_EQ(free_at(0xffffffff, 0xffffffff, 5), MSG_BAD_CONTENT);
	CHECK_EQ(elements_tick(&elements), 0);
	CHECK_EQ(elements_tick(&elements), 0);
	CHECK_EQ(elements.n, 8);
	/* and nothing of the refused spans is marked */
	CHECK_EQ(free_at(AT(2, 0), 8, 6), 0);
}

TEST(elements_stay_in_the_budget)
{
	setup(1 * MIB);
	CHECK_EQ(write_at(AT(2, 0), SLAB_ELEMENTS, 1), 0);
	CHECK_EQ(write_at(AT(3, 0), 1, 1), MSG_BAD_CONTENT);
	CHECK_EQ(write_at(AT(1, 0), 1, 1), 0);	/* rules do not count */
	CHECK_EQ(free_at(AT(2, 0), 1, 1), 0);
	CHECK_EQ(write_at(AT(3, 0), 1, 1), MSG_BAD_CONTENT);
	elements_tick(&elements);
	elements_tick(&elements);
	CHECK_EQ(write_at(AT(3, 0), 1, 1), 0);
	CHECK_EQ(elements.n, SLAB_ELEMENTS);
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
}

TEST(slabs_of_one_write_are_limited)
{
	static struct table_run run[SLABS_NEW_MAX + 1];

	setup(256ull * MIB);
	for (uint32_t i = 0; i <= SLABS_NEW_MAX; i++)
		run[i] = (struct table_run){ AT(2 + i, 0), 1, TABLE_RUN_NEW, 0 };
	CHECK_EQ(write_runs(run, SLABS_NEW_MAX + 1, 1, 0), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n, 0);
	CHECK_EQ(write_runs(run, SLABS_NEW_MAX + 1, 1, 0), 0);
}

TEST(slabs_that_are_empty_go_a_few_at_a_time)
{
	uint32_t before;

	setup(64 * MIB);
	for (uint32_t i = 2; i < 30; i++)
		CHECK_EQ(write_at(AT(i, 9), 1, 1), 0);
	for (uint32_t i = 2; i < 30; i++)
		CHECK_EQ(free_at(AT(i, 9), 1, i), 0);
	CHECK_EQ(elements_tick(&elements), 0);
	before = elements.n_slabs;
	CHECK_EQ(elements_tick(&elements), 29);
	CHECK(elements.n_slabs < before && elements.n_slabs + 4 >= before);
	for (int i = 0; i < 10; i++)
		elements_tick(&elements);
	CHECK_EQ(elements.n_slabs, 2);	/* rules, and the first of tables */
	CHECK(in_outer(2) && !in_outer(3));
	CHECK_EQ(elements_next(&elements, 1), 2);
	CHECK_EQ(elements_next(&elements, 3), SLABS_MAX);
}

/* A new hub: what was freed for the old one is in use until freed again. */
TEST(elements_freed_for_a_hub_that_is_gone)
{
	const struct slab_copy *copy;
	const void *data;
	size_t len;
	int fd;

	setup(4 * MIB);
	CHECK_EQ(write_at(AT(2, 64), 3, 42), 0);
	CHECK_EQ(free_at(AT(2, 64), 3, 9), 0);
	elements_tick(&elements);
	elements_forget_freed(&elements);
	CHECK_EQ(elements_tick(&elements), 0);
	fd = elements_copy(&elements, 2);
	CHECK_EQ(sealed_map(fd, sizeof(*copy), sizeof(*copy), &data, &len), 0);
	copy = data;
	CHECK_EQ(copy->in_use[0], 0);
	CHECK_EQ(copy->in_use[1], 7);
	CHECK_EQ(copy->element[66].row[0].low, 42);
	CHECK_EQ(copy->element[67].row[0].low, 0);
	munmap((void *)data, len);
	close(fd);
	CHECK_EQ(free_at(AT(2, 64), 3, 1), 0);
	elements_tick(&elements);
	CHECK_EQ(elements_tick(&elements), 1);
	CHECK_EQ(elements.n, 0);
}

/* Random writes and frees, right ones and wrong ones, beside a plain model. */
#define MODEL_SLABS	4
#define MODEL_N		(MODEL_SLABS * SLAB_ELEMENTS)

static uint8_t model[MODEL_N];	/* 0: free, 1: in use, 2, 3: freed */
static uint32_t word[MODEL_N];

static bool model_all(uint32_t at, uint32_t n, uint8_t what)
{
	if (at % SLAB_ELEMENTS + n > SLAB_ELEMENTS)
		return false;
	for (uint32_t i = at; i < at + n; i++) {
		if (model[i] != what)
			return false;
	}
	return true;
}

TEST(elements_agree_with_a_model)
{
	uint32_t in_use = 0, refused = 0;

	setup(2 * MIB);
	for (uint32_t step = 1; step <= 6000; step++) {
		uint32_t at = rnd(MODEL_N), n = 1 + rnd(100), salt = rnd(1 << 30);
		uint32_t pos = AT(RULE_SLABS + at / SLAB_ELEMENTS,
				  at % SLAB_ELEMENTS);
		bool right;

		if (step % 50 == 0) {
			elements_tick(&elements);
			for (uint32_t i = 0; i < MODEL_N; i++) {
				in_use -= model[i] == 3;
				model[i] = model[i] == 3 ? 0 :
					   model[i] == 2 ? 3 : model[i];
			}
		} else if (step % 2) {
			right = model_all(at, n, 0) &&
				in_use + n <= elements.budget;
			CHECK_EQ(write_at(pos, n, salt),
				 right ? 0 : MSG_BAD_CONTENT);
			for (uint32_t i = at; right && i < at + n; i++) {
				model[i] = 1;
				word[i] = salt;
			}
			in_use += right ? n : 0;
			refused += !right;
		} else {
			n = 1 + rnd(20);
			right = model_all(at, n, 1);
			CHECK_EQ(free_at(pos, n, step),
				 right ? 0 : MSG_BAD_CONTENT);
			if (right)
				memset(model + at, 2, n);
		}
		CHECK_EQ(elements.n, in_use);
		at = rnd(MODEL_N);
		if (model[at])
			CHECK_EQ(word_at(AT(RULE_SLABS + at / SLAB_ELEMENTS,
					    at % SLAB_ELEMENTS)), word[at]);
	}
	printf("# %u of 3000 writes refused\n", refused);
	CHECK(refused > 100 && refused < 2900);
}
