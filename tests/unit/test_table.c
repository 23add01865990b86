// SPDX-License-Identifier: Apache-2.0
/* Tables from rows: whatever the rows, the kernel's search, the worker's and
 * one written from the description find the same as a search in the rows. */
#include "tests/unit/bpf_host.h"
#include "tests/unit/complexity.h"
#include "tests/unit/flat_table.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "symbolizerd/unwind/table.h"
#include "tests/unit/table_view.h"

/* --- the kernel's side, on the host: positions beyond DIR are directory ------ */

#define DIR	(1u << 24)

static struct table_view table;

static __always_inline const union element *element_at(__u32 pos)
{
	if (pos >= DIR) {
		CHECK((pos - DIR) * 8 < table.hdr->pages);
		return (const union element *)table.dir + (pos - DIR);
	}
	CHECK(pos < table.hdr->n_elements);
	return &table.elements[pos];
}

#include "bpf/lookup.bpf.h"

/* --- rows, and the plainest search in them ----------------------------------- */

#define RANGES_MAX	80000

struct range {
	uint64_t start, end;
	uint32_t rule;		/* salt of rule(); 0: RULE_END */
};

static struct range ranges[RANGES_MAX];
static uint32_t n_ranges;

static struct unwind_rule rule(uint32_t salt)
{
	struct unwind_rule r = { .cfa = CFA_SP, .ra_off = -8,
				 .cfa_off = 8 * (salt & 0xff),
				 .aux = salt >> 8 };

	return salt ? r : (struct unwind_rule){ .cfa = CFA_END };
}

static void range(uint64_t start, uint64_t len, uint32_t salt)
{
	CHECK(n_ranges < RANGES_MAX);
	ranges[n_ranges++] = (struct range){ start, start + len, salt };
}

/* Ranges must ascend and not overlap: the rule at off, or CFA_NONE. */
static struct unwind_rule plain(uint64_t off)
{
	uint32_t lo = 0, hi = n_ranges;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (ranges[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return (struct unwind_rule){ 0 };
	/* in it, or in padding between it and an equal one */
	if (off < ranges[lo - 1].end ||
	    (lo < n_ranges && ranges[lo].rule == ranges[lo - 1].rule &&
	     ranges[lo].start - ranges[lo - 1].end <= TABLE_GAP))
		return rule(ranges[lo - 1].rule);
	return (struct unwind_rule){ 0 };
}

static struct table_builder b;

static void add(uint64_t start, uint64_t end, uint32_t salt)
{
	struct unwind_rule r = rule(salt);

	CHECK_EQ(table_builder_add(&b, start, end, &r), 0);
}

/* What was added is in `table` now. */
static void finish(void)
{
	size_t len;
	void *data;

	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	free((void *)table.hdr);
	CHECK(view_open(&table, data, len));
}

/* Into `table`, in any order. */
static void build(bool shuffle)
{
	static uint32_t order[RANGES_MAX];

	CHECK_EQ(table_builder_init(&b), 0);
	for (uint32_t i = 0; i < n_ranges; i++) {
		uint32_t k = shuffle ? rnd(i + 1) : i;

		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; i < n_ranges; i++) {
		const struct range *g = &ranges[order[i]];

		add(g->start, g->end, g->rule);
	}
	finish();
}

/* What the kernel's search and that from the description say. */
static struct unwind_rule find_fast(uint64_t off)
{
	const struct unwind_rule *a = view_find(&table, off);
	int n = table_rule(DIR, table.hdr->pages, off);

	CHECK(n >= 0);
	CHECK(n == RULE_NONE || (uint32_t)n < table.hdr->n_rules);
	CHECK(!memcmp(a, n ? &table.rules[n] : &(struct unwind_rule){ 0 },
		      sizeof(*a)));
	return *a;
}

/* What all three searches say, which must be the same. */
static struct unwind_rule find(uint64_t off)
{
	const struct unwind_rule *l = table_lookup(table.hdr, off);
	struct unwind_rule r = find_fast(off);

	CHECK(l || off >> TABLE_PAGE_SHIFT >= table.hdr->pages);
	CHECK(!memcmp(&r, l ? l : &(struct unwind_rule){ 0 }, sizeof(r)));
	return r;
}

/* The worker's search goes through a page row by row: rarely in dense ones. */
static void check_at(uint64_t off)
{
	bool fast = table.hdr->n_rows > 10000 && rnd(256);
	struct unwind_rule got = fast ? find_fast(off) : find(off), want = plain(off);

	if (memcmp(&got, &want, sizeof(got)))
		printf("# at %#jx\n", (uintmax_t)off);
	CHECK_EQ(got.cfa, want.cfa);
	CHECK(!memcmp(&got, &want, sizeof(got)));
}

/* Around every boundary (or tries of them), and anywhere. */
static void check_all(bool shuffle, uint32_t tries)
{
	uint64_t last = n_ranges ? ranges[n_ranges - 1].end : 0;

	build(shuffle);
	for (uint32_t i = 0; i < tries && n_ranges; i++) {
		const struct range *g = &ranges[tries < n_ranges ?
						rnd(n_ranges) : i % n_ranges];

		check_at(g->start);
		check_at(g->start ? g->start - 1 : 0);
		check_at(g->start + 1);
		check_at(g->start + rnd((uint32_t)(g->end - g->start)));
		check_at(g->end);
		check_at(g->end - 1);
		check_at(g->end + 1);
		check_at(rnd(UINT32_MAX) % (last + 100000));
	}
	for (uint64_t p = 0; p <= table.hdr->pages && p < 1000; p++) {
		check_at(p << 16);
		check_at((p << 16) + 0xffff);
		check_at((p << 16) + rnd(65536));
	}
	check_at(last);
	check_at(last | 0xffff);
	check_at((last | 0xffff) + 1);
	check_at(1ULL << 40);
	check_at(UINT64_MAX);
	n_ranges = 0;
}

/* --- tests -------------------------------------------------------------------- */

TEST(table_of_nothing)
{
	check_all(false, 0);
	CHECK_EQ(table.hdr->pages, 0);
	CHECK(!table_lookup(table.hdr, 0));
}

TEST(table_random)
{
	static const uint32_t gaps[] = { 1, 3, 17, 40, 3000, 70000, 1000000 };

	for (int i = 0; i < 140; i++) {
		uint32_t gap = gaps[i % 7], n = 1 + rnd(i % 5 ? 300 : 5000);
		uint32_t rules = 1 + rnd(i & 1 ? 3 : 400);
		uint64_t off = rnd(2) ? rnd(200000) : 0;

		if (gap > 40 && n > 300)
			n = 300;
		for (uint32_t k = 0; k < n; k++) {
			uint32_t len = 1 + rnd(i % 3 ? 20 : 2000);

			range(off, len, rnd(rules));
			off += len + rnd(gap);
		}
		check_all(i & 2, 400);
	}
}

/* Ranges of up to max_len, gaps of up to max_gap after one in `every`. */
static void random_ranges(uint32_t n, uint32_t max_len, uint32_t max_gap, uint32_t every,
			  uint32_t rules)
{
	uint64_t off = 1 + rnd(200000);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = 1 + rnd(max_len);

		range(off, len, 1 + rnd(rules));
		off += len + (rnd(every) ? 0 : rnd(max_gap + 1));
	}
	check_all(n & 1, n);
}

TEST(table_every_boundary)
{
	for (int i = 0; i < 40; i++)
		random_ranges(1 + rnd(2000), 200, 40, 4, 2 + rnd(30));
	for (int i = 0; i < 20; i++)
		random_ranges(1 + rnd(40), 400000, 300000, 2, 2);
}

TEST(table_one_function_anywhere)
{
	static const uint64_t at[] = { 1, 0xffff, 0x10000, 0x1fffe, 0x1ffff,
				       0x20000, 0x7fff8, 0x3fffffffff };

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		for (uint32_t len = 1; len < 200000; len = len * 7 + 1) {
			if ((at[i] + len) >> TABLE_PAGE_SHIFT >= 8 * SLAB_ELEMENTS)
				continue;
			range(at[i], len, 5);
			check_all(false, 1);
			CHECK_EQ(table.hdr->n_rows, 2);
		}
	}
}

TEST(table_rows_at_both_ends_of_a_page)
{
	range(0x10000, 1, 1);
	range(0x10001, 0xfffe, 2);
	range(0x1ffff, 1, 3);
	range(0x20000, 0xffff, 4);
	range(0x2ffff, 0x20001, 5);
	check_all(true, 5);
	CHECK_EQ(table.hdr->n_rows, 6);
	CHECK_EQ(table.hdr->pages, 6);
}

TEST(table_at_page_edges)
{
	static const uint64_t at[] = { 0, 1, 0xfffe, 0xffff, 0x10000, 0x10001,
				       0x2ffff, 0x30000 };
	static const uint64_t len[] = { 1, 2, 0xffff, 0x10000, 0x10001,
					0x50000 };

	for (int i = 0; i < 8; i++) {
		for (int k = 0; k < 6; k++) {
			range(at[i], len[k], 5);
			check_all(false, 1);
			range(at[i], len[k], 5);
			range(at[i] + len[k], 1, 6);
			check_all(false, 2);
			if (at[i]) {
				range(at[i] - 1, 1, 6);
				range(at[i], len[k], 5);
				check_all(false, 2);
			}
		}
	}
}

/* A row at low 0xffff is not the padding after it, whichever row of its
 * element it is. */
TEST(table_row_at_ffff)
{
	for (uint32_t n = 1; n < 40; n++) {
		for (uint32_t i = 0; i < n; i++)
			range(0xffff - n + 1 + i, 1, 1 + i % 2);
		range(0x10000, 8, 9);
		check_all(false, n + 1);
	}
}

TEST(table_isolated_functions)
{
	for (uint32_t i = 0; i < 200; i++)
		range(0x123456 + i * 0x12345ULL, 16, 1 + i % 7);
	check_all(true, 200);
	/* one, far away */
	range((1ULL << 32) + 12345, 100, 1);
	check_all(false, 1);
}

/* Pages without a row of their own have the rule of the row before. */
TEST(table_inherited_pages)
{
	range(0x8000, 0x100000, 3);
	range(0x108000, 16, 4);
	range(0x108010, 0x200000, 0);
	build(false);
	for (uint64_t off = 0; off < 0x400000; off += 0x1000)
		check_at(off);
	CHECK(table.hdr->pages >= 0x30 && !table.dir[5].n);
	CHECK_EQ(table.dir[5].rule_before, table.dir[1].rule_before);
	n_ranges = 0;
}

/* Elements of index: 512 rows need one, 513 a second; a page holds 65,536. */
TEST(table_dense_pages)
{
	static const uint32_t rows[] = { 15, 16, 17, 511, 512, 513, 1023, 1024,
					 1025, 8191, 8192, 8193, 16384, 16385,
					 40000, 65535, 65536 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (uint32_t k = 0; k < rows[i]; k++)
			range(0x20000 + k, 1, 1 + k % 3);
		check_all(i & 1, rows[i]);
		CHECK(table.dir[2].n == (rows[i] + (rows[i] < 65536) + 15) / 16);
		CHECK_EQ(table.hdr->n_rows, rows[i] + 1);
	}
	for (uint32_t k = 0; k < 70000; k++)
		range(0x30000 + k, 1, 1 + k % 3);
	check_all(true, 70000);
	CHECK_EQ(table.dir[3].n, PAGE_ELEMENTS_MAX);
}

TEST(table_gaps)
{
	for (uint32_t gap = 0; gap < 40; gap++) {
		/* equal rules, different ones, ends */
		range(1000, 10, 5);
		range(1010 + gap, 10, 5);
		range(1020 + 2 * gap, 10, 6);
		range(1030 + 3 * gap, 10, 0);
		range(1040 + 4 * gap, 10, 0);
		build(gap & 1);
		for (uint64_t off = 990; off < 1300; off++)
			check_at(off);
		CHECK_EQ(table.hdr->n_rows, !gap ? 4 : gap <= 15 ? 6 : 10);
		n_ranges = 0;
	}
}

TEST(table_merges_equal_neighbours)
{
	for (uint32_t i = 0; i < 1000; i++)
		range(100 + 10 * i, 10, 4);
	build(true);
	CHECK_EQ(table.hdr->n_rows, 2);
	CHECK_EQ(table.hdr->n_rules, 3);
	n_ranges = 0;
}

/* The same range twice, and with other rules. */
TEST(table_duplicate_ranges)
{
	for (int turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < 300; i++) {
			range(0x1000 + 32 * i, 16, 1 + i % 3);
			range(0x1000 + 32 * i, 16, 1 + i % 3 + 4 * turn);
		}
		build(true);
		for (uint32_t i = 0; i < 32 * 300; i++) {
			struct unwind_rule got = find(0x1000 + i);
			struct unwind_rule one = rule(1 + i / 32 % 3);
			struct unwind_rule two = rule(1 + i / 32 % 3 + 4 * turn);

			if (i % 32 < 16)
				CHECK(!memcmp(&got, &one, sizeof(one)) ||
				      !memcmp(&got, &two, sizeof(two)));
			else
				CHECK_EQ(got.cfa, CFA_NONE);
		}
		n_ranges = 0;
	}
}

/* Of overlapping ranges, which no sound file has, the one that begins later
 * wins.  After the first end there may be no rule, but never a wrong one. */
TEST(table_overlapping_ranges)
{
	range(0x1000, 0x1000, 1);
	range(0x1800, 0x200, 2);
	build(false);
	CHECK_EQ(find(0x17ff).cfa_off, 8);
	CHECK_EQ(find(0x1800).cfa_off, 16);
	CHECK_EQ(find(0x19ff).cfa_off, 16);
	for (int turn = 0; turn < 200; turn++) {
		n_ranges = 0;
		for (uint32_t i = 0, n = 1 + rnd(40); i < n; i++)
			range(32 * rnd(5000), 32 * (1 + rnd(500)), 1 + i);
		build(turn & 1);
		for (int k = 0; k < 300; k++) {
			uint64_t off = rnd(32 * 5600), from = 0;
			struct unwind_rule got = find(off), want;
			bool found = got.cfa == CFA_NONE;

			for (uint32_t i = 0; i < n_ranges; i++) {
				if (ranges[i].start <= off &&
				    off < ranges[i].end &&
				    ranges[i].start > from)
					from = ranges[i].start;
			}
			for (uint32_t i = 0; i < n_ranges; i++) {
				want = rule(ranges[i].rule);
				found |= ranges[i].start == from &&
					 !memcmp(&want, &got, sizeof(got));
			}
			CHECK(found);
		}
	}
}

/* Also of ranges that are added twice, and from the end. */
TEST(table_later_start_wins)
{
	CHECK_EQ(table_builder_init(&b), 0);
	add(200, 300, 2);
	add(100, 250, 1);
	add(100, 250, 1);
	finish();
	CHECK_EQ(find(199).cfa_off, 8);
	CHECK_EQ(find(200).cfa_off, 16);
	CHECK_EQ(find(249).cfa_off, 16);
	CHECK_EQ(find(300).cfa, CFA_NONE);
}

/* In order, from the end, in runs of many lengths, and in no order at all. */
TEST(table_ranges_come_in_any_order)
{
	enum { N = 5000, WIDE = 16 };
	static const uint32_t steps[] = { 1, N - 1, 7, 1999, 2501 };

	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		CHECK_EQ(table_builder_init(&b), 0);
		for (uint32_t i = 0; i < N; i++) {	/* steps have no factor of N */
			uint64_t at = (uint64_t)i * steps[s] % N;

			add(at * WIDE, at * WIDE + 9, 1 + at % 50);
		}
		CHECK_EQ(table_builder_next_source(&b), 0);
		CHECK_EQ(b.rows.n, 2 * N);
		for (uint32_t i = 1; i < b.rows.n; i++)
			CHECK(b.rows.v[i - 1] <= b.rows.v[i]);
		finish();
		for (uint64_t at = 0; at < N; at++) {
			CHECK_EQ(find(at * WIDE).cfa_off, 8 * (1 + at % 50));
			CHECK_EQ(find(at * WIDE + 8).cfa_off, 8 * (1 + at % 50));
		}
	}
}

TEST(table_fixed_rules)
{
	CHECK_EQ(table_builder_init(&b), 0);
	add(100, 200, 0);
	add(200, 300, 8);
	finish();
	CHECK_EQ(table.hdr->n_rules, 3);
	CHECK_EQ(find(150).cfa, CFA_END);
	CHECK_EQ(table_rule(DIR, table.hdr->pages, 150), RULE_END);
	CHECK_EQ(find(99).cfa, CFA_NONE);
	CHECK_EQ(find(299).cfa_off, 64);
	CHECK_EQ(find(300).cfa, CFA_NONE);
}

/* --- several sources ------------------------------------------------------------ */

/* Settled ranges stay; later ones fill what they leave, piece by piece. */
TEST(table_later_ranges_fill_what_settled_ones_leave)
{
	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_next_source(&b), 0);
	add(500, 600, 1);
	add(200, 300, 1);
	add(300, 400, 0);
	CHECK_EQ(table_builder_next_source(&b), 0);
	add(250, 400, 2);
	add(100, 900, 2);
	add(950, 960, 2);
	add(550, 580, 0);
	finish();
	for (uint64_t off = 0; off < 1000; off++) {
		struct unwind_rule r = find(off);

		if (off >= 300 && off < 400)
			CHECK_EQ(r.cfa, CFA_END);
		else if ((off >= 100 && off < 900) || (off >= 950 && off < 960))
			CHECK_EQ(r.cfa_off, off / 100 == 2 || off / 100 == 5 ? 8 : 16);
		else
			CHECK_EQ(r.cfa, CFA_NONE);
	}
}

/* A later source fills what is left; in units of 32 bytes, so that no gap is
 * padding. */
TEST(table_second_source_fills_gaps)
{
	enum { UNITS = 600 };

	for (int turn = 0; turn < 300; turn++) {
		uint32_t want[UNITS] = { 0 };

		CHECK_EQ(table_builder_init(&b), 0);
		for (uint32_t source = 0; source < 3; source++) {
			uint32_t at = rnd(20);

			while (at < UNITS - 50) {
				uint32_t n = 1 + rnd(12), salt = 1 + rnd(60000);

				add(32 * at, 32 * (at + n), salt);
				for (uint32_t i = at; i < at + n; i++)
					want[i] = want[i] ? want[i] : salt;
				at += n + rnd(2) * rnd(20);
			}
			CHECK_EQ(table_builder_next_source(&b), 0);
		}
		finish();
		for (uint32_t i = 0; i < 32 * UNITS; i++) {
			struct unwind_rule got = find(i), r = { 0 };

			if (want[i / 32])
				r = rule(want[i / 32]);
			CHECK(!memcmp(&got, &r, sizeof(r)));
		}
	}
}

/* One source with n ranges, then another with n ranges that all span all of those: no
 * sound file has that. */
static uint64_t add_overlapping(size_t n)
{
	uint64_t begin, ns;

	CHECK_EQ(table_builder_init(&b), 0);
	for (size_t i = 0; i < n; i++)
		add(i * 16, i * 16 + 16, 1 + i % 2);
	CHECK_EQ(table_builder_next_source(&b), 0);
	begin = complexity_ns();
	for (size_t i = 0; i < n; i++)
		add(i, n * 16, 3);
	ns = complexity_ns() - begin;
	table_builder_fini(&b);
	return ns;
}

TEST(table_ranges_that_overlap_cost_no_more)
{
	CHECK(complexity_growth(add_overlapping, 2000) < COMPLEXITY_MAX);
}

/* --- limits ------------------------------------------------------------------- */

TEST(table_ignores_impossible_ranges)
{
	for (uint32_t salt = 0; salt < 2; salt++) {
		CHECK_EQ(table_builder_init(&b), 0);
		add(5, 5, salt);
		add(6, 5, salt);
		add(6, 1ULL << 40, salt);
		add(UINT64_MAX - 1, UINT64_MAX, salt);
		finish();
		CHECK_EQ(table.hdr->pages, 0);
	}
}

TEST(table_refuses_too_many_pages)
{
	uint64_t limit = (8ULL * SLAB_ELEMENTS) << TABLE_PAGE_SHIFT;
	size_t len;
	void *data;

	CHECK_EQ(table_builder_init(&b), 0);
	add(limit - 2, limit - 1, 1);
	finish();
	CHECK_EQ(find(limit - 2).cfa_off, 8);
	CHECK_EQ(table_builder_init(&b), 0);
	add(limit - 2, limit, 1);
	CHECK(table_builder_finish(&b, &data, &len) == -E2BIG);
	table_builder_fini(&b);
}

TEST(table_refuses_too_many_rules)
{
	struct unwind_rule more = rule(RULES_MAX);

	CHECK_EQ(table_builder_init(&b), 0);
	for (uint32_t i = 2; i < RULES_MAX; i++)
		add(4 * i, 4 * i + 4, i);
	CHECK(table_builder_add(&b, 0, 4, &more) == -E2BIG);
	add(0, 4, 77);
	finish();
	CHECK_EQ(table.hdr->n_rules, RULES_MAX);
	for (uint32_t i = 2; i < RULES_MAX; i++) {
		struct unwind_rule got = find(4 * i + 1), want = rule(i);

		CHECK(!memcmp(&got, &want, sizeof(got)));
	}
}
