// SPDX-License-Identifier: Apache-2.0
/*
 * Where tables go: against a loaderd that enforces its contract, with the
 * lookup that BPF makes held against a search in the flat rows.
 */
#include "tests/unit/fake_slabs.h"
#include "tests/unit/flat_table.h"

#include <errno.h>

#include "symbolizerd/tables/tables.h"

static struct table_policy tables;
static struct file_key some_key = { .ino = 1, .size = 2 };

/* What most tests begin with: a worker's table of flat rows. */
static struct flat f;
static uint8_t *t;
static size_t len;

static void setup(uint64_t budget)
{
	fake_begin(budget, FAKE_KEYS);
	CHECK_EQ(tables_init(&tables, 42, budget, &fake_out, NULL), 0);
}

static void make(uint32_t rows, uint32_t rules, bool dense, uint32_t salt)
{
	free(t);
	make_flat(&f, rows, rules, dense);
	t = make_table(&f, salt, &len);
}

static int install_bytes(const void *data, size_t size, struct table_ref *ret)
{
	struct file_entry entry = { .exe = 7 };
	int r;

	ret->owner = 0;
	r = tables_install(&tables, 0, &some_key, &entry, data, size, ret);

	if (!r && ret->pages) {
		CHECK_EQ(entry.dir, ret->dir);
		CHECK_EQ(entry.pages, ret->pages);
		CHECK_EQ(entry.state, FILE_TABLE);
	}
	return r;
}

static int install(struct table_ref *ret)
{
	return install_bytes(t, len, ret);
}

/* No key leads there any more. */
static void release(struct table_ref *ref)
{
	fake_unlink(ref->dir, ref->pages);
	fake_drop(NULL, 0, &some_key);
	tables.sent++;
	tables_release(&tables, ref);
}

static void second(void)
{
	CHECK(tables_settled(&tables, fake_second()));
}

static void grace(void)
{
	second();
	second();
}

static void check_at(const struct table_ref *ref, uint32_t salt, uint64_t off)
{
	uint16_t local = flat_find(&f, off);
	int got = table_rule(ref->dir, ref->pages, off);
	struct unwind_rule want;

	if (off >> 16 >= ref->pages || local < 2) {
		CHECK_EQ(got, off >> 16 >= ref->pages ? RULE_NONE : local);
		/* came with the table: the slabs begin empty */
		CHECK_EQ(element_at(0)->rule[RULE_NONE].cfa, CFA_NONE);
		CHECK_EQ(element_at(0)->rule[RULE_END].cfa, CFA_END);
		return;
	}
	CHECK(got >= 2);
	want = flat_rule(salt, local);
	CHECK(!memcmp(&element_at((uint32_t)got >> 1)->rule[got & 1], &want,
		      sizeof(want)));
}

/* Whatever is left was given back. */
static void check_empty(void)
{
	grace();
	CHECK_EQ(tables.slabs.elements, 0);
	CHECK_EQ(tables.held_elements, 0);
	CHECK_EQ(tables.rows, 0);
	CHECK_EQ(tables.rules.n, 2);
	CHECK_EQ(fake.elements, 0);
	CHECK(!tables.first);
}

static void teardown(void)
{
	check_empty();
	tables_fini(&tables);
}

static void check_table(uint32_t rows, uint32_t rules, bool dense)
{
	struct table_ref ref;
	uint32_t salt = rnd(1000);

	make(rows, rules, dense, salt);
	CHECK_EQ(install(&ref), 0);
	for (int i = 0; i < 2000; i++) {
		uint32_t k = rnd(f.n);

		check_at(&ref, salt, f.off[k]);
		check_at(&ref, salt, f.off[k] - !!f.off[k]);
		check_at(&ref, salt, rnd(f.off[f.n - 1] + 100000));
	}
	check_at(&ref, salt, 0);
	release(&ref);
}

TEST(policy_lookup_equals_bisection)
{
	setup(64 << 20);
	for (int i = 0; i < 12; i++) {
		check_table(1 + rnd(20), 2 + rnd(50), i & 1);
		check_table(1 + rnd(3000), 2 + rnd(500), i & 1);
		check_table(FLAT_ROWS - rnd(100), 2 + rnd(3000), i & 1);
	}
	/* a page of more than 512 row elements takes several index elements */
	check_table(FLAT_ROWS, 7, true);
	teardown();
}

TEST(policy_shares_rules_and_gives_them_back)
{
	struct table_ref a, b;

	setup(64 << 20);
	make(1000, 100, true, 5);
	CHECK_EQ(install(&a), 0);
	CHECK_EQ(tables.rules.n, 100);
	CHECK_EQ(install(&b), 0);
	CHECK_EQ(tables.rules.n, 100);
	release(&a);
	CHECK_EQ(tables.rules.n, 100);
	release(&b);
	teardown();
}

/* Tables of the same rows with salts 1 to 4. */
static void *salted[5];
static size_t salted_len[5];

static void make_salted(uint32_t rows, uint32_t rules, bool dense)
{
	make_flat(&f, rows, rules, dense);
	for (int s = 1; s < 5; s++) {
		free(salted[s]);
		salted[s] = make_table(&f, s, &salted_len[s]);
	}
}

static int install_salted(int salt, struct table_ref *ret)
{
	return install_bytes(salted[salt], salted_len[salt], ret);
}

/* How many of the tables installed now have each of the rules, by salt. */
struct model {
	struct table_ref ref[40];
	int salt[40];		/* 0: not installed */
	uint32_t refs[5];
};

static void check_model(const struct model *m)
{
	uint32_t rules = 2, elements = 0, sum = 0;

	for (int s = 1; s < 5; s++)
		rules += m->refs[s] ? f.n_rules - 2 : 0;
	for (int i = 0; i < 40; i++)
		elements += m->salt[i] ? m->ref[i].elements : 0;
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		sum += tables.slabs.v[i] ? tables.slabs.v[i]->used : 0;
	CHECK_EQ(tables.rules.n, rules);
	CHECK_EQ(tables.slabs.elements - tables.held_elements, elements);
	CHECK_EQ(sum, tables.slabs.elements);
	CHECK_EQ(fake.elements, tables.slabs.elements);
	for (uint32_t n = 2; n < tables.rules.top; n++) {
		if (tables.rules.refs[n])
			CHECK_EQ(tables.rules.refs[n],
				 m->refs[tables.rules.v[n].aux]);
	}
}

/* To lower slabs, if there is room. */
static void move_down(struct table_ref *ref)
{
	struct file_entry e = { .exe = 7, .dir = ref->dir,
				.pages = ref->pages, .state = FILE_TABLE };
	uint32_t slab = ref->dir >> SLAB_SHIFT, dir = ref->dir;
	int r = tables_move(&tables, &some_key, &e, ref, slab);

	CHECK(r == 0 || r == -ENOSPC);
	if (!r)
		fake_unlink(dir, ref->pages);
	CHECK_EQ(e.dir, ref->dir);
	CHECK(r || !tables_in(ref, slab));
}

static void model_step(struct model *m, int step)
{
	int i = rnd(40), s = 1 + rnd(4), r;

	if (m->salt[i] && step % 3 == 0) {
		move_down(&m->ref[i]);
	} else if (m->salt[i]) {
		release(&m->ref[i]);
		m->refs[m->salt[i]]--;
		m->salt[i] = 0;
	} else {
		r = install_salted(s, &m->ref[i]);
		CHECK(r == 0 || (r == -ENOSPC && tables.first));
		if (!r)
			m->refs[m->salt[i] = s]++;
	}
}

/* In any order, and with grace periods that end at any time, rules and elements
 * are counted as a plain model counts them, and all tables answer right. */
TEST(policy_counts_as_a_model_does)
{
	static struct model m;

	setup(6 << 20);
	make_salted(2000, 60, false);
	for (int step = 0; step < 3000; step++) {
		int i = rnd(40);

		model_step(&m, step);
		if (rnd(3) == 0)
			second();
		if (step % 16 == 0)
			check_model(&m);
		if (m.salt[i])
			check_at(&m.ref[i], m.salt[i], f.off[rnd(f.n)]);
	}
	for (int i = 0; i < 40; i++) {
		if (m.salt[i])
			release(&m.ref[i]);
	}
	check_empty();
	CHECK_EQ(tables.rules.by_rule.n, 0);
	tables_fini(&tables);
}

/* More distinct rules over time than numbers: unused ones are given anew. */
TEST(policy_reuses_rule_numbers)
{
	struct table_ref ref;

	setup(64 << 20);
	for (uint32_t i = 0; i < 26; i++) {
		
		make(3000, 3000, true, 10 + i);
		CHECK_EQ(install(&ref), 0);
		for (int k = 0; k < 50; k++)
			check_at(&ref, 10 + i, f.off[rnd(f.n)]);
		release(&ref);
		if (i % 4 == 3)
			grace();
	}
	CHECK(tables.rules.top <= 5 * 3000);
	teardown();
}

/* A rule that BPF may still follow keeps its number until the grace is over. */
TEST(policy_holds_rules_as_long_as_elements)
{
	struct table_ref ref, other;

	setup(64 << 20);
	make_salted(500, 500, true);
	CHECK_EQ(install_salted(1, &ref), 0);
	release(&ref);
	CHECK_EQ(install_salted(2, &other), 0);
	CHECK_EQ(tables.rules.top, 998);
	release(&other);
	grace();
	CHECK_EQ(install_salted(1, &ref), 0);
	CHECK_EQ(tables.rules.top, 998);
	release(&ref);
	tables_fini(&tables);
}

/* Four slabs, one table left in each: all fit the first. */
TEST(policy_moves_out_of_the_last_slab)
{
	struct table_ref ref[80], keep[4];
	uint32_t n = 0, kept = 0;

	setup(64 << 20);
	make(15000, 50, true, 3);
	while (!tables.slabs.v[RULE_SLABS + 3])
		CHECK_EQ(install(&ref[n++]), 0);
	CHECK_EQ(slabs_spare(&tables.slabs), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (kept < 4 && tables_in(&ref[i], RULE_SLABS + kept))
			keep[kept++] = ref[i];
		else
			release(&ref[i]);
	}
	CHECK_EQ(kept, 4);
	grace();
	for (uint32_t i = 4; i-- > 1; ) {
		struct file_entry e = { .exe = 9, .dir = keep[i].dir,
					.pages = keep[i].pages };
		uint32_t last = slabs_spare(&tables.slabs), dir = e.dir;

		CHECK_EQ(last, RULE_SLABS + i);
		CHECK(tables_in(&keep[i], last));
		CHECK_EQ(tables_move(&tables, &some_key, &e, &keep[i], last), 0);
		fake_unlink(dir, e.pages);
		for (int k = 0; k < 500; k++)
			check_at(&keep[i], 3, rnd(f.off[f.n - 1] + 9));
		grace();
		CHECK(fake.slab[last]);
		tables_drop_slabs(&tables);
		CHECK(!fake.slab[last] && tables.made[last - 1]);
	}
	CHECK_EQ(fake.slabs_dropped, 3);
	CHECK_EQ(slabs_spare(&tables.slabs), 0);
	for (uint32_t i = 0; i < 4; i++)
		release(&keep[i]);
	teardown();
}

TEST(policy_refuses_beyond_the_budget)
{
	struct table_ref a, b, c;
	size_t need;

	setup(1 << 20);
	make(FLAT_ROWS, 10, true, 0);
	CHECK_EQ(install(&a), 0);
	need = a.elements * sizeof(union element);
	tables.budget = fake.budget = 2 * need;
	CHECK_EQ(install(&b), 0);
	CHECK_EQ(install(&c), -ENOSPC);
	release(&a);
	CHECK_EQ(install(&c), -ENOSPC);	/* it is held */
	grace();
	CHECK_EQ(install(&c), 0);
	/* more than one file may have: no matter how much is free */
	tables.budget = 2 * need - 1;
	CHECK_EQ(install(&a), -EFBIG);
	release(&b);
	release(&c);
	teardown();
}

TEST(policy_limits_the_rules_of_one_file)
{
	struct table_hdr h = { .magic = TABLE_MAGIC, .pages = 1,
			       .n_rules = FILE_RULES_MAX + 1 };
	size_t rules = h.n_rules * sizeof(struct unwind_rule);
	uint8_t *p = calloc(1, sizeof(h) + rules + 64);
	struct unwind_rule *r = (void *)(p + sizeof(h));
	struct table_ref ref;

	setup(64 << 20);
	memcpy(p, &h, sizeof(h));
	r[RULE_END].cfa = CFA_END;
	for (uint32_t i = 2; i < h.n_rules; i++)
		r[i] = flat_rule(1, i);
	CHECK_EQ(install_bytes(p, sizeof(h) + rules + 64, &ref), -EFBIG);
	((struct table_hdr *)p)->n_rules--;
	memset(p + sizeof(h) + rules - sizeof(*r), 0, sizeof(*r));
	CHECK_EQ(install_bytes(p, sizeof(h) + rules + 64 - sizeof(*r), &ref), 0);
	CHECK_EQ(tables.rules.n, FILE_RULES_MAX);
	release(&ref);
	check_empty();
	free(p);
	tables_fini(&tables);
}

/* All numbers are taken: nothing changes, but what is held comes back. */
TEST(policy_runs_out_of_rules)
{
	struct table_ref ref[30];
	uint32_t n = 0, before;
	int r;

	setup(64 << 20);
	do {
		make(3000, 3000, true, n);
		before = tables.rules.n;
		r = install(&ref[n]);
		n += !r;
	} while (!r);
	CHECK_EQ(r, -ENOSPC);
	CHECK_EQ(n, (RULES_MAX - 2) / 2998);
	CHECK_EQ(tables.rules.n, before);
	while (n-- > 0)
		release(&ref[n]);
	teardown();
}

TEST(policy_refuses_every_truncation_and_survives_every_bit)
{
	struct table_ref ref;

	setup(64 << 20);
	make(60, 5, true, 0);
	for (size_t n = 0; n < len; n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, t, n);
		CHECK_EQ(install_bytes(copy, n, &ref), -EPROTO);
		free(copy);
	}
	for (size_t bit = 0; bit < len * 8; bit++) {
		int r;

		t[bit / 8] ^= 1 << bit % 8;
		r = install(&ref);
		CHECK(r == 0 || r == -EPROTO);
		if (!r)
			release(&ref);
		t[bit / 8] ^= 1 << bit % 8;
		if (bit % 64 == 0)
			grace();
	}
	teardown();
}

/* A byte of the table: this is taken, that is not. */
static void check_byte(uint8_t *at, uint8_t good, uint8_t bad)
{
	uint8_t was = *at;
	struct table_ref ref;

	*at = good;
	CHECK_EQ(install(&ref), 0);
	release(&ref);
	grace();
	*at = bad;
	CHECK_EQ(install(&ref), -EPROTO);
	*at = was;
}

/* Rules, as BPF knows them; their numbers, as far as there are rules. */
TEST(policy_refuses_rules_that_are_none)
{
	const struct table_hdr *h;
	struct unwind_rule *r;
	struct dir_entry *d;
	union element *e;

	setup(64 << 20);
	make(60, 5, true, 0);
	h = (void *)t;
	CHECK_EQ(h->n_rules, 5);
	r = (void *)(t + sizeof(*h));
	d = (void *)(r + 5);
	e = (void *)((uint8_t *)d + (h->pages * sizeof(*d) + 63) / 64 * 64);
	for (int i = 2; i < 5; i++) {
		check_byte(&r[i].cfa, CFA__MAX - 1, CFA__MAX);
		check_byte(&r[i].ra, RA__MAX - 1, RA__MAX);
		check_byte(&r[i].cfa_reg, REGS_MAX - 1, REGS_MAX);
		check_byte(&r[i].ra_reg, REGS_MAX - 1, REGS_MAX);
	}
	/* the first two are what they always are */
	check_byte(&r[RULE_NONE].cfa, CFA_NONE, CFA_SP);
	check_byte(&r[RULE_NONE].ra_reg, 0, 1);
	check_byte(&r[RULE_END].cfa, CFA_END, CFA_SP);
	check_byte(&r[RULE_END].ra_reg, 0, 1);
	check_byte((uint8_t *)&d->rule_before, 4, 5);
	while (!d->n)
		d++;
	/* the element before the first of rows is their index */
	check_byte((uint8_t *)&e[d->first + 1].row[0].rule, 4, 5);
	check_byte((uint8_t *)&e[d->first + d->n].row[ELEMENT_ROWS - 1].rule, 4, 5);
	teardown();
}

/* The grace is over when the drop is settled, however many statistics come
 * before. */
TEST(policy_waits_for_a_slow_loaderd)
{
	struct table_ref ref, next, other;
	uint64_t before;

	setup(4 << 20);
	make(60, 5, true, 0);
	CHECK_EQ(install(&ref), 0);
	CHECK_EQ(install(&next), 0);
	other = ref;
	before = tables.sent;
	release(&ref);
	for (int i = 0; i < 5; i++) {
		CHECK(tables_settled(&tables, before));
		CHECK(tables.held_elements);
	}
	CHECK_EQ(install(&ref), 0);
	CHECK(ref.dir != other.dir);
	fake_second(), fake_second();
	CHECK(tables_settled(&tables, before + 1));
	CHECK_EQ(tables.held_elements, 0);
	release(&ref);
	CHECK_EQ(install(&ref), 0);
	CHECK_EQ(ref.dir, other.dir);
	release(&ref);
	release(&next);
	teardown();
}

TEST(policy_believes_no_number_that_cannot_be)
{
	struct table_ref ref;

	setup(1 << 20);
	CHECK(tables_settled(&tables, 1));	/* the hello */
	CHECK(!tables_settled(&tables, 2));
	CHECK(!tables_settled(&tables, 0));
	make(60, 5, true, 0);
	CHECK_EQ(install(&ref), 0);
	CHECK(tables_settled(&tables, 2));
	CHECK(!tables_settled(&tables, 3));
	CHECK(!tables_settled(&tables, 1));
	release(&ref);
	tables_fini(&tables);
}

/* Empty slabs go, a few a second, but for the first; each is made again when it
 * is needed. */
TEST(policy_drops_empty_slabs)
{
	static struct table_ref ref[400];
	uint32_t n = 0;

	setup(64 << 20);
	make(15000, 50, true, 3);
	while (!tables.slabs.v[RULE_SLABS + 6])
		CHECK_EQ(install(&ref[n++]), 0);
	for (uint32_t i = 0; i < n; i++)
		release(&ref[i]);
	tables_drop_slabs(&tables);
	CHECK_EQ(fake.slabs_dropped, 0);	/* BPF may be reading them */
	check_empty();
	tables_drop_slabs(&tables);
	CHECK_EQ(fake.slabs_dropped, 4);
	tables_drop_slabs(&tables);
	tables_drop_slabs(&tables);
	CHECK_EQ(fake.slabs_dropped, 6);
	CHECK(fake.slab[0] && fake.slab[RULE_SLABS]);
	CHECK_EQ(tables.sent, 1 + fake.handled);
	for (n = 0; !tables.slabs.v[RULE_SLABS + 1]; n++)
		CHECK_EQ(install(&ref[n]), 0);
	while (n-- > 0)
		release(&ref[n]);
	teardown();
}

/* --- adopting ----------------------------------------------------------------- */

static void adopt_slabs(void)
{
	tables_fini(&tables);
	CHECK_EQ(tables_init(&tables, 77, fake.budget, &fake_out, NULL), 0);
	fake.handled = fake.by_second = 0;
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		struct slab_copy *c = fake_copy(i);

		if (c)
			CHECK(tables_adopt_slab(&tables, i, c));
	}
}

static struct file_entry entry_of(const struct table_ref *ref)
{
	return (struct file_entry){ .exe = 7, .dir = ref->dir,
				    .pages = ref->pages, .state = FILE_TABLE };
}

/* Some of 20 tables stay, others were released or are only being released: what
 * the next hub adopts is the same, and what no table claims becomes free. */
TEST(policy_adopts_what_is_there)
{
	struct table_ref ref[20], again[20];
	uint32_t refs[5] = { 0 }, n_rules;

	setup(16 << 20);
	make_salted(3000, 80, false);
	for (int i = 0; i < 20; i++)
		CHECK_EQ(install_salted(1 + i % 4, &ref[i]), 0);
	for (int i = 0; i < 20; i += 3) {
		/* of some the grace is not over when the hub ends */
		release(&ref[i]);
		if (i == 9)
			grace();
	}
	n_rules = tables.rules.n;
	for (int i = 0; i < 20; i++) {
		again[i] = ref[i];
		if (ref[i].pages) {
			free(ref[i].entries);
			free(ref[i].rules);
		}
	}
	adopt_slabs();
	for (int i = 0; i < 20; i++) {
		struct file_entry e = entry_of(&again[i]);

		if (!again[i].pages)
			continue;
		CHECK(tables_adopt(&tables, &e, &ref[i]));
		CHECK_EQ(ref[i].elements, again[i].elements);
		CHECK_EQ(ref[i].n_rules, again[i].n_rules);
		refs[1 + i % 4]++;
	}
	tables_adopt_end(&tables);
	CHECK_EQ(tables.rules.n, n_rules);
	CHECK_EQ(tables.slabs.elements % SLAB_ELEMENTS, 0);
	CHECK(tables.held_elements > 0);
	for (uint32_t n = 2; n < tables.rules.top; n++) {
		if (tables.rules.refs[n])
			CHECK_EQ(tables.rules.refs[n],
				 refs[tables.rules.v[n].aux]);
	}
	grace();
	CHECK_EQ(tables.slabs.elements, fake.elements);
	for (int i = 0; i < 20; i++) {
		for (int k = 0; ref[i].pages && k < 200; k++)
			check_at(&ref[i], 1 + i % 4, f.off[rnd(f.n)]);
		if (!ref[i].pages)	/* there is room again */
			CHECK_EQ(install_salted(1 + i % 4, &ref[i]), 0);
	}
	for (int i = 0; i < 20; i++)
		release(&ref[i]);
	teardown();
}

/* Slabs that no table is in are dropped at once, so that there is room for others;
 * in one that a hub must not have made there is no table. */
TEST(policy_adopts_no_more_slabs_than_it_may_have)
{
	struct file_entry e = { .exe = 7, .dir = 10 << SLAB_SHIFT, .pages = 1,
				.state = FILE_TABLE };
	struct table_ref ref;

	setup(1 << 20);
	fake.slab[RULE_SLABS] = calloc(SLAB_ELEMENTS, sizeof(union element));
	fake.slab[RULE_SLABS + 1] = calloc(SLAB_ELEMENTS, sizeof(union element));
	fake.slab[10] = calloc(SLAB_ELEMENTS, sizeof(union element));
	adopt_slabs();
	CHECK(!tables_adopt(&tables, &e, &ref));
	e.dir = (RULE_SLABS + 1) << SLAB_SHIFT | 5;
	CHECK(tables_adopt(&tables, &e, &ref));
	tables_adopt_end(&tables);
	CHECK_EQ(fake.slabs_dropped, 1);
	CHECK(!fake.slab[10]);
	grace();
	CHECK_EQ(tables.slabs.elements, 1);
	release(&ref);
	grace();
	tables_drop_slabs(&tables);
	CHECK_EQ(fake.slabs_dropped, 2);
	tables_fini(&tables);
}

/* A compromised former hub: no claim counts twice, nothing is
 * written where it must not be, and all is free in the end. */
TEST(policy_adopts_nothing_hostile)
{
	struct table_ref ref, a, b;
	struct file_entry e;

	setup(16 << 20);
	make(3000, 80, false, 1);
	CHECK_EQ(install(&ref), 0);
	e = entry_of(&ref);
	/* each bit of the entry some 8 times, each of a page's words some 15 times */
	for (int i = 0; i < 1000; i++) {
		struct file_entry bad = e;
		union element *dir = &fake.slab[e.dir >> SLAB_SHIFT]
					       [e.dir & (SLAB_ELEMENTS - 1)];
		uint32_t word = rnd(e.pages * 2);
		uint8_t *at = (uint8_t *)dir + word * 4 + rnd(4);
		uint8_t keep = *at;

		*at ^= 1 << rnd(8);
		if (i % 4 == 0)
			bad.dir ^= 1u << rnd(32);
		if (i % 4 == 1)
			bad.pages ^= 1u << rnd(32);
		adopt_slabs();
		if (tables_adopt(&tables, &bad, &a)) {
			CHECK(!tables_adopt(&tables, &bad, &b));
			release(&a);
		}
		tables_adopt_end(&tables);
		/* nothing is in use, and nothing is given again at once */
		CHECK_EQ(tables.slabs.elements, SLAB_ELEMENTS);
		CHECK_EQ(tables.held_elements, SLAB_ELEMENTS);
		CHECK_EQ(tables.rules.n, 2);
		*at = keep;
		if (i % 100 == 99)	/* as if it had never been freed */
			CHECK_EQ(fake.elements, ref.elements);
	}
	free(ref.entries);
	free(ref.rules);
	tables_fini(&tables);
}
