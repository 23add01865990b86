// SPDX-License-Identifier: Apache-2.0
/*
 * Rows become a table: what the kernel's own lookup (bpf/lookup.bpf.h) finds
 * in it is what a bisection of the flat rows finds.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/complexity.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "symbolizerd/unwind/table.h"
#include "tests/unit/table_view.h"

/* --- the kernel's side: directory and elements, one behind the other --------- */

static struct table_view view;
static union element *image;	/* directory, then elements */
static uint32_t dir_elements;
static void *held;		/* what view shows */

static __always_inline const union element *element_at(__u32 pos)
{
	CHECK(pos < dir_elements + view.hdr->n_elements);
	return &image[pos];
}

#include "bpf/lookup.bpf.h"

/* Takes data over. */
static void load(void *data, size_t len)
{
	free(held);
	held = data;
	CHECK(view_open(&view, data, len));
	dir_elements = (view.hdr->pages + 7) / 8;
	free(image);
	image = calloc(dir_elements + view.hdr->n_elements + 1, sizeof(*image));
	if (!view.hdr->pages)
		return;
	memcpy(image, view.dir, view.hdr->pages * sizeof(*view.dir));
	memcpy(image + dir_elements, view.elements,
	       view.hdr->n_elements * sizeof(*image));
	for (uint32_t p = 0; p < view.hdr->pages; p++) {
		if (image[p / 8].dir[p % 8].n)
			image[p / 8].dir[p % 8].first += dir_elements;
	}
}

static const struct unwind_rule *find(uint64_t off)
{
	int rule = table_rule(0, view.hdr->pages, off);
	const struct unwind_rule *r;

	CHECK(rule >= 0);
	if (!view.hdr->pages)
		return view_find(&view, off);
	r = &view.rules[rule];
	CHECK(!memcmp(r, view_find(&view, off), sizeof(*r)));
	return r;
}

/* --- the flat side ------------------------------------------------------------- */

#define RANGES_MAX	80000

struct range {
	uint64_t start, end;
	uint32_t rule;		/* cfa_off of it */
};
static struct range ranges[RANGES_MAX];
static uint32_t n_ranges;
static uint64_t seed = 0x2545f4914f6cdd1dULL;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (seed >> 20) % below;
}

static struct unwind_rule rule(uint32_t n)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = n, .ra_off = -8 };
}

static uint32_t expected(uint64_t off)
{
	uint32_t lo = 0, hi = n_ranges;
	const struct range *r;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (ranges[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	r = &ranges[lo - 1];
	if (off < r->end)
		return r->rule;
	/* short gaps between equal rules are bridged */
	if (lo < n_ranges && r[1].rule == r->rule &&
	    r[1].start - r->end <= TABLE_GAP)
		return r->rule;
	return 0;
}

static void check(uint64_t off)
{
	const struct unwind_rule *r = find(off);
	uint32_t want = expected(off);

	CHECK_EQ(r->cfa, want ? CFA_SP : CFA_NONE);
	CHECK_EQ(r->cfa_off, want);
}

static void build(bool shuffled)
{
	static uint32_t order[RANGES_MAX];
	struct table_builder b;
	void *data;
	size_t len;

	CHECK_EQ(table_builder_init(&b), 0);
	for (uint32_t i = 0; i < n_ranges; i++)
		order[i] = i;
	for (uint32_t i = n_ranges; shuffled && i > 1; i--) {
		uint32_t k = rnd(i), t = order[k];

		order[k] = order[i - 1];
		order[i - 1] = t;
	}
	for (uint32_t i = 0; i < n_ranges; i++) {
		const struct range *g = &ranges[order[i]];
		struct unwind_rule r = rule(g->rule);

		CHECK_EQ(table_builder_add(&b, g->start, g->end, &r), 0);
	}
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	load(data, len);
	for (uint32_t i = 0; i < n_ranges; i++) {
		for (int d = -1; d < 2; d++) {
			check(ranges[i].start + d);
			check(ranges[i].end + d);
		}
		check(ranges[i].start + rnd(ranges[i].end - ranges[i].start));
	}
	for (uint64_t p = 0; p <= view.hdr->pages; p++) {
		check(p << 16);
		check((p << 16) + 0xffff);
		check((p << 16) + rnd(65536));
	}
	check(0xffffffffffULL);
}

static void add(uint64_t start, uint64_t len, uint32_t rule_n)
{
	CHECK(n_ranges < RANGES_MAX);
	ranges[n_ranges++] = (struct range){ start, start + len, rule_n };
}

/* Ranges of up to max_len, gaps of up to max_gap in one of `every`. */
static void random_ranges(uint32_t n, uint32_t max_len, uint32_t max_gap,
			  uint32_t every, uint32_t rules)
{
	uint64_t off = 1 + rnd(200000);

	n_ranges = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = 1 + rnd(max_len);

		add(off, len, 1 + rnd(rules));
		off += len + (rnd(every) ? 0 : rnd(max_gap + 1));
	}
}

TEST(table_lookup_is_bisection)
{
	for (int i = 0; i < 40; i++) {
		random_ranges(1 + rnd(2000), 200, 40, 4, 2 + rnd(30));
		build(i & 1);
	}
}

TEST(table_sparse_pages_inherit)
{
	for (int i = 0; i < 20; i++) {
		random_ranges(1 + rnd(40), 400000, 300000, 2, 2);
		build(i & 1);
	}
}

TEST(table_one_function_anywhere)
{
	static const uint64_t at[] = { 1, 0xffff, 0x10000, 0x1fffe, 0x1ffff,
				       0x20000, 0x7fff8, 0x3fffffffff };

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		for (uint32_t len = 1; len < 200000; len = len * 7 + 1) {
			if ((at[i] + len) >> TABLE_PAGE_SHIFT >= 8 * SLAB_ELEMENTS)
				continue;
			n_ranges = 0;
			add(at[i], len, 5);
			build(false);
			CHECK_EQ(view.hdr->n_rows, 2);
		}
	}
}

TEST(table_rows_at_both_ends_of_a_page)
{
	n_ranges = 0;
	add(0x10000, 1, 1);
	add(0x10001, 0xfffe, 2);
	add(0x1ffff, 1, 3);
	add(0x20000, 0xffff, 4);
	add(0x2ffff, 0x20001, 5);
	build(true);
	CHECK_EQ(view.hdr->n_rows, 6);
	CHECK_EQ(view.hdr->pages, 6);
}

TEST(table_dense_pages)
{
	/* more than 512 rows (one index element), more than 16384, all */
	static const uint32_t rows[] = { 15, 16, 17, 511, 512, 513, 1023, 1024,
					 1025, 16384, 16385, 40000, 65535 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n_ranges = 0;
		for (uint32_t k = 0; k < rows[i]; k++)
			add(0x30000 + k, 1, 1 + k % 3);
		build(i & 1);
		CHECK_EQ(view.dir[3].n, (rows[i] + 1 + 15) / 16);
		CHECK_EQ(view.hdr->n_rows, rows[i] + 1);
	}
}

TEST(table_full_page_and_the_next)
{
	n_ranges = 0;
	for (uint32_t k = 0; k < 70000; k++)
		add(0x30000 + k, 1, 1 + k % 3);
	build(true);
	CHECK_EQ(view.dir[3].n, PAGE_ELEMENTS_MAX);
}

TEST(table_gaps)
{
	for (uint32_t gap = 0; gap < 20; gap++) {
		n_ranges = 0;
		add(0x1000, 16, 7);
		add(0x1010 + gap, 16, 7);
		build(false);
		CHECK_EQ(view.hdr->n_rows, gap <= TABLE_GAP ? 2 : 4);
		n_ranges = 0;
		add(0x1000, 16, 7);
		add(0x1010 + gap, 16, 8);
		build(false);
		CHECK_EQ(view.hdr->n_rows, gap ? 4 : 3);
	}
}

TEST(table_equal_rules_are_one_row)
{
	n_ranges = 0;
	for (uint32_t k = 0; k < 1000; k++)
		add(0x1000 + 16 * k, 16, 9);
	build(true);
	CHECK_EQ(view.hdr->n_rows, 2);
	CHECK_EQ(view.hdr->n_rules, 3);
}

TEST(table_of_nothing)
{
	const struct unwind_rule end = { .cfa = CFA_END };
	struct table_builder b;
	void *data;
	size_t len;

	n_ranges = 0;
	build(false);
	CHECK_EQ(view.hdr->pages, 0);
	/* neither empty ranges nor those beyond what an offset can be count */
	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_add(&b, 5, 5, &end), 0);
	CHECK_EQ(table_builder_add(&b, 6, 5, &end), 0);
	CHECK_EQ(table_builder_add(&b, 5, 1ULL << 40, &end), 0);
	CHECK_EQ(table_builder_add(&b, UINT64_MAX - 5, UINT64_MAX, &end), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	CHECK_EQ(len, sizeof(struct table_hdr));
	load(data, len);
}

TEST(table_fixed_rules)
{
	const struct unwind_rule end = { .cfa = CFA_END };
	struct unwind_rule sp = rule(8);
	struct table_builder b;
	void *data;
	size_t len;

	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_add(&b, 100, 200, &end), 0);
	CHECK_EQ(table_builder_add(&b, 200, 300, &sp), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	load(data, len);
	CHECK_EQ(view.hdr->n_rules, 3);
	CHECK_EQ(find(150)->cfa, CFA_END);
	CHECK_EQ(table_rule(0, view.hdr->pages, 150), RULE_END);
	CHECK_EQ(find(99)->cfa, CFA_NONE);
	CHECK_EQ(find(299)->cfa_off, 8);
	CHECK_EQ(find(300)->cfa, CFA_NONE);
}

TEST(table_of_overlapping_ranges_the_later_start_wins)
{
	struct unwind_rule one = rule(1), two = rule(2);
	struct table_builder b;
	void *data;
	size_t len;

	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_add(&b, 200, 300, &two), 0);
	CHECK_EQ(table_builder_add(&b, 100, 250, &one), 0);
	CHECK_EQ(table_builder_add(&b, 100, 250, &one), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	load(data, len);
	CHECK_EQ(find(199)->cfa_off, 1);
	CHECK_EQ(find(200)->cfa_off, 2);
	CHECK_EQ(find(249)->cfa_off, 2);
	CHECK_EQ(find(300)->cfa, CFA_NONE);
}

/* In order, from the end, in runs of many lengths, and in no order at all. */
TEST(table_ranges_come_in_any_order)
{
	enum { N = 5000, WIDE = 16 };
	static const uint32_t steps[] = { 1, N - 1, 7, 1999, 2501 };
	struct table_builder b;
	void *data;
	size_t len;

	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		CHECK_EQ(table_builder_init(&b), 0);
		for (uint32_t i = 0; i < N; i++) {	/* steps have no factor of N */
			uint64_t at = (uint64_t)i * steps[s] % N;
			struct unwind_rule r = rule(1 + (int)(at % 50));

			CHECK_EQ(table_builder_add(&b, at * WIDE, at * WIDE + 9, &r), 0);
		}
		CHECK_EQ(table_builder_next_source(&b), 0);
		CHECK_EQ(b.rows.n, 2 * N);
		for (uint32_t i = 1; i < b.rows.n; i++)
			CHECK(b.rows.v[i - 1] <= b.rows.v[i]);
		CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
		table_builder_fini(&b);
		load(data, len);
		for (uint64_t at = 0; at < N; at++) {
			CHECK_EQ(find(at * WIDE)->cfa_off, 1 + (int)(at % 50));
			CHECK_EQ(find(at * WIDE + 8)->cfa_off, 1 + (int)(at % 50));
		}
	}
}

/* What was settled stands; later ranges fill what it leaves, piece by piece. */
TEST(table_later_ranges_fill_what_settled_ones_leave)
{
	struct unwind_rule one = rule(1), two = rule(2);
	const struct unwind_rule end = { .cfa = CFA_END };
	struct table_builder b;
	void *data;
	size_t len;

	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_next_source(&b), 0);
	CHECK_EQ(table_builder_add(&b, 500, 600, &one), 0);
	CHECK_EQ(table_builder_add(&b, 200, 300, &one), 0);
	CHECK_EQ(table_builder_add(&b, 300, 400, &end), 0);
	CHECK_EQ(table_builder_next_source(&b), 0);
	CHECK_EQ(table_builder_add(&b, 250, 400, &two), 0);
	CHECK_EQ(table_builder_add(&b, 100, 900, &two), 0);
	CHECK_EQ(table_builder_add(&b, 950, 960, &two), 0);
	CHECK_EQ(table_builder_add(&b, 550, 580, &end), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	load(data, len);
	for (uint64_t off = 0; off < 1000; off++) {
		const struct unwind_rule *r = find(off);

		if (off >= 300 && off < 400)
			CHECK_EQ(r->cfa, CFA_END);
		else if ((off >= 100 && off < 900) || (off >= 950 && off < 960))
			CHECK_EQ(r->cfa_off, off / 100 == 2 || off / 100 == 5 ?
					     1 : 2);
		else
			CHECK_EQ(r->cfa, CFA_NONE);
	}
}

TEST(table_limits)
{
	struct table_builder b;
	struct unwind_rule r;
	void *data;
	size_t len;

	CHECK_EQ(table_builder_init(&b), 0);
	for (uint32_t i = 2; i < RULES_MAX; i++) {
		r = rule(i);
		CHECK_EQ(table_builder_add(&b, 16 * i, 16 * i + 16, &r), 0);
	}
	r = rule(RULES_MAX);
	CHECK_EQ(table_builder_add(&b, 1, 2, &r), -E2BIG);
	r = rule(RULES_MAX - 1);
	CHECK_EQ(table_builder_add(&b, 1, 2, &r), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), 0);
	table_builder_fini(&b);
	load(data, len);
	CHECK_EQ(view.hdr->n_rules, RULES_MAX);
	CHECK_EQ(find(16 * 40000)->cfa_off, 40000);
	/* a file of more than 8 GiB has more pages than a slab's directory */
	CHECK_EQ(table_builder_init(&b), 0);
	CHECK_EQ(table_builder_add(&b, 1ULL << 39, (1ULL << 39) + 5, &r), 0);
	CHECK_EQ(table_builder_finish(&b, &data, &len), -E2BIG);
	table_builder_fini(&b);
}

/* --- ranges that overlap -------------------------------------------------------- */

/* One source that says something of n places, then another with n ranges that
 * all reach over all of them: no sound file has that. */
static uint64_t add_overlapping(size_t n)
{
	struct table_builder b;
	uint64_t begin, ns;

	CHECK_EQ(table_builder_init(&b), 0);
	for (size_t i = 0; i < n; i++) {
		struct unwind_rule r = { .cfa = CFA_SP, .cfa_off = 8 + i % 2 };

		CHECK_EQ(table_builder_add(&b, i * 16, i * 16 + 16, &r), 0);
	}
	CHECK_EQ(table_builder_next_source(&b), 0);
	begin = complexity_ns();
	for (size_t i = 0; i < n; i++) {
		struct unwind_rule r = { .cfa = CFA_FP, .cfa_off = 16 };

		CHECK_EQ(table_builder_add(&b, i, n * 16, &r), 0);
	}
	ns = complexity_ns() - begin;
	table_builder_fini(&b);
	return ns;
}

TEST(table_ranges_that_overlap_cost_no_more)
{
	CHECK(complexity_growth(add_overlapping, 2000) < COMPLEXITY_MAX);
}
