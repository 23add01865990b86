// SPDX-License-Identifier: Apache-2.0
/*
 * Tables in real BPF maps: what tables.c installs, bpf/lookup.bpf.h finds, as a
 * search in the flat rows would; and all of it is given back.  Needs root.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bpf/table.h"
#include "loaderd/tables.h"

/* --- the kernel's side, on the host ---------------------------------------- */

static struct tables tables;

static __always_inline const union element *element_at(__u32 pos)
{
	static union element found[8];
	static int turn;
	struct slab *s = tables.slabs[pos >> SLAB_SHIFT];
	__u32 i = pos & (SLAB_ELEMENTS - 1);

	turn = (turn + 1) % 8;
	if (!s || bpf_map_lookup_elem(s->fd, &i, &found[turn]))
		return NULL;
	return &found[turn];
}

#include "bpf/lookup.bpf.h"

/* --- making tables ----------------------------------------------------------- */

#define ROWS_MAX	20000

struct flat {
	uint64_t off[ROWS_MAX];
	uint16_t rule[ROWS_MAX];	/* local */
	uint32_t n, n_rules;
};

static uint64_t seed = 0x2545f4914f6cdd1dULL;

static uint32_t rnd(uint32_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (seed >> 20) % below;
}

static struct unwind_rule rule(uint32_t salt, uint32_t i)
{
	return (struct unwind_rule){ .cfa = CFA_SP, .ra_off = -8,
				     .cfa_off = 8 * (i + 1), .aux = salt };
}

/* dense: rows a few bytes apart; else functions far from each other */
static void make_flat(struct flat *f, uint32_t rows, uint32_t rules, bool dense)
{
	uint64_t off = rnd(200000);

	f->n = rows;
	f->n_rules = rules;
	for (uint32_t i = 0; i < rows; i++) {
		f->off[i] = off;
		f->rule[i] = rnd(rules);
		off += 1 + (dense ? rnd(4) : rnd(40000));
	}
}

/* The form of bpf/table.h, made the plainest way. */
static void *make_table(const struct flat *f, uint32_t salt, size_t *len)
{
	uint32_t pages = (f->off[f->n - 1] >> 16) + 1, row = 0, els = 0;
	size_t rules = f->n_rules * sizeof(struct unwind_rule);
	size_t dir = (pages * 8 + 63) / 64 * 64;
	struct table_hdr *h = calloc(1, 32 + rules + dir +
					(f->n / 8 + 4 * pages) * 64 + 64);
	struct unwind_rule *r = (void *)(h + 1);
	struct dir_entry *d = (void *)((char *)r + rules);
	union element *e = (void *)((char *)d + dir);
	uint16_t before = RULE_NONE;

	for (uint32_t i = 0; i < f->n_rules; i++)
		r[i] = rule(salt, i);
	memset(&r[0], 0, sizeof(*r));
	memset(&r[1], 0, sizeof(*r));
	r[1].cfa = CFA_END;
	for (uint32_t p = 0; p < pages; p++) {
		uint32_t first = row, n, n_index;

		while (row < f->n && f->off[row] >> 16 == p)
			row++;
		n = (row - first + 15) / 16;
		n_index = (n + 31) / 32;
		d[p] = (struct dir_entry){ n ? els : 0, n, before };
		memset(&e[els], 0xff, n_index * 64);
		for (uint32_t k = 0; k < n * 16; k++) {
			uint32_t at = first + k < row ? first + k : row - 1;
			union element *to = &e[els + n_index + k / 16];

			to->row[k % 16].rule = f->rule[at];
			to->row[k % 16].low = first + k < row ? f->off[at] :
							       PAD_LOW;
			if (k % 16 == 0)
				e[els + k / 512].index[k / 16 % 32] = f->off[at];
		}
		els += n_index + n;
		if (row > first)
			before = f->rule[row - 1];
	}
	*h = (struct table_hdr){ TABLE_MAGIC, f->n_rules, pages, els, f->n,
				 { 0 } };
	*len = 32 + rules + dir + els * 64;
	return h;
}

/* --- tests --------------------------------------------------------------------- */

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
	CHECK(tables_init(&tables, bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS,
						  "slabs", 4, 4, SLABS_MAX,
						  &opts),
			  opts.inner_map_fd, budget) == 0);
}

static void check_at(const struct flat *f, const struct table_ref *t,
		     uint32_t salt, uint64_t off)
{
	uint32_t lo = 0, hi = f->n;
	const union element *e;
	struct unwind_rule want;
	uint16_t local;
	int got;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (f->off[mid] <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	local = lo ? f->rule[lo - 1] : RULE_NONE;
	got = table_rule(t->dir, t->pages, off);
	if (off >> 16 >= t->pages || local < 2) {
		CHECK_EQ(got, off >> 16 >= t->pages ? RULE_NONE : local);
		return;
	}
	CHECK(got >= 2);
	e = element_at((uint32_t)got >> 1);
	want = rule(salt, local);
	CHECK(!memcmp(&e->rule[got & 1], &want, sizeof(want)));
}

static void check_table(uint32_t rows, uint32_t rules, bool dense)
{
	static struct flat f;
	struct table_ref ref;
	uint32_t salt = rnd(1000);
	size_t len;
	void *t;

	make_flat(&f, rows, rules, dense);
	t = make_table(&f, salt, &len);
	CHECK_EQ(tables_install(&tables, t, len, &ref), 0);
	for (int i = 0; i < 2000; i++) {
		uint32_t k = rnd(f.n);

		check_at(&f, &ref, salt, f.off[k]);
		check_at(&f, &ref, salt, f.off[k] - !!f.off[k]);
		check_at(&f, &ref, salt, rnd(f.off[f.n - 1] + 100000));
	}
	check_at(&f, &ref, salt, 0);
	tables_release(&tables, &ref);
	free(t);
}

TEST(tables_lookup_equals_bisection)
{
	setup(64 << 20);
	for (int i = 0; i < 12; i++) {
		check_table(1 + rnd(20), 2 + rnd(50), i & 1);
		check_table(1 + rnd(3000), 2 + rnd(500), i & 1);
		check_table(ROWS_MAX - rnd(100), 2 + rnd(3000), i & 1);
	}
	/* a page of more than 512 row elements takes several index elements */
	check_table(ROWS_MAX, 7, true);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.rows, 0);
	CHECK_EQ(tables.n_rules, 2);
	CHECK(tables.n_slabs <= RULE_SLABS + 1);
}

TEST(tables_share_rules_and_give_them_back)
{
	struct table_ref a, b;
	static struct flat f;
	size_t len;
	void *t;

	setup(64 << 20);
	make_flat(&f, 1000, 100, true);
	t = make_table(&f, 5, &len);
	CHECK_EQ(tables_install(&tables, t, len, &a), 0);
	CHECK_EQ(tables.n_rules, 100);
	CHECK_EQ(tables_install(&tables, t, len, &b), 0);
	CHECK_EQ(tables.n_rules, 100);
	tables_release(&tables, &a);
	CHECK_EQ(tables.n_rules, 100);
	tables_release(&tables, &b);
	CHECK_EQ(tables.n_rules, 2);
	free(t);
}

/* How many of the tables installed now have each of the rules, by salt. */
struct model {
	struct table_ref ref[40];
	int salt[40];		/* 0: not installed */
	uint32_t refs[5], elements;
};

static void check_model(const struct model *m, const struct flat *f)
{
	uint32_t rules = 2, elements = 0, slabs = 0, sum = 0;

	for (int s = 1; s < 5; s++)
		rules += m->refs[s] ? f->n_rules - 2 : 0;
	for (int i = 0; i < 40; i++)
		elements += m->salt[i] ? m->ref[i].elements : 0;
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		slabs += tables.slabs[i] != NULL;
		sum += tables.slabs[i] ? tables.slabs[i]->used : 0;
	}
	CHECK_EQ(tables.n_rules, rules);
	CHECK_EQ(tables.elements, elements);
	CHECK_EQ(sum, elements);
	CHECK_EQ(tables.n_slabs, slabs);
	for (uint32_t n = 2; n < tables.rule_top; n++) {
		if (tables.rule_refs[n])
			CHECK_EQ(tables.rule_refs[n],
				 m->refs[tables.rules[n].aux]);
	}
}

/* To lower slabs, if there is room. */
static void move_down(struct table_ref *ref)
{
	uint32_t slab = ref->dir >> SLAB_SHIFT;
	struct table_ref copy;
	int r = tables_copy(&tables, ref, slab, &copy);

	CHECK(r == 0 || r == -ENOSPC);
	if (r)
		return;
	CHECK(!tables_in(&copy, slab));
	tables_release(&tables, ref);
	*ref = copy;
}

/* In any order, rules and elements are counted as a plain model counts them,
 * and all tables that are there answer right. */
TEST(tables_count_as_a_model_does)
{
	static struct model m;
	static struct flat f;
	void *t[5];
	size_t len[5];

	setup(64 << 20);
	make_flat(&f, 2000, 60, false);
	for (int s = 1; s < 5; s++)
		t[s] = make_table(&f, s, &len[s]);
	for (int step = 0; step < 1500; step++) {
		int i = rnd(40), s = 1 + rnd(4);

		if (m.salt[i] && step % 3 == 0) {
			move_down(&m.ref[i]);
		} else if (m.salt[i]) {
			tables_release(&tables, &m.ref[i]);
			m.refs[m.salt[i]]--;
			m.salt[i] = 0;
		} else {
			CHECK_EQ(tables_install(&tables, t[s], len[s],
						&m.ref[i]), 0);
			m.refs[m.salt[i] = s]++;
		}
		if (step % 16 == 0)
			check_model(&m, &f);
		i = rnd(40);
		if (m.salt[i])
			check_at(&f, &m.ref[i], m.salt[i], f.off[rnd(f.n)]);
	}
	for (int i = 0; i < 40; i++) {
		if (m.salt[i])
			tables_release(&tables, &m.ref[i]);
	}
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	CHECK(tables.n_slabs <= RULE_SLABS + 1);
	for (uint32_t i = 0; i < 2 * RULES_MAX; i++)
		CHECK_EQ(tables.rule_hash[i], 0);
	for (int s = 1; s < 5; s++)
		free(t[s]);
}

/* More distinct rules over time than numbers: unused ones are given anew. */
TEST(tables_reuse_rule_numbers)
{
	static struct flat f;
	struct table_ref ref;

	setup(64 << 20);
	for (uint32_t i = 0; i < 26; i++) {
		size_t len;
		void *t;

		make_flat(&f, 3000, 3000, true);
		t = make_table(&f, 10 + i, &len);
		CHECK_EQ(tables_install(&tables, t, len, &ref), 0);
		for (int k = 0; k < 50; k++)
			check_at(&f, &ref, 10 + i, f.off[rnd(f.n)]);
		tables_release(&tables, &ref);
		free(t);
	}
	CHECK_EQ(tables.n_rules, 2);
}

/* Four slabs, one table left in each: all fit the first. */
TEST(tables_move_out_of_the_last_slab)
{
	struct table_ref ref[80], keep[4], copy;
	static struct flat f;
	uint32_t n = 0, kept = 0;
	size_t len;
	void *t;

	setup(64 << 20);
	make_flat(&f, 15000, 50, true);
	t = make_table(&f, 3, &len);
	while (tables.n_slabs < 6)
		CHECK_EQ(tables_install(&tables, t, len, &ref[n++]), 0);
	CHECK_EQ(tables_spare(&tables), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (kept < 4 && tables_in(&ref[i], RULE_SLABS + kept))
			keep[kept++] = ref[i];
		else
			tables_release(&tables, &ref[i]);
	}
	CHECK_EQ(kept, 4);
	for (uint32_t i = 4; i-- > 1; ) {
		uint32_t last = tables_spare(&tables);

		CHECK_EQ(last, RULE_SLABS + i);
		CHECK(tables_in(&keep[i], last));
		CHECK_EQ(tables_copy(&tables, &keep[i], last, &copy), 0);
		tables_release(&tables, &keep[i]);
		keep[i] = copy;
		for (int k = 0; k < 500; k++)
			check_at(&f, &copy, 3, rnd(f.off[f.n - 1] + 9));
	}
	CHECK_EQ(tables.n_slabs, RULE_SLABS);
	CHECK_EQ(tables_spare(&tables), 0);
	for (uint32_t i = 0; i < 4; i++)
		tables_release(&tables, &keep[i]);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	free(t);
}

TEST(tables_refuse_beyond_the_budget)
{
	static struct flat f;
	struct table_ref ref, other;
	size_t len;
	void *t;

	setup(1 << 17);
	make_flat(&f, ROWS_MAX, 10, true);
	t = make_table(&f, 0, &len);
	CHECK_EQ(tables_install(&tables, t, len, &ref), 0);
	CHECK_EQ(tables_install(&tables, t, len, &other), -ENOSPC);
	tables_release(&tables, &ref);
	tables.budget = 1 << 16;
	CHECK_EQ(tables_install(&tables, t, len, &ref), -EFBIG);
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	free(t);
}

TEST(tables_refuse_every_truncation_and_survive_every_bit)
{
	static struct flat f;
	struct table_ref ref;
	size_t len;
	uint8_t *t;

	setup(64 << 20);
	make_flat(&f, 60, 5, true);
	t = make_table(&f, 0, &len);
	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, t, n);
		CHECK_EQ(tables_install(&tables, copy, n, &ref), -EPROTO);
		free(copy);
	}
	for (size_t bit = 0; bit < len * 8; bit++) {
		int r;

		t[bit / 8] ^= 1 << bit % 8;
		r = tables_install(&tables, t, len, &ref);
		CHECK(r == 0 || r == -EPROTO || r == -ENOSPC);
		if (!r)
			tables_release(&tables, &ref);
		t[bit / 8] ^= 1 << bit % 8;
	}
	CHECK_EQ(tables.elements, 0);
	CHECK_EQ(tables.n_rules, 2);
	free(t);
}
