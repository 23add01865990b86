// SPDX-License-Identifier: Apache-2.0
/*
 * The policy for files and tables under any sequence of what loaderd, workers,
 * samples and the clock may do, against a loaderd that enforces its contract
 * (fake_slabs.h): files come, get tables late, never or twice, are used, mapped,
 * evicted, forgotten; the hub dies and its successor adopts what is there.
 */
#include "tests/unit/fake_slabs.h"

#include <errno.h>

#define INODES	32
#define IDLE_S	3
#define PENDING	16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct file_policy files;
static uint32_t now_s;
static uint64_t exe_id;
static uint32_t pending[PENDING], n_pending;	/* numbers with a worker */

static void begin(void)
{
	files_init(&files, 42, &fake_out, NULL);
	CHECK(!files_begin(&files, fake.budget, IDLE_S, now_s));
}

static void setup(const uint8_t *data)
{
	fake_begin((1 + data[0] % 8) * (32u << 10), 4 + data[1] % 40);
	fake.settled = data[1] & 64;
	now_s = 1000;
	n_pending = 0;
	begin();
	CHECK(!files_adopt(&files, NULL, 0));
}

static void teardown(void)
{
	files_fini(&files);
	for (uint32_t s = 0; s < SLABS_MAX; s++) {
		if (!fake.slab[s])
			continue;
		free(fake.slab[s]);
		fake.slab[s] = NULL;
		memset(fake.in_use[s], 0, sizeof(fake.in_use[s]));
		memset(fake.grace[0][s], 0, sizeof(fake.grace[0][s]));
		memset(fake.grace[1][s], 0, sizeof(fake.grace[1][s]));
	}
	fake.n = fake.n_dropped = fake.lists = fake.vdsos = 0;
	fake.elements = fake.handled = fake.by_second = 0;
}

/* n elements of rows in one page, and own rules that differ by salt. */
static void *table(uint32_t n, uint32_t own, uint32_t salt, size_t *len)
{
	uint32_t all = n + (n + INDEX_FANOUT - 1) / INDEX_FANOUT, rules = 2 + own;
	struct unwind_rule *r;
	struct table_hdr *h;
	struct dir_entry *d;

	rules += !(rules % 2);	/* the rest stays at multiples of 8 */
	*len = sizeof(*h) + rules * sizeof(*r) + (1 + all) * sizeof(union element);
	h = calloc(1, *len);
	*h = (struct table_hdr){ .magic = TABLE_MAGIC, .n_rules = rules,
				 .pages = 1, .n_elements = all,
				 .n_rows = n * ELEMENT_ROWS };
	r = (void *)(h + 1);
	r[RULE_END].cfa = CFA_END;
	for (uint32_t i = 2; i < rules; i++)
		r[i] = (struct unwind_rule){ .cfa = CFA_SP, .aux = (int32_t)salt,
					     .cfa_off = (int32_t)i };
	d = (void *)(r + rules);
	d->n = (uint16_t)n;
	for (uint32_t i = (all - n) * ELEMENT_ROWS; i < all * ELEMENT_ROWS; i++)
		((struct unwind_row *)(d + 8))[i].rule = (uint16_t)(i % rules);
	return h;
}

static struct file_key key_of(uint8_t ino)
{
	return ino % INODES ? (struct file_key){ .ino = ino % INODES, .size = 2 } :
	       (struct file_key){ .size = 1 };		/* the vDSO */
}

/* loaderd has opened a file; workers take some of them. */
static void meet(uint8_t ino)
{
	struct msg_exe m = { .key = key_of(ino), .process.tgid = 7, .host = ino >> 7 };
	bool vdso = !(ino % INODES);
	int number;

	if (n_pending == PENDING)
		return;
	if (!fake_find(&m.key)) {
		m.no_room = fake.n == fake.room;
		if (m.no_room && vdso)
			return;		/* loaderd has it from its start */
		if (!m.no_room)
			fake.known[fake.n++] = (struct msg_entry){ .key = m.key };
	}
	number = files_exe(&files, &m, ino % 3 * 1000, vdso ? 0 : ++exe_id);
	CHECK(number > 0 || number == -ENOSPC);
	if (number > 0)
		pending[n_pending++] = (uint32_t)number;
}

/* The hub drops what a worker does for a number that is not the file's. */
static void forget_dropped(void)
{
	for (uint32_t i = 0; i < fake.n_dropped; i++) {
		for (uint32_t k = 0; k < n_pending;) {
			if (pending[k] == fake.dropped[i])
				pending[k] = pending[--n_pending];
			else
				k++;
		}
	}
	fake.n_dropped = 0;
}

/* A worker is done with the i-th of those that wait. */
static void answer(uint8_t how, uint8_t i, uint8_t n)
{
	uint32_t number;
	size_t len;
	void *t;

	if (!n_pending)
		return;
	i %= n_pending;
	number = pending[i];
	pending[i] = pending[--n_pending];
	switch (how % 8) {
	case 0:
		files_no_table(&files, number, FILE_BARE);
		return;
	case 1:
		files_later(&files, number);
		return;
	case 2:
		if (files_has_answer(&files, number))
			files_settled(&files, number);
		else
			files_no_table(&files, number, FILE_BARE);
		return;
	case 3:
		files_runtime(&files, number, RUNTIME_GO);
		break;
	}
	t = table(1 + n, how >> 3 == 31 ? FILE_RULES_MAX - 4 : how >> 3, n, &len);
	if (how % 8 == 4)
		((uint8_t *)t)[n % len] ^= 1 + n;	/* a worker that lies */
	files_table(&files, number, t, len);
	free(t);
}

static void another_hub(void)
{
	static struct msg_entry was[FAKE_KEYS];
	uint32_t n = fake.n;

	files_fini(&files);
	fake.handled = fake.by_second = fake.n_dropped = n_pending = 0;
	begin();
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		struct slab_copy *c = fake_copy(i);

		if (c)
			CHECK(files_adopt_slab(&files, i, c));
	}
	memcpy(was, fake.known, n * sizeof(*was));
	CHECK(!files_adopt(&files, was, n));
	for (uint32_t i = 0; i < fake.n; i++) {
		if (!memcmp(&fake.known[i].key, &(struct file_key){ .size = 1 },
			    sizeof(struct file_key)))
			meet(0);
	}
}

static void mapped(uint8_t bits)
{
	uint64_t *v = calloc(1, MAPPED_BYTES);

	v[0] = bits * 0x0101010101010101ull;
	files_mapped(&files, v);
	free(v);
}

static void step(const uint8_t *d)
{
	switch (d[0] % 16) {
	case 0: case 1: case 2: case 3:
		meet(d[1]);
		break;
	case 4: case 5: case 6: case 7:
		answer(d[0] >> 4 | (d[2] & 0xf0), d[1], d[2]);
		break;
	case 8:
		files_used(&files, d[1] % 64);
		break;
	case 9:
		mapped(d[1]);
		break;
	case 10: case 11:
		now_s += d[1] % 8;
		files_tick(&files, now_s);
		break;
	case 12: case 13:
		CHECK(files_settled_to(&files, fake_second()));
		break;
	case 14:
		files_pending(&files, d[1] % 64);
		break;
	default:
		if (d[1] < 32)
			another_hub();
	}
}

static void check(void)
{
	struct table_stats s;

	files_stats(&files, &s);
	CHECK(s.files <= fake.room && s.numbers <= FILE_NUMBERS_MAX);
	CHECK(s.rules <= RULES_MAX);
	CHECK(s.files <= files.owners.total && files.owners.total <= s.files + 1);
	CHECK(files.tables.rules.owners.total == s.rules - 2);
	CHECK(fake.elements * sizeof(union element) <= fake.budget);
	for (uint32_t i = 0; i < fake.n; i++) {
		uint32_t exe = fake.known[i].entry.exe;
		const struct known_file *f = exe == EXE_NONE ? NULL :
					     files_get(&files, exe);

		CHECK(!f || !memcmp(&f->key, &fake.known[i].key, sizeof(f->key)));
	}
}

/* All workers answer, nobody maps anything: nothing is left. */
static void ends_empty(void)
{
	while (n_pending)
		answer(0, 0, 0);
	for (int i = 0; i < 6 * IDLE_S; i++) {
		mapped(0);
		files_tick(&files, ++now_s);
		CHECK(files_settled_to(&files, fake_second()));
	}
	for (uint32_t i = 0; i < fake.n; i++)
		CHECK(fake.known[i].key.size == 1);	/* the vDSO's stays */
	if (!fake.n)
		CHECK(fake.elements == 0 && files.tables.slabs.elements == 0 &&
		      files.tables.rules.n == 2 && !files.owners.total &&
		      !files.tables.owners.total &&
		      !files.tables.rules.owners.total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	setup(data);
	for (size_t i = 2; i + 3 <= size && i < 2 + 3 * 500; i += 3) {
		step(data + i);
		forget_dropped();
		check();
	}
	ends_empty();
	teardown();
	return 0;
}
