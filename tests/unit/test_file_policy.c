// SPDX-License-Identifier: Apache-2.0
/* Which files keep their tables: against a loaderd that enforces its contract. */
#include "tests/unit/fake_slabs.h"

#include <errno.h>

#include "common/clock.h"
#include "symbolizerd/tables/vdso.h"

#define IDLE_S	5

static struct file_policy files;
static uint32_t now_s = 1000;
static uint64_t exe_id;
static uint32_t owner;	/* of the files that are met */

static void setup(uint64_t budget, uint32_t room)
{
	fake_begin(budget, room);
	files_init(&files, 42, &fake_out, NULL);
	CHECK_EQ(files_begin(&files, budget, IDLE_S, now_s), 0);
	CHECK_EQ(files_adopt(&files, NULL, 0), 0);
}

static struct file_key key_of(uint64_t ino)
{
	return (struct file_key){ .ino = ino, .size = 2 };
}

static const struct file_entry *entry_of(uint64_t ino)
{
	struct file_key key = key_of(ino);
	const struct msg_entry *e = fake_find(&key);

	return e ? &e->entry : NULL;
}

static bool is(uint64_t ino, unsigned int state)
{
	return entry_of(ino) && entry_of(ino)->state == state;
}

static uint16_t host = 1;	/* what is met has a path of the host's */

/* loaderd opened it: EXE_NONE if the hub does not want it now. */
static uint32_t meet(uint64_t ino)
{
	struct msg_exe m = { .key = key_of(ino), .process.tgid = 7, .host = host };
	int number;

	if (!fake_find(&m.key)) {
		m.no_room = fake.n == fake.room;
		if (!m.no_room)
			fake.known[fake.n++].key = m.key;
	}
	number = files_exe(&files, &m, owner, ++exe_id);
	if (number < 0) {
		CHECK_EQ(number, -ENOSPC);
		CHECK_EQ(fake.answered, exe_id);
		return EXE_NONE;
	}
	CHECK(fake.answered < exe_id);
	CHECK_EQ(entry_of(ino)->exe, (uint32_t)number);
	return (uint32_t)number;
}

/* The table of one page with n elements of rows; cfa_off distinguishes it. */
static void answer(uint32_t number, uint32_t n, int32_t cfa_off)
{
	uint32_t all = n + (n + INDEX_FANOUT - 1) / INDEX_FANOUT;
	size_t len = sizeof(struct table_hdr) + 3 * sizeof(struct unwind_rule) +
		     (1 + all) * sizeof(union element);
	uint8_t *p = calloc(1, len);
	struct table_hdr *h = (void *)p;
	struct unwind_rule *r = (void *)(h + 1);
	struct dir_entry *d = (void *)(r + 3);

	*h = (struct table_hdr){ .magic = TABLE_MAGIC, .n_rules = 3, .pages = 1,
				 .n_elements = all,
				 .n_rows = n * ELEMENT_ROWS };
	r[RULE_END].cfa = CFA_END;
	r[2] = (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = cfa_off };
	d->n = (uint16_t)n;
	for (uint32_t i = (all - n) * ELEMENT_ROWS; i < all * ELEMENT_ROWS; i++)
		((struct unwind_row *)(d + 8))[i].rule = 2;
	files_table(&files, number, p, len);
	free(p);
}

static uint32_t learn(uint64_t ino, uint32_t n)
{
	uint32_t number = meet(ino);

	if (number)
		answer(number, n, (int32_t)ino * 8);
	CHECK_EQ(fake.answered, exe_id);
	return number;
}

static void use(uint64_t ino, uint32_t at_s)
{
	struct known_file *e = &files.v[entry_of(ino)->exe];

	files_used(&files, entry_of(ino)->exe);
	CHECK_EQ(e->used_s, files.now_s);
	e->used_s = at_s;
}

/* Statistics come twice. */
static void grace(void)
{
	for (int i = 0; i < 2; i++)
		CHECK(files_settled_to(&files, fake_second()));
}

/* A second passes, and loaderd answers. */
static void second(void)
{
	files_tick(&files, ++now_s);
	grace();
}

static void mapped(const uint64_t *inos, uint32_t n)
{
	static uint64_t bits[MAPPED_BYTES / 8];

	memset(bits, 0, sizeof(bits));
	for (uint32_t i = 0; i < n; i++)
		bits[entry_of(inos[i])->exe / 64] |= 1ULL << (entry_of(inos[i])->exe % 64);
	files_mapped(&files, bits);
}

static struct table_stats stats(void)
{
	struct table_stats s;

	files_stats(&files, &s);
	return s;
}

/* --- tests -------------------------------------------------------------------- */

TEST(files_learn_a_table)
{
	uint32_t exe;

	setup(1 << 20, 24);
	exe = meet(7);
	CHECK(is(7, FILE_PENDING));
	CHECK(!files_has_answer(&files, exe));
	files_runtime(&files, exe, RUNTIME_GO);
	answer(exe, 3, 8);
	CHECK(is(7, FILE_TABLE));
	CHECK_EQ(entry_of(7)->pages, 1);
	CHECK_EQ(entry_of(7)->runtime, RUNTIME_GO);
	CHECK_EQ(fake.answered, exe_id);
	CHECK(files_has_answer(&files, exe));
	CHECK_EQ(stats().files, 1);
	CHECK_EQ(stats().tables, 1);
	CHECK_EQ(stats().rules, 3);
	/* asked again: the table that is there stays the one */
	CHECK_EQ(meet(7), exe);
	CHECK(is(7, FILE_TABLE));
	answer(exe, 9, 16);
	CHECK_EQ(fake.answered, exe_id);
	CHECK_EQ(fake.installs, 1);
	CHECK_EQ(stats().rules, 3);
	files_fini(&files);
}

TEST(files_without_a_table)
{
	setup(1 << 20, 24);
	files_no_table(&files, meet(1), FILE_BARE);
	CHECK(is(1, FILE_BARE));
	files_later(&files, meet(2));
	CHECK(is(2, FILE_PENDING | FILE_ASK));
	CHECK_EQ(fake.answered, exe_id);
	files_table(&files, meet(3), "junk", 4);
	CHECK(is(3, FILE_BARE));
	CHECK_EQ(stats().table_bad, 1);
	CHECK_EQ(fake.answered, exe_id);
	files_no_table(&files, meet(4), FILE_CODE);
	CHECK(is(4, FILE_CODE));
	/* one that is not known any more */
	files_no_table(&files, 99, FILE_BARE);
	files_later(&files, 99);
	files_table(&files, 99, "junk", 4);
	files_used(&files, 99);
	files_fini(&files);
}

static void restart(void);

TEST(files_give_the_vdso_its_number)
{
	struct msg_exe m = { .key = { .size = 1 } };

	setup(1 << 20, 24);
	fake.known[fake.n++].key = m.key;
	CHECK(vdso_is(&m.key));
	CHECK_EQ(files_exe(&files, &m, 0, 0), EXE_VDSO);
	answer(EXE_VDSO, 2, 8);
	CHECK_EQ(fake_find(&m.key)->entry.exe, EXE_VDSO);
	CHECK_EQ(learn(2, 2), EXE_FIRST);
	CHECK_EQ(stats().files, 1);
	CHECK(!vdso_is(&fake.known[1].key));
	/* the next hub finds it; or its key alone, which it leaves there */
	restart();
	CHECK_EQ(files_exe(&files, &m, 0, 0), EXE_VDSO);
	CHECK(files_has_answer(&files, EXE_VDSO));
	fake_find(&m.key)->entry = (struct file_entry){ .exe = EXE_NONE };
	restart();
	CHECK(fake_find(&m.key));
	CHECK_EQ(files_exe(&files, &m, 0, 0), EXE_VDSO);
	CHECK(!files_has_answer(&files, EXE_VDSO));
	files_fini(&files);
}

TEST(files_unmapped_and_unused_are_forgotten)
{
	const uint64_t two = 2;

	setup(1 << 20, 24);
	for (uint64_t ino = 1; ino <= 4; ino++)
		learn(ino, 2);
	while (!fake.lists)
		second();
	CHECK_EQ(now_s, 1000 + IDLE_S);
	use(3, now_s);
	mapped(&two, 1);
	files_tick(&files, ++now_s);
	CHECK_EQ(stats().files, 2);
	CHECK_EQ(stats().forgotten, 2);
	CHECK_EQ(fake.n_dropped, 2);
	CHECK(!entry_of(1) && entry_of(2) && entry_of(3) && !entry_of(4));
	/* their space stays until no sample can be at it */
	CHECK_EQ(fake.elements, 4 * 4);
	CHECK_EQ(stats().rules, 2 + 2);
	grace();
	CHECK_EQ(files.tables.slabs.elements, 2 * 4);
	CHECK_EQ(stats().tables, 2);
	now_s += IDLE_S;
	mapped(NULL, 0);
	second();
	second();
	CHECK_EQ(stats().files, 0);
	CHECK_EQ(files.tables.slabs.elements, 0);
	CHECK_EQ(stats().rules, 2);
	CHECK_EQ(stats().table_rows, 0);
	files_fini(&files);
}

/* A file with a worker is not forgotten. */
TEST(files_wait_for_their_answer)
{
	uint32_t exe;

	setup(1 << 20, 24);
	exe = meet(1);
	now_s += 2 * IDLE_S;
	mapped(NULL, 0);
	second();
	CHECK(entry_of(1));
	answer(exe, 2, 8);
	CHECK(is(1, FILE_TABLE));
	files_fini(&files);
}

/* loaderd goes on to other files; the table comes without an id. */
TEST(files_that_take_long_are_answered)
{
	uint64_t handled;
	uint32_t exe;

	setup(1 << 20, 24);
	exe = meet(1);
	files_pending(&files, exe);
	CHECK_EQ(fake.answered, exe_id);
	CHECK(is(1, FILE_PENDING));
	handled = fake.handled;
	files_pending(&files, exe);
	files_pending(&files, exe + 1);
	CHECK_EQ(fake.handled, handled);
	answer(exe, 1, 8);
	CHECK(is(1, FILE_TABLE));
	CHECK_EQ(fake.answered, exe_id);
	files_fini(&files);
}

TEST(files_give_numbers_again_late)
{
	uint32_t a, b;

	setup(1 << 20, 24);
	a = learn(1, 2);
	b = learn(2, 2);
	CHECK(a != b);
	now_s += IDLE_S;
	mapped(NULL, 0);
	files_tick(&files, ++now_s);
	CHECK_EQ(stats().files, 0);
	CHECK_EQ(learn(3, 2), b + 1);
	use(3, now_s + 1000);
	now_s += 2 * IDLE_S;
	files_tick(&files, now_s);
	/* records may still carry it, says loaderd by its silence */
	CHECK_EQ(learn(4, 2), b + 2);
	grace();
	CHECK_EQ(learn(5, 2), a);
	CHECK_EQ(learn(6, 2), b);
	CHECK_EQ(learn(7, 2), b + 3);
	CHECK_EQ(stats().exes, 7);
	CHECK_EQ(stats().numbers, 5);
	files_fini(&files);
}

/* One without a table has nothing to free: its number still waits. */
TEST(files_ask_when_a_number_is_free)
{
	setup(1 << 20, 24);
	grace();
	files_tick(&files, ++now_s);	/* asks, since there is a new loaderd */
	grace();
	files_no_table(&files, meet(1), FILE_BARE);
	now_s += IDLE_S;
	mapped(NULL, 0);
	files_tick(&files, ++now_s);
	CHECK(!entry_of(1));
	now_s += 2 * IDLE_S;
	files_tick(&files, now_s);
	CHECK_EQ(meet(2), EXE_FIRST + 1);
	grace();
	CHECK_EQ(meet(3), EXE_FIRST);
	files_fini(&files);
}

/* Room for 128 KiB of elements, one part in sixteen kept free. */
TEST(files_evict_the_least_used_one_at_a_time)
{
	uint32_t n = 0;

	setup(128 << 10, 24);
	while ((files.tables.slabs.elements + 156) * 64 <= 128 << 10)
		learn(++n, 150);
	CHECK(n > 10);
	for (uint64_t ino = 1; ino <= n; ino++)
		use(ino, now_s - (ino == 5 ? 100 : ino == 3 ? 50 : 0));
	files_tick(&files, now_s);
	CHECK_EQ(stats().evicted, 1);
	CHECK(!entry_of(5) && entry_of(3));
	files_tick(&files, now_s);
	CHECK_EQ(stats().evicted, 1);
	grace();
	CHECK_EQ(stats().tables, n - 1);
	learn(++n, 150);
	files_tick(&files, now_s);
	CHECK_EQ(stats().evicted, 2);
	CHECK(!entry_of(3));
	CHECK_EQ(stats().table_full, 0);
	files_fini(&files);
}

/* Without headroom: one goes, and the new one is asked for again. */
TEST(files_make_room_for_what_does_not_fit)
{
	uint32_t exe;

	setup(39 << 10, 24);
	learn(1, 280);
	CHECK(is(1, FILE_TABLE));
	learn(2, 280);
	CHECK(is(2, FILE_TABLE));
	exe = learn(3, 290);
	CHECK(!entry_of(1));
	CHECK(is(3, FILE_PENDING));
	files_tick(&files, now_s);	/* no room yet: not worth a try */
	CHECK(is(3, FILE_PENDING));
	grace();
	CHECK(is(3, FILE_PENDING | FILE_ASK));
	CHECK_EQ(learn(3, 290), exe);
	CHECK(is(3, FILE_TABLE));
	/* a table that is too large for one file evicts no other */
	learn(4, 400);
	CHECK(is(4, FILE_BARE));
	CHECK(is(3, FILE_TABLE));
	CHECK_EQ(stats().table_full, 1);
	files_fini(&files);
}

/* loaderd cannot ask for the vDSO: the hub takes it again. */
TEST(files_take_the_vdso_again_when_there_is_room)
{
	struct msg_exe m = { .key = { .size = 1 } };

	setup(39 << 10, 24);
	fake.known[fake.n++].key = m.key;
	learn(1, 280);
	learn(2, 280);
	CHECK_EQ(files_exe(&files, &m, 0, 0), EXE_VDSO);
	answer(EXE_VDSO, 290, 8);
	CHECK(!files_has_answer(&files, EXE_VDSO));
	CHECK_EQ(fake.vdsos, 0);
	second();
	second();
	CHECK_EQ(fake.vdsos, 1);
	CHECK(!(fake_find(&m.key)->entry.state & FILE_ASK));
	CHECK_EQ(files_exe(&files, &m, 0, 0), EXE_VDSO);
	answer(EXE_VDSO, 290, 8);
	CHECK_EQ(fake_find(&m.key)->entry.state, FILE_TABLE);
	/* all queues were full */
	files_later(&files, EXE_VDSO);
	CHECK(!(fake_find(&m.key)->entry.state & FILE_ASK));
	second();
	CHECK_EQ(fake.vdsos, 2);
	second();
	CHECK_EQ(fake.vdsos, 2);
	files_fini(&files);
}

/* More at once than fits: a table that waits evicts no other. */
TEST(files_in_a_burst_evict_what_is_needed)
{
	uint32_t n = 0;

	setup(64 << 10, 64);
	while (files.tables.slabs.elements * 64 + 60 * 64 <= 64 << 10)
		learn(++n, 50);
	CHECK(n > 10);
	for (uint64_t i = 0; i < 3; i++)
		learn(200 + i, 50);
	CHECK_EQ(stats().evicted, 1);
	second();
	learn(200, 50);
	CHECK(is(200, FILE_TABLE));
	CHECK(stats().evicted <= 3);	/* and the headroom */
	files_fini(&files);
}

/* A table of n_rules that no other file has. */
static void answer_with_rules(uint32_t number, int32_t salt, uint32_t n_rules)
{
	size_t rules = n_rules * sizeof(struct unwind_rule);
	size_t len = sizeof(struct table_hdr) + rules + 64;
	uint8_t *p = calloc(1, len);
	struct unwind_rule *r = (void *)(p + sizeof(struct table_hdr));

	*(struct table_hdr *)p = (struct table_hdr){
		.magic = TABLE_MAGIC, .n_rules = n_rules, .pages = 1,
	};
	r[RULE_END].cfa = CFA_END;
	for (uint32_t i = 2; i < n_rules; i++)
		r[i] = (struct unwind_rule){ .cfa = CFA_SP, .aux = salt,
					     .cfa_off = (int32_t)i };
	files_table(&files, number, p, len);
	free(p);
}

/* Each with rules of its own that fill all numbers: the oldest goes. */
TEST(files_evict_when_rules_run_short)
{
	setup(16 << 20, 24);
	for (int ino = 1; ino <= 5; ino++) {
		answer_with_rules(meet(ino), ino, FILE_RULES_MAX);
		files.now_s = ++now_s;
	}
	/* four have all but eight of the numbers */
	CHECK(!entry_of(1));
	CHECK(is(4, FILE_TABLE) && is(5, FILE_PENDING));
	grace();
	CHECK(is(5, FILE_PENDING | FILE_ASK));
	answer_with_rules(meet(5), 5, FILE_RULES_MAX);
	CHECK(is(5, FILE_TABLE));
	files_fini(&files);
}

static void keep_free(bool bytes, uint32_t all)
{
	uint32_t used = 0;

	setup(bytes ? all * sizeof(union element) : 16 << 20, 200);
	for (int i = 1; used <= all - all / 16; i++) {
		files_tick(&files, now_s);
		CHECK_EQ(stats().evicted, 0);
		if (bytes)
			learn((uint64_t)i, 8);
		else
			answer_with_rules(meet((uint64_t)i), i, 1000);
		used = bytes ? files.tables.slabs.elements : files.tables.rules.n;
	}
	files_tick(&files, now_s);
	CHECK_EQ(stats().evicted, 1);
	files_fini(&files);
}

TEST(files_keep_one_byte_in_sixteen_free)
{
	keep_free(true, 2048);
}

TEST(files_keep_one_rule_in_sixteen_free)
{
	keep_free(false, RULES_MAX);
}

/* --- owners --------------------------------------------------------------------- */

#define MALLORY	1000	/* a user; the files of the others are root's */

/* A file of this user, with its table if there is room. */
static void learn_of(uint32_t uid, uint64_t ino, uint32_t n)
{
	owner = uid;
	learn(ino, n);
	owner = 0;
}

/* A user whose files have all rules loses tables, recently used ones too; others have room. */
TEST(files_of_one_user_take_no_rules_from_others)
{
	setup(16 << 20, 200);
	for (uint64_t ino = 1; ino <= 17; ino++)
		learn(ino, 1);
	now_s += 100;
	for (uint64_t ino = 100; ino < 110; ino++) {
		owner = MALLORY;
		answer_with_rules(meet(ino), (int32_t)ino, FILE_RULES_MAX);
		owner = 0;
		second();
	}
	for (uint64_t ino = 1; ino <= 17; ino++)
		CHECK(is(ino, FILE_TABLE));
	answer_with_rules(meet(50), 50, RULES_MAX / OWNER_SPARE - 100);
	CHECK(is(50, FILE_TABLE));
	files_fini(&files);
}

TEST(files_of_one_user_take_no_bytes_from_others)
{
	setup(1 << 20, 200);
	for (uint64_t ino = 1; ino <= 10; ino++)
		learn(ino, 10);
	now_s += 100;
	for (uint64_t ino = 100; ino < 150; ino++) {
		learn_of(MALLORY, ino, 900);
		second();
	}
	for (uint64_t ino = 1; ino <= 10; ino++)
		CHECK(is(ino, FILE_TABLE));
	learn(50, 900);
	CHECK(is(50, FILE_TABLE));
	files_fini(&files);
}

/* More files than there are numbers, too. */
TEST(files_of_one_user_take_no_places_from_others)
{
	uint64_t mine = 1;

	setup(1 << 20, FILES_MAX);
	for (; mine <= 200; mine++)
		learn(mine, 1);
	now_s += 100;
	owner = MALLORY;
	for (uint64_t ino = 1 << 20; ino < (1 << 20) + 34000; ino++) {
		uint32_t exe = meet(ino);

		if (exe)
			files_no_table(&files, exe, FILE_BARE);
		fake.n_dropped = 0;
		if (ino % 4096)
			continue;
		second();
		owner = 0;
		learn(mine, 1);		/* at the first try */
		CHECK(is(mine++, FILE_TABLE));
		owner = MALLORY;
	}
	owner = 0;
	for (uint64_t ino = 1; ino < mine; ino++)
		CHECK(is(ino, FILE_TABLE));
	files_fini(&files);
}

/* Whose files a former hub left is known when they are opened again. */
TEST(files_have_owners_again_after_a_restart)
{
	struct file_key key = key_of(3);
	uint32_t most;

	setup(1 << 20, 24);
	learn_of(MALLORY, 3, 5);
	CHECK_EQ(owners_have(&files.tables.owners, MALLORY), 1 + 5 + 1);
	files_fini(&files);
	files_init(&files, 42, &fake_out, NULL);
	CHECK_EQ(files_begin(&files, 1 << 20, IDLE_S, now_s), 0);
	for (uint32_t i = 0; i < 3; i++)
		files_adopt_slab(&files, i, fake_copy(i));
	CHECK_EQ(files_adopt(&files, fake.known, fake.n), 0);
	CHECK(fake_find(&key));
	CHECK(owners_most(&files.tables.owners, &most));
	CHECK_EQ(most, OWNER_UNKNOWN);
	owner = MALLORY;
	CHECK(meet(3) != EXE_NONE);
	owner = 0;
	CHECK_EQ(owners_have(&files.owners, MALLORY), 1);
	CHECK_EQ(owners_have(&files.tables.owners, MALLORY), 1 + 5 + 1);
	CHECK_EQ(files.tables.owners.total, 1 + 5 + 1);
	CHECK_EQ(owners_have(&files.tables.rules.owners, MALLORY), 1);
	files_fini(&files);
}

TEST(files_full_map_drops_the_least_used)
{
	setup(1 << 20, 24);
	for (uint64_t ino = 1; ino <= 24; ino++) {
		learn(ino, 1);
		use(ino, now_s - (ino == 9 ? 9 : 0));
	}
	CHECK_EQ(meet(100), EXE_NONE);
	CHECK(!entry_of(9));
	CHECK_EQ(stats().files, 23);
	CHECK(learn(100, 1) != EXE_NONE);
	CHECK(is(100, FILE_TABLE));
	CHECK_EQ(stats().files, 24);
	files_fini(&files);
}

/* More files than places and than numbers: each new one is placed at the second try. */
TEST(files_never_run_out_of_numbers)
{
	setup(1 << 20, 1024);
	for (uint64_t ino = 1; ino <= FILE_NUMBERS_MAX + 5000; ino++) {
		uint32_t exe = meet(ino);

		if (!exe)
			exe = meet(ino);
		CHECK(exe);
		files_no_table(&files, exe, FILE_BARE);
		fake.n_dropped = 0;
		if (ino % 1000 == 0) {
			now_s += 2 * IDLE_S;
			second();
		}
	}
	CHECK(stats().files <= 1024);
	CHECK(stats().numbers <= FILE_NUMBERS_MAX);
	files_fini(&files);
}

/* Many lives: numbers, space and rules stay bounded. */
TEST(files_come_and_go)
{
	uint64_t seed = 88172645463325252ULL;

	setup(256 << 10, FAKE_KEYS);
	for (uint64_t ino = 1; ino <= 2000; ino++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		learn(ino, 1 + seed % 250);
		fake.n_dropped = 0;
		second();
		if (fake.lists) {
			mapped(NULL, 0);
			fake.lists = 0;
		}
	}
	for (int i = 0; i < 3 * IDLE_S; i++) {
		mapped(NULL, 0);
		second();
	}
	CHECK_EQ(stats().files, 0);
	CHECK_EQ(stats().tables, 0);
	CHECK_EQ(files.tables.slabs.elements, 0);
	CHECK_EQ(fake.elements, 0);
	CHECK_EQ(stats().rules, 2);
	CHECK_EQ(stats().exes, 2000);
	CHECK(stats().numbers < 100);
	files_fini(&files);
}

/* --- another hub ---------------------------------------------------------------- */

#define LOST	(FILE_ASK | FILE_ASK_HOST)	/* with the former hub */

static struct msg_entry before[FAKE_KEYS];

static void restart(void)
{
	uint32_t n = fake.n;

	files_fini(&files);
	fake.handled = fake.by_second = 0;
	files_init(&files, 99, &fake_out, NULL);
	CHECK_EQ(files_begin(&files, fake.budget, IDLE_S, now_s), 0);
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		struct slab_copy *c = fake_copy(i);

		if (c)
			CHECK(files_adopt_slab(&files, i, c));
	}
	memcpy(before, fake.known, n * sizeof(*before));
	CHECK_EQ(files_adopt(&files, before, n), 0);
}

TEST(files_survive_their_hub)
{
	uint32_t a, b, c, installs;

	setup(1 << 20, 24);
	a = learn(1, 20);
	b = learn(2, 30);
	files_no_table(&files, meet(3), FILE_BARE);
	files_no_table(&files, meet(6), FILE_CODE);
	c = meet(4);
	installs = fake.installs;
	restart();
	/* numbers and tables stay; the symbols shall be read again */
	CHECK(is(1, FILE_TABLE | LOST) && is(2, FILE_TABLE | LOST) && is(6, FILE_CODE | LOST));
	CHECK(is(3, FILE_BARE | LOST) && is(4, FILE_PENDING | LOST));
	CHECK_EQ(stats().files, 5);
	CHECK_EQ(stats().tables, 2);
	CHECK_EQ(stats().rules, 4);
	/* what no entry leads to may still be read, so it is not free yet */
	CHECK_EQ(files.tables.slabs.elements, SLAB_ELEMENTS);
	CHECK_EQ(learn(4, 40), c);
	CHECK(is(4, FILE_PENDING));
	grace();
	CHECK(is(4, FILE_PENDING | FILE_ASK));
	CHECK_EQ(files.tables.slabs.elements, fake.elements);
	CHECK_EQ(learn(1, 20), a);
	CHECK_EQ(meet(2), b);
	files_settled(&files, b);
	CHECK(is(2, FILE_TABLE));
	CHECK_EQ(fake.installs, installs);
	CHECK_EQ(learn(4, 40), c);
	CHECK(is(4, FILE_TABLE));
	/* not a number that the former hub may just have given */
	CHECK(learn(5, 2) > c + 1);
	files_fini(&files);
}

TEST(files_of_the_same_hub_need_no_second_look)
{
	setup(1 << 20, 24);
	learn(1, 20);
	meet(2);
	fake.settled = true;
	restart();
	CHECK(is(1, FILE_TABLE));
	CHECK(is(2, FILE_PENDING | LOST));
	files_fini(&files);
}

TEST(files_are_asked_for_until_a_path_is_the_hosts)
{
	setup(1 << 20, 24);
	host = 0;
	learn(1, 20);
	CHECK(is(1, FILE_TABLE | FILE_ASK_HOST));
	files_settled(&files, meet(1));
	CHECK(is(1, FILE_TABLE | FILE_ASK_HOST));
	host = 1;
	files_settled(&files, meet(1));
	CHECK(is(1, FILE_TABLE));
	host = 0;			/* another one does not unlearn it */
	files_settled(&files, meet(1));
	CHECK(is(1, FILE_TABLE));
	host = 1;
	files_fini(&files);
}

/* Invalid entries are dropped, each alone. */
TEST(files_adopt_nothing_senseless)
{
	static const struct file_entry bad[] = {
		{ .exe = EXE_NONE },
		{ .exe = EXE_VDSO },
		{ .exe = FILE_NUMBERS_MAX },
		{ .exe = UINT32_MAX },
		{ .exe = EXE_FIRST, .state = FILE_BARE },	/* is another's */
		{ .exe = 50, .state = 16 },
		{ .exe = 51, .state = FILE_TABLE },
		{ .exe = 52, .state = FILE_BARE, .pages = 1 },
		{ .exe = 53, .state = FILE_TABLE, .pages = 1 },
		{ .exe = 54, .state = FILE_TABLE, .pages = UINT32_MAX },
		{ .exe = 55, .state = FILE_TABLE, .pages = 1, .dir = UINT32_MAX },
	};

	setup(1 << 20, 24);
	learn(1, 20);
	for (uint64_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		fake.known[fake.n++] = (struct msg_entry){ key_of(100 + i), bad[i] };
	restart();
	CHECK_EQ(stats().files, 1);
	CHECK(is(1, FILE_TABLE | LOST));
	CHECK_EQ(fake.n, 1);
	grace();
	CHECK_EQ(files.tables.slabs.elements, fake.elements);
	files_fini(&files);
}
