// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/executable.h"
#include "tests/unit/harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct file_key key_of(uint64_t ino)
{
	return (struct file_key){ .ino = ino, .size = 100, .dev = 7 };
}

static uint32_t mention(struct executables *x, uint64_t ino, uint32_t interval)
{
	struct file_key key = key_of(ino);

	return executables_mention(x, &key, interval);
}

TEST(executable_is_found_by_key_and_number)
{
	struct executables x;
	struct file_key key = key_of(3);
	uint32_t a, b;

	executables_init(&x, 9);
	a = mention(&x, 3, 1);
	b = mention(&x, 4, 1);
	CHECK(a != b);
	CHECK_EQ(mention(&x, 3, 1), a);
	CHECK_EQ(executables_find(&x, &key), a);
	CHECK(executables_number(&x, 5) == NULL);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6, true), 0);
	CHECK(executables_number(&x, 5) == executables_get(&x, a));
	CHECK(!strcmp(executables_get(&x, a)->path, "/bin/x"));
	/* a number may come to mean another file, and a file have two */
	CHECK_EQ(executables_assign(&x, 5, b, "/bin/y", 6, true), 0);
	CHECK_EQ(executables_assign(&x, 1000000, b, "/bin/z", 6, true), 0);
	CHECK_EQ(executables_get(&x, a)->numbers, 0);
	CHECK_EQ(executables_get(&x, b)->numbers, 2);
	CHECK(executables_number(&x, EXE_MAX) == NULL);
	executables_fini(&x);
}

TEST(executable_has_the_path_of_the_host)
{
	struct executables x;
	struct executable *e;
	uint32_t a;

	executables_init(&x, 9);
	a = mention(&x, 3, 1);
	e = executables_get(&x, a);
	CHECK_EQ(executables_assign(&x, 5, a, "/tmp/evil", 9, false), 0);
	CHECK_STR(e->path, "/tmp/evil");
	CHECK_EQ(executables_assign(&x, 5, a, "/tmp/later", 10, false), 0);
	CHECK_STR(e->path, "/tmp/evil");
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/true", 9, true), 0);
	CHECK_STR(e->path, "/bin/true");
	CHECK(e->host_path);
	CHECK_EQ(executables_assign(&x, 5, a, "/tmp/evil", 9, false), 0);
	CHECK_EQ(executables_assign(&x, 6, a, NULL, 0, false), 0);
	CHECK_STR(e->path, "/bin/true");
	/* it was moved */
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/moved", 10, true), 0);
	CHECK_STR(e->path, "/bin/moved");
	executables_fini(&x);
}

TEST(executable_numbers_retire_late)
{
	struct executables x;
	uint32_t a;

	executables_init(&x, 9);
	a = mention(&x, 3, 1);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6, true), 0);
	CHECK_EQ(executables_retire(&x, 5, 1), 0);
	CHECK_EQ(executables_retire(&x, 6, 1), 0);	/* nobody's */
	executables_sweep(&x, RETIRE_INTERVALS);
	CHECK(executables_number(&x, 5) != NULL);
	executables_sweep(&x, 1 + RETIRE_INTERVALS);
	CHECK(executables_number(&x, 5) == NULL);
	executables_fini(&x);
}

TEST(executable_number_given_again_is_not_retired)
{
	struct executables x;
	uint32_t a;

	executables_init(&x, 9);
	a = mention(&x, 3, 1);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6, true), 0);
	CHECK_EQ(executables_retire(&x, 5, 1), 0);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6, true), 0);
	executables_sweep(&x, 100);
	CHECK(executables_number(&x, 5) != NULL);
	executables_fini(&x);
}

TEST(executables_unused_are_forgotten)
{
	struct executables x;
	uint32_t used, quarantined;

	executables_init(&x, 9);
	for (uint64_t i = 0; i < 500; i++)
		mention(&x, i, 1);
	used = mention(&x, 77, 1);
	CHECK_EQ(executables_assign(&x, 2, used, "/bin/x", 6, true), 0);
	executables_get(&x, mention(&x, 78, 1))->jobs = 1;
	quarantined = mention(&x, 79, 1);
	executables_get(&x, quarantined)->quarantined = true;
	executables_sweep(&x, 1 + EXECUTABLE_IDLE_INTERVALS);
	CHECK_EQ(x.n, 3);
	CHECK_EQ(mention(&x, 79, 1), quarantined);
	executables_sweep(&x, 1 + QUARANTINE_INTERVALS);
	CHECK_EQ(x.n, 2);
	executables_forget_numbers(&x);
	CHECK(executables_number(&x, 2) == NULL);
	executables_sweep(&x, 2 + QUARANTINE_INTERVALS);
	CHECK_EQ(x.n, 1);
	executables_get(&x, mention(&x, 78, 1))->jobs = 0;
	executables_fini(&x);
}

/* As many as there may be: a new one takes the place of the coldest, but never
 * of one with a number or a job. */
TEST(executables_find_room_for_new_ones)
{
	struct executables x;
	uint32_t numbered, busy, hot;

	executables_init(&x, 9);
	numbered = mention(&x, 1, 1);
	CHECK_EQ(executables_assign(&x, 2, numbered, "/bin/x", 6, true), 0);
	busy = mention(&x, 2, 1);
	executables_get(&x, busy)->jobs = 1;
	for (uint64_t i = 3; i <= EXECUTABLES_MAX / 2; i++)
		mention(&x, i, 2);
	for (uint64_t i = x.n + 1; i <= EXECUTABLES_MAX; i++)
		mention(&x, i, 3);
	hot = mention(&x, EXECUTABLES_MAX, 3);
	CHECK_EQ(x.n, EXECUTABLES_MAX);
	for (uint64_t i = 1; i <= EXECUTABLES_MAX / 4; i++)
		CHECK(mention(&x, 1000000 + i, 4) != EXECUTABLE_NONE);
	CHECK(x.n <= EXECUTABLES_MAX);
	CHECK(x.crowded > 0);
	CHECK_EQ(mention(&x, 1, 4), numbered);
	CHECK_EQ(mention(&x, 2, 4), busy);
	CHECK_EQ(mention(&x, EXECUTABLES_MAX, 4), hot);
	executables_get(&x, busy)->jobs = 0;
	executables_fini(&x);
}

TEST(executables_name_what_is_in_quarantine)
{
	struct quarantine q;
	struct executables x;
	char path[4096];

	executables_init(&x, 9);
	for (uint32_t i = 0; i < 2 * QUARANTINE_SHOWN; i++) {
		uint32_t at = mention(&x, i, 1);
		int len = snprintf(path, sizeof(path), "/bin/%u", i);

		/* odd ones; the last, of which nothing is said, too */
		executables_get(&x, at)->quarantined = i % 2;
		if (i == 1)
			len = snprintf(path, sizeof(path), "/%0300d!", 0);
		if (i != 3)
			CHECK_EQ(executables_assign(&x, i + 1, at, path,
						    (size_t)len, true), 0);
	}
	memset(&q, 0xff, sizeof(q));
	executables_quarantine(&x, &q);
	CHECK_EQ(strlen(q.path[0]), QUARANTINE_PATH - 1);
	CHECK_EQ(q.path[0][QUARANTINE_PATH - 2], '!');
	CHECK(!strcmp(q.path[1], "/bin/5"));
	CHECK(!strcmp(q.path[6], "/bin/15"));
	CHECK(!*q.path[7]);
	executables_fini(&x);
}

static void *some_map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

TEST(executable_takes_a_workers_answer)
{
	struct msg_job_done done = {
		.build_id_len = 3,
		.build_id = { 0x01, 0xab, 0xff },
		.runtime = RUNTIME_GO,
		.runtime_id = "go/id",
		.file_id = { 1, 2 },
	};
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	done.build_id_len = BUILD_ID_MAX + 1;
	CHECK(!executable_known(e, &done));
	CHECK(!e->known);
	done.build_id_len = 3;
	done.runtime = RUNTIME__MAX;
	CHECK(!executable_known(e, &done));
	done.runtime = RUNTIME_GO;
	CHECK(executable_known(e, &done));
	CHECK(e->known && !e->named && e->runtime == RUNTIME_GO);
	CHECK(!strcmp(e->build_id, "01abff"));
	CHECK(!strcmp(e->runtime_id, "go/id"));
	memset(done.runtime_id, 'x', sizeof(done.runtime_id));
	CHECK(!executable_known(e, &done));
	CHECK(!strcmp(e->runtime_id, "go/id"));
	executables_fini(&x);
}

TEST(executables_keep_symbols_within_a_budget)
{
	struct symbol_index idx = { .n = 0 };
	size_t len = SYMBOLS_BUDGET / 4;
	struct executables x;

	executables_init(&x, 9);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t e = mention(&x, i, 10 + i);

		CHECK_EQ(executables_assign(&x, 2 + i, e, "/x", 2, true), 0);
		executable_named(executables_get(&x, e), some_map(len), len,
				 &idx);
	}
	executables_sweep(&x, 16);
	for (uint32_t i = 0; i < 6; i++)	/* the last is not idle */
		CHECK_EQ(executables_get(&x, i)->s.map != NULL, i >= 1);
	executables_fini(&x);
}

/* As a worker's answer: false when there is no room. */
static bool give_symbols(struct executables *x, uint64_t ino, uint32_t owner,
			 size_t len, uint32_t interval)
{
	struct symbol_index idx = { .n = 0 };
	struct executable *e = executables_get(x, mention(x, ino, interval));

	e->owner = owner;
	CHECK(!e->s.map);
	if (!executables_symbols_room(x, e, len, interval))
		return false;
	executable_named(e, some_map(len), len, &idx);
	return true;
}

static size_t symbol_bytes(const struct executables *x)
{
	size_t n = 0;

	for (uint32_t i = 0; i < x->top; i++) {
		if (x->v[i])
			n += x->v[i]->s.map_len;
	}
	return n;
}

/* A user has twelve indices of 95 MB, all in use: his own go, root's stay. */
TEST(executables_in_use_have_a_budget_too)
{
	struct executables x;

	executables_init(&x, 9);
	for (uint32_t i = 0; i < 10; i++)
		CHECK(give_symbols(&x, 1000 + i, 0, 1 << 20, 15));
	for (uint32_t i = 0; i < 12; i++) {
		CHECK(give_symbols(&x, i, 1000, 95 << 20, 20 + i / 4));
		CHECK(symbol_bytes(&x) <= SYMBOLS_BUDGET_ALL);
	}
	executables_sweep(&x, 22);
	for (uint32_t i = 0; i < 10; i++)
		CHECK(executables_get(&x, mention(&x, 1000 + i, 22))->s.map);
	for (uint32_t i = 10; i < 12; i++)
		CHECK(executables_get(&x, mention(&x, i, 22))->s.map);
	/* who would have more than all goes without */
	CHECK(!give_symbols(&x, 99, 1001, SYMBOLS_BUDGET_ALL + 1, 22));
	executables_fini(&x);
}

/* --- names that samples met ------------------------------------------------------ */

/* Four functions of 64 bytes from 0 on, with room behind each. */
static const struct {
	struct symbols_hdr h;
	struct symbol s[4];
	char names[16];
} four = {
	{ SYMBOLS_MAGIC, 4, 0, 0, 16, 0 },
	{ { 0, 64, 1 }, { 128, 64, 3 }, { 256, 64, 5 }, { 384, 64, 7 } },
	"\0a\0b\0c\0d",
};

/* A worker has read them, into so many bytes. */
static void read_four_in(struct executable *e, size_t bytes)
{
	size_t len = offsetof(__typeof__(four), names) + 16;
	uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct symbol_index idx;

	CHECK(map != MAP_FAILED);
	memcpy(map, &four, len);
	CHECK_EQ(symbols_open(map, len, &idx), 0);
	executable_named(e, map, bytes, &idx);
}

static void read_four(struct executable *e)
{
	read_four_in(e, 4096);
}

/* A sample's, named at this interval; "": nothing is known to be there. */
static const char *name_at(struct executable *e, uint64_t off, uint32_t interval)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];

	return executable_places(e, off, interval, at) ? at[0].name : "";
}

/* At each interval, until they are let go: when. */
static uint32_t let_go(struct executables *x, uint32_t i, uint32_t interval)
{
	for (;; interval++) {
		CHECK(interval < 10000);
		if (executables_let_names_go(x, 0, interval) != i)
			continue;
		CHECK_EQ(executables_let_names_go(x, i + 1, interval), EXECUTABLE_NONE);
		return interval;
	}
}

TEST(executable_keeps_the_names_that_samples_met)
{
	struct executables x;
	struct executable *e;
	uint32_t i;

	executables_init(&x, 9);
	i = mention(&x, 1, 100);
	e = executables_get(&x, i);
	read_four(e);
	CHECK_EQ(executables_let_names_go(&x, 0, 100), EXECUTABLE_NONE);
	CHECK_STR(name_at(e, 10, 101), "a");
	CHECK_STR(name_at(e, 300, 103), "c");
	CHECK_STR(name_at(e, 70, 103), "");
	for (uint32_t k = 104; k < 103 + LET_GO_INTERVALS; k++) {
		CHECK_STR(name_at(e, 20, k), "a");	/* it is not new any more */
		CHECK_EQ(executables_let_names_go(&x, 0, k), EXECUTABLE_NONE);
	}
	CHECK_EQ(let_go(&x, i, 104), 103 + LET_GO_INTERVALS);
	CHECK(!e->s.map && !e->s.marks && e->s.few_len < 256);
	/* what was met is still there, also that nothing is */
	CHECK_STR(name_at(e, 63, 200), "a");
	CHECK_STR(name_at(e, 256, 200), "c");
	CHECK(!executable_want(e, 63, 1) && !executable_want(e, 127, 1));
	CHECK(e->named && executable_unread(e));
	/* what was not is asked for, once */
	CHECK_STR(name_at(e, 140, 200), "");
	CHECK(executable_want(e, 140, 1));
	CHECK(!executable_want(e, 400, 1) && !executable_want(e, 63, 1));
	read_four(e);
	CHECK(e->named && !executable_unread(e) && !executable_want(e, 400, 1));
	CHECK_STR(name_at(e, 140, 201), "b");
	executables_fini(&x);
}

/* Who meets a new function whenever the others were let go has the file read less and
 * less often; who does so seldom has them let go early each time. */
TEST(executable_is_read_again_less_and_less_often)
{
	uint32_t lasted = 0, i, now = 1;
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	i = mention(&x, 1, 1);
	e = executables_get(&x, i);
	for (uint32_t k = 0; k < LET_GO_DOUBLED + 3; k++) {
		uint32_t then;

		read_four(e);
		CHECK_EQ(executables_let_names_go(&x, 0, now), EXECUTABLE_NONE);
		name_at(e, 64 * (k % 8), now);
		then = let_go(&x, i, now);
		if (k && k <= LET_GO_DOUBLED)
			CHECK_EQ(then - now, 2 * lasted);
		else if (k)
			CHECK_EQ(then - now, lasted);
		else
			CHECK_EQ(then - now, LET_GO_INTERVALS);
		lasted = then - now;
		now = then + 1;
	}
	read_four(e);
	now += lasted;
	CHECK_EQ(let_go(&x, i, now), now + LET_GO_INTERVALS);
	/* all were met */
	for (uint64_t off = 0; off < 320; off += 64)
		CHECK(!executable_want(e, off, 1));
	executables_fini(&x);
}

TEST(executable_of_which_nothing_was_met_keeps_nothing)
{
	struct executables x;
	struct executable *e;
	uint32_t i;

	executables_init(&x, 9);
	i = mention(&x, 1, 1);
	e = executables_get(&x, i);
	read_four(e);
	let_go(&x, i, 1);
	CHECK(!e->s.map && !e->s.few_data && !e->s.few_len);
	CHECK(executable_want(e, 0, 1));
	/* it cannot be read any more: that is all */
	executable_failed(e, JOB_CORRUPT, 1);
	CHECK(!executable_want(e, 0, 2) && !executable_unread(e));
	executables_fini(&x);
}

/* Beyond the budget whole tables go, of who has the most.  What samples met stays, and the
 * rest is asked for again. */
TEST(executables_beyond_the_budget_keep_what_was_met)
{
	struct executables x;
	struct executable *e;
	uint32_t others, i;

	executables_init(&x, 9);
	others = mention(&x, 1, 1);
	executable_give(executables_get(&x, others), 1000);
	read_four(executables_get(&x, others));
	name_at(executables_get(&x, others), 10, 1);
	i = mention(&x, 2, 1);
	e = executables_get(&x, i);
	CHECK(executable_want(e, 10, 1));
	read_four_in(e, SYMBOLS_BUDGET + 4096);
	name_at(e, 10, 1);
	executables_sweep(&x, 9);
	CHECK(!e->s.map && e->s.few.n == 1 && x.full == 1);
	CHECK_STR(name_at(e, 20, 9), "a");
	/* BPF is to ask for it */
	CHECK_EQ(executables_let_names_go(&x, 0, 3), i);
	CHECK_EQ(executables_let_names_go(&x, 0, 3), EXECUTABLE_NONE);
	CHECK(!executable_want(e, 20, AGAIN_NS + 1));
	CHECK(executable_want(e, 400, AGAIN_NS + 1));
	CHECK(executables_get(&x, others)->s.map);
	executables_fini(&x);
}

/* A large table is in use at each interval, and goes when the next one comes. */
static void come_and_go(struct executables *x, uint32_t from, uint32_t to)
{
	for (uint32_t now = from; now < to; now++) {
		executable_named(executables_get(x, mention(x, 1000 + now, now)),
				 some_map(SYMBOLS_BUDGET / 2), SYMBOLS_BUDGET / 2,
				 &(struct symbol_index){ .n = 0 });
		executables_sweep(x, now);
		while (executables_let_names_go(x, 0, now) != EXECUTABLE_NONE)
			;
	}
}

/* A program that seldom runs, beside large ones of the same owner that come and go: what
 * samples met has its name for ever, what they did not after it was read again. */
TEST(executable_keeps_its_names_beside_large_ones)
{
	struct executables x;
	struct executable *e;
	uint32_t i;

	executables_init(&x, 9);
	i = mention(&x, 1, 1);
	CHECK_EQ(executables_assign(&x, 7, i, "/service", 8, true), 0);
	e = executables_get(&x, i);
	read_four(e);
	CHECK_STR(name_at(e, 10, 1), "a");
	for (uint32_t now = 2; now < 400; now += 50) {
		come_and_go(&x, now, now + 50);
		CHECK(!e->s.map);
		CHECK_STR(name_at(e, 20, now + 50), "a");
	}
	CHECK(executable_want(e, 300, 1));
	read_four(e);
	CHECK_STR(name_at(e, 300, 401), "c");
	come_and_go(&x, 402, 450);
	CHECK(!e->s.map && e->s.few.n == 2);
	CHECK_STR(name_at(e, 20, 450), "a");
	CHECK_STR(name_at(e, 300, 450), "c");
	CHECK(x.full > 300 && !x.met.lost);
	executables_fini(&x);
}

/* Nothing was taken from it: there is no room now, and perhaps later. */
TEST(executable_without_room_is_asked_for_again)
{
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	CHECK(executable_want(e, 10, 1));
	CHECK(!executables_symbols_room(&x, e, SYMBOLS_BUDGET_ALL + 1, 1));
	CHECK_EQ(x.full, 1);
	executable_named(e, NULL, 0, &(struct symbol_index){ 0 });
	CHECK(e->named && !executable_want(e, 10, AGAIN_NS));
	CHECK_EQ(x.again.put_off, 1);
	CHECK(executable_want(e, 10, AGAIN_NS + 1));
	read_four(e);
	CHECK_STR(name_at(e, 10, 2), "a");
	executables_fini(&x);
}

/* Our side had no memory, or the worker died, perhaps since this machine was busy: that is
 * not for ever, while a file that is no ELF file stays one. */
TEST(executable_that_failed_is_tried_again_later)
{
	uint64_t now = 1;
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	for (uint32_t i = 0; i < 3; i++) {
		CHECK(executable_want(e, 10, now));
		executable_failed(e, i % 2 ? JOB_NO_MEMORY : -12, now);
		CHECK(!e->quarantined && e->named && !executable_want(e, 10, now));
		now += AGAIN_LONG_NS;
	}
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t doubled = i < QUARANTINE_DOUBLED ? i : QUARANTINE_DOUBLED;

		CHECK(executable_want(e, 10, now));
		executable_failed(e, JOB_KILLED, now);
		CHECK(e->quarantined);
		now += (QUARANTINE_NS << doubled) - 1;
		CHECK(!executable_want(e, 10, now) && e->quarantined);
		now++;
	}
	CHECK(executable_want(e, 10, now) && !e->quarantined);
	executable_failed(e, JOB_NOT_ELF, now);
	CHECK(!executable_want(e, 10, now + (1ULL << 60)) && !executable_unread(e));
	executables_fini(&x);
}

/* A sample meets a place whose name is known, or all are: the table may be there by now. */
TEST(executable_without_a_table_is_asked_for_again)
{
	struct executables x;
	struct executable *e;
	uint32_t i;

	executables_init(&x, 9);
	i = mention(&x, 1, 1);
	e = executables_get(&x, i);
	read_four(e);
	CHECK_STR(name_at(e, 10, 1), "a");
	e->table_later = e->quarantined = true;
	CHECK(executable_want(e, 10, 1));
	/* its names are all here: nothing waits for them */
	CHECK(e->named && !e->wanted && !e->quarantined);
	CHECK(!executable_want(e, 10, AGAIN_NS));
	let_go(&x, i, 1);
	CHECK(executable_want(e, 10, AGAIN_NS + 1) && e->wanted);
	executable_failed(e, JOB_KILLED, AGAIN_NS + 1);
	CHECK(!executable_want(e, 10, AGAIN_NS + QUARANTINE_NS));
	CHECK(executable_want(e, 10, AGAIN_NS + QUARANTINE_NS + 1));
	e->table_later = false;
	executable_failed(e, JOB_CORRUPT, AGAIN_NS + QUARANTINE_NS + 1);
	CHECK(!executable_want(e, 10, 1ULL << 60));
	executables_fini(&x);
}

/* Whoever makes new debug files all the time has his file read no more often. */
TEST(executable_with_a_new_debug_file_waits_likewise)
{
	struct executables x;
	struct executable *e;
	uint64_t now = 1000 * NSEC_PER_SEC;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	CHECK(executable_want(e, 10, now));
	read_four(e);
	CHECK(executable_renew(e, 1));
	CHECK(executable_want(e, 10, ++now));	/* but for the first one */
	executable_missed_debug(e);		/* not at hand any more: also then for once */
	read_four(e);
	CHECK(executable_renew(e, 2));
	CHECK(!executable_want(e, 10, now + AGAIN_NS - 1) && e->renew);
	now += AGAIN_NS;
	CHECK(executable_want(e, 10, now));
	read_four(e);
	e->again.read = true;
	read_again_used(&x.again, e->owner, 1000 * NSEC_PER_SEC);
	CHECK(executable_renew(e, 3));
	CHECK(!executable_want(e, 10, now + AGAIN_LONG_NS));
	executables_fini(&x);
}

/* Its worker died, or had no memory: the debug file is still to be read, and the file is not
 * in quarantine for ever. */
TEST(executable_that_failed_with_its_debug_file_is_tried_again)
{
	uint64_t now = 1000 * NSEC_PER_SEC;
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	CHECK(executable_want(e, 10, now));
	read_four(e);
	CHECK(executable_renew(e, 1));
	CHECK(executable_want(e, 10, ++now));
	executable_failed(e, JOB_KILLED, now);
	CHECK(!executable_want(e, 10, now + QUARANTINE_NS - 1) && e->quarantined);
	now += QUARANTINE_NS;
	CHECK(executable_want(e, 10, now) && !e->quarantined);
	executable_failed(e, JOB_NO_MEMORY, now);
	now += AGAIN_LONG_NS;
	CHECK(executable_want(e, 10, now));
	executable_failed(e, JOB_CORRUPT, now);
	CHECK(!executable_want(e, 10, now + QUARANTINE_NS) && e->s.map);
	executables_fini(&x);
}

/* Each reading counts and is charged, also one that nobody has asked for again. */
TEST(executable_pays_for_each_try)
{
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	CHECK(executable_want(e, 10, 1));
	CHECK(!read_again_given(&e->again, false) && !read_again_given(&e->again, true));
	CHECK_EQ(x.again.share.used_ns, 0);
	for (uint32_t i = 1; i < SYMBOLS_TRIES; i++) {
		CHECK(executable_again(e));
		CHECK_EQ(x.again.share.used_ns, i * AGAIN_COST_NS);
		CHECK(read_again_given(&e->again, true) && !read_again_given(&e->again, true));
	}
	CHECK(!executable_again(e));
	CHECK_EQ(x.again.share.used_ns, (SYMBOLS_TRIES - 1) * AGAIN_COST_NS);
	executables_fini(&x);
}

/* Three times for want of memory in a row, each time that it is read. */
TEST(executable_has_as_many_tries_each_time)
{
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 1; k < SYMBOLS_TRIES; k++)
			CHECK(executable_again(e));
		if (i)
			read_four(e);
		else
			executable_failed(e, JOB_NO_MEMORY, 1);
	}
	executables_fini(&x);
}

/* --- descriptors ----------------------------------------------------------------- */

/* Keep one of this owner's; what has to go first goes.  Its index, or NONE. */
static uint32_t keep(struct executables *x, uint64_t ino, uint32_t owner,
		     uint64_t now_ns)
{
	uint32_t i = mention(x, ino, 1), gone = EXECUTABLE_NONE;

	executables_get(x, i)->owner = owner;
	while (!executables_may_keep(x, owner, &gone)) {
		CHECK(gone != EXECUTABLE_NONE);
		close(executables_take_fd(x, gone));
	}
	CHECK(executables_keep(x, i, dup(1), now_ns));
	CHECK_EQ(executables_get(x, i)->kept_ns, now_ns);
	return gone;
}

TEST(executables_are_wanted_until_they_have_names)
{
	struct symbol_index idx = { .n = 0 };
	struct executables x;
	struct executable *e;

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	CHECK(executable_want(e, 0, 100));
	CHECK(!executable_want(e, 0, 200) && e->wanted && e->wanted_ns == 100);
	executable_named(e, some_map(4096), 4096, &idx);
	CHECK(!executable_want(e, 0, 300) && !e->wanted);
	e = executables_get(&x, mention(&x, 2, 1));
	CHECK(executable_want(e, 0, 100));
	executable_failed(e, JOB_KILLED, 200);
	CHECK(!executable_want(e, 0, 300) && !e->wanted && e->quarantined);
	executables_fini(&x);
}

/* A user's files push out his own; those that a sample waits for stay. */
TEST(executables_share_descriptors_by_owner)
{
	struct executables x;

	executables_init(&x, 9);
	x.kept_max = 32;
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(keep(&x, 100 + i, 0, 1 + i), EXECUTABLE_NONE);
	for (uint32_t i = 0; i < 26; i++)	/* a sixteenth is for others */
		CHECK_EQ(keep(&x, i, 1000, 10 + i), EXECUTABLE_NONE);
	CHECK_EQ(keep(&x, 26, 1000, 40), mention(&x, 0, 1));
	CHECK(executable_want(executables_get(&x, mention(&x, 1, 1)), 0, 50));
	CHECK_EQ(keep(&x, 27, 1000, 41), mention(&x, 2, 1));
	CHECK_EQ(keep(&x, 104, 0, 42), EXECUTABLE_NONE);
	CHECK_EQ(x.kept.total, 31);
	for (uint32_t i = 0; i < 5; i++)
		CHECK(executables_get(&x, mention(&x, 100 + i, 1))->fd >= 0);
	executables_fini(&x);
}

TEST(executables_refuse_a_descriptor_when_all_are_wanted)
{
	struct executables x;
	uint32_t first = 0;

	executables_init(&x, 9);
	CHECK(!executables_may_keep(&x, 0, &first));	/* none is allowed */
	CHECK_EQ(first, EXECUTABLE_NONE);
	x.kept_max = 1;
	CHECK_EQ(keep(&x, 1, 0, 1), EXECUTABLE_NONE);
	CHECK(executable_want(executables_get(&x, mention(&x, 1, 1)), 0, 1));
	CHECK(!executables_may_keep(&x, 0, &first));
	CHECK_EQ(first, EXECUTABLE_NONE);
	executables_fini(&x);
}

/* No number stands for it any more: only what a sample waits for is kept. */
TEST(executables_let_go_of_descriptors_without_a_number)
{
	struct executables x;
	uint32_t a, b;

	executables_init(&x, 9);
	x.kept_max = 8;
	keep(&x, 1, 0, 1);
	keep(&x, 2, 0, 1);
	keep(&x, 3, 0, 1);
	a = mention(&x, 1, 1);
	b = mention(&x, 2, 1);
	CHECK_EQ(executables_assign(&x, 2, a, "/a", 2, true), 0);
	CHECK(executable_want(executables_get(&x, b), 0, 1));
	executables_sweep(&x, 2);
	CHECK_EQ(x.kept.total, 2);
	CHECK(executables_get(&x, a)->fd >= 0 && executables_get(&x, b)->fd >= 0);
	executables_forget_numbers(&x);
	executables_sweep(&x, 3);
	CHECK_EQ(x.kept.total, 1);
	/* nor when it is forgotten */
	executables_sweep(&x, 2 + EXECUTABLE_IDLE_INTERVALS);
	CHECK_EQ(x.kept.total, 0);
	executables_fini(&x);
}
