// SPDX-License-Identifier: Apache-2.0
/*
 * Rules that are remembered (bpf/remember.bpf.h) are those that a look-up would find:
 * never another file's, another table's, nor another place's.
 */
#include "bpf/host_kernel.h"
#include "tests/unit/harness.h"

#include "bpf/frame.h"
#include "bpf/table.h"

static int looked_up;		/* calls of table_rule() */
static bool missing;		/* it finds nothing */
static struct unwind_rule there;

/* A rule that differs wherever the place does. */
static struct unwind_rule rule_there(__u32 dir, __u64 off)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = (__s32)dir,
				     .aux = (__s32)off, .fp_off = (__s32)(off >> 32) };
}

static int fake_table_rule(__u32 dir, __u32 pages, __u64 off)
{
	CHECK_EQ(pages, 7);
	looked_up++;
	there = rule_there(dir, off);
	return missing ? -1 : 2;
}

static const struct unwind_rule *fake_rule_at(int rule)
{
	return rule < 0 ? NULL : &there;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"
/* bpf_probe_read_user() always fails here, and -Og does not see that nothing is read then */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "bpf/state.bpf.h"
#define table_rule	fake_table_rule
#define rule_at		fake_rule_at
#include "bpf/remember.bpf.h"
#pragma GCC diagnostic pop

static struct remembered_rules all;
static struct scratch s = { .now = 1000000000000ULL, .st = { .sp = 0x7ffc12345600 } };

void *bpf_map_lookup_elem(void *map, const void *key)
{
	CHECK(map == &remembered_rules && !*(const __u32 *)key);
	return &all;
}

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	(void)dst, (void)size, (void)src;
	return -1;
}

/* It is the rule of this place; was it looked up? */
static int asks(const struct memo *m, __u64 off)
{
	struct unwind_rule want = rule_there(m->dir, off);
	int before = looked_up;
	const struct unwind_rule *r = find_rule(&s, m, off);

	CHECK(r && !memcmp(r, &want, sizeof(want)));
	return looked_up - before;
}

TEST(a_place_is_looked_up_once_in_a_second)
{
	struct memo m = { .exe = EXE_FIRST, .dir = 0x8123, .pages = 7 };

	CHECK(asks(&m, 0x12345));
	for (int i = 0; i < 17; i++) {
		CHECK(!asks(&m, 0x12345));
		s.now += 50000000;
	}
	s.now += 150000000;	/* a second after the first */
	CHECK(asks(&m, 0x12345));
	CHECK(!asks(&m, 0x12345));
}

static void are_kept_apart(const struct memo *m, __u64 off, const struct memo *other,
			   __u64 other_off)
{
	memset(&all, 0, sizeof(all));
	CHECK(asks(m, off));
	CHECK(asks(other, other_off));
	CHECK(!asks(m, off));
	CHECK(!asks(other, other_off));
}

TEST(another_place_file_or_table_is_not_taken_for_it)
{
	struct memo m = { .exe = EXE_FIRST, .dir = 0x8123, .pages = 7 };

	for (int bit = 0; bit < 36; bit++)
		are_kept_apart(&m, 0x12345, &m, 0x12345 ^ (1ULL << bit));
	for (int bit = 0; bit < SLAB_SHIFT + 10; bit++) {
		struct memo other = { .exe = m.exe, .dir = m.dir ^ (1u << bit), .pages = 7 };

		are_kept_apart(&m, 0x12345, &other, 0x12345);
	}
	for (int bit = 0; bit < 20; bit++) {
		struct memo other = { .exe = m.exe ^ (1u << bit), .dir = m.dir, .pages = 7 };

		are_kept_apart(&m, 0x12345, &other, 0x12345);
	}
}

/* All directories and offsets that there can be. */
TEST(the_largest_numbers_are_kept_apart)
{
	struct memo last = { .exe = EXE_MAX, .dir = (SLABS_MAX << SLAB_SHIFT) - 1, .pages = 7 };

	CHECK(asks(&last, FRAME_PLACE_MASK));
	CHECK(!asks(&last, FRAME_PLACE_MASK));
	last.dir--;
	CHECK(asks(&last, FRAME_PLACE_MASK));
	last.exe--;
	CHECK(asks(&last, FRAME_PLACE_MASK));
}

TEST(frames_of_a_stack_do_not_drive_each_other_out)
{
	struct memo m = { .exe = EXE_FIRST, .dir = 0x8123, .pages = 7 };
	__u64 sp = s.st.sp;

	for (int round = 0; round < 2; round++) {
		s.now += 1000000000;
		for (unsigned int i = 0; i < 2 * REMEMBERED; i++) {
			s.st.sp = sp + 64ULL * i;
			CHECK(asks(&m, i));
		}
		s.now += 10000000;
		for (unsigned int i = 0; i < 2 * REMEMBERED; i++) {
			s.st.sp = sp + 64ULL * i;
			CHECK(!asks(&m, i));
		}
	}
	/* what comes next takes the place of the older one */
	s.now += 10000000;
	s.st.sp = sp + 128 * REMEMBERED;
	CHECK(asks(&m, 77777));
	s.now += 10000000;
	CHECK(asks(&m, 88888));
	CHECK(!asks(&m, 77777));
	CHECK(!asks(&m, 88888));
	s.st.sp = sp;
	CHECK(asks(&m, 0));
	CHECK(!asks(&m, 88888));
}

TEST(what_is_missing_is_not_remembered)
{
	struct memo m = { .exe = EXE_FIRST, .dir = 0x9000, .pages = 7 };

	missing = true;
	CHECK(!find_rule(&s, &m, 5));
	missing = false;
	CHECK(asks(&m, 5));
	CHECK(!asks(&m, 5));
}
