// SPDX-License-Identifier: Apache-2.0
/*
 * Slabs, which are real BPF maps: they are made and dropped within the budget, and their
 * elements stay when loaderd does not.  Needs root.
 */
#include "loaderd/elements.h"
#include "tests/unit/harness.h"

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/table.h"
#include "ipc/message_loader.h"

#define MIB		(1u << 20)

static struct elements elements;
static int outer;
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

static bool in_outer(uint32_t slab)
{
	uint32_t id;

	return bpf_map_lookup_elem(outer, &slab, &id) == 0;
}

/* The elements of a slab, which is there. */
static union element *map_slab(uint32_t slab)
{
	void *at = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			elements.slabs[slab], 0);

	CHECK(at != MAP_FAILED);
	return at;
}

TEST(slabs_are_made_once)
{
	setup(4 * MIB);
	CHECK_EQ(elements.n_slabs, 1);
	CHECK_EQ(elements_make(&elements, 0), 0);
	CHECK_EQ(elements_make(&elements, 5), 0);
	map_slab(5)[7].row[3].low = 9;
	CHECK_EQ(elements_make(&elements, 5), 0);
	CHECK_EQ(map_slab(5)[7].row[3].low, 9);
	CHECK_EQ(elements.n_slabs, 2);
	CHECK(in_outer(5) && !in_outer(1));
}

/* What is written is what BPF programs see. */
TEST(elements_are_written_by_who_maps_them)
{
	uint32_t i = 3, value[16];

	setup(4 * MIB);
	CHECK_EQ(elements_make(&elements, 2), 0);
	map_slab(2)[3].row[0].low = 77;
	CHECK_EQ(bpf_map_lookup_elem(elements.slabs[2], &i, value), 0);
	CHECK_EQ(value[0], 77);
}

TEST(slabs_stay_in_the_budget)
{
	setup(4 * MIB);
	CHECK_EQ(elements.slabs_max, RULE_SLABS + 1 + 5);
	for (uint32_t i = 1; i < elements.slabs_max; i++)
		CHECK_EQ(elements_make(&elements, i), 0);
	CHECK_EQ(elements_make(&elements, 100), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n_slabs, elements.slabs_max);
	CHECK_EQ(elements_drop(&elements, 3), 0);
	CHECK_EQ(elements_make(&elements, 100), 0);
	CHECK_EQ(elements_make(&elements, 3), MSG_BAD_CONTENT);
	CHECK_EQ(elements_make(&elements, 100), 0);	/* it is there */
}

TEST(slabs_have_numbers_below_their_end)
{
	setup(4 * MIB);
	CHECK_EQ(elements_make(&elements, SLABS_MAX - 1), 0);
	CHECK_EQ(elements_make(&elements, SLABS_MAX), MSG_BAD_CONTENT);
	CHECK_EQ(elements_make(&elements, 0xffffffff), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n_slabs, 2);
}

TEST(slabs_are_dropped)
{
	setup(4 * MIB);
	for (uint32_t i = 1; i < 5; i++)
		CHECK_EQ(elements_make(&elements, i), 0);
	map_slab(3)[9].row[0].low = 3;
	CHECK_EQ(elements_drop(&elements, 3), 0);
	CHECK_EQ(elements.n_slabs, 4);
	CHECK(in_outer(2) && !in_outer(3) && in_outer(4));
	/* made again, it is empty */
	CHECK_EQ(elements_make(&elements, 3), 0);
	CHECK_EQ(map_slab(3)[9].row[0].low, 0);
}

TEST(slabs_of_rules_or_not_there_are_not_dropped)
{
	static const uint32_t bad[] = { 0, 1, 3, SLABS_MAX - 1, SLABS_MAX,
					0xffffffff };

	setup(4 * MIB);
	CHECK_EQ(elements_make(&elements, 1), 0);
	CHECK_EQ(elements_make(&elements, 2), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(elements_drop(&elements, bad[i]), MSG_BAD_CONTENT);
	CHECK_EQ(elements.n_slabs, 3);
	CHECK(in_outer(1) && in_outer(2));
	CHECK_EQ(elements_drop(&elements, 2), 0);
	CHECK_EQ(elements_drop(&elements, 2), MSG_BAD_CONTENT);
}
