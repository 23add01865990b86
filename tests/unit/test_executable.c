// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/executable.h"
#include "tests/unit/harness.h"

#include <string.h>
#include <sys/mman.h>

static struct file_key key_of(uint64_t ino)
{
	return (struct file_key){ .ino = ino, .size = 100, .dev = 7 };
}

static uint32_t mention(struct executables *x, uint64_t ino, uint32_t interval)
{
	struct file_key key = key_of(ino);

	return executables_mention(x, &key, interval, 1);
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
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6), 0);
	CHECK(executables_number(&x, 5) == executables_get(&x, a));
	CHECK(!strcmp(executables_get(&x, a)->path, "/bin/x"));
	/* a number may come to mean another file, and a file have two */
	CHECK_EQ(executables_assign(&x, 5, b, "/bin/y", 6), 0);
	CHECK_EQ(executables_assign(&x, 1000000, b, "/bin/z", 6), 0);
	CHECK_EQ(executables_get(&x, a)->numbers, 0);
	CHECK_EQ(executables_get(&x, b)->numbers, 2);
	CHECK(executables_number(&x, EXE_MAX) == NULL);
	executables_fini(&x);
}

TEST(executable_numbers_retire_late)
{
	struct executables x;
	uint32_t a;

	executables_init(&x, 9);
	a = mention(&x, 3, 1);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6), 0);
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
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6), 0);
	CHECK_EQ(executables_retire(&x, 5, 1), 0);
	CHECK_EQ(executables_assign(&x, 5, a, "/bin/x", 6), 0);
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
	CHECK_EQ(executables_assign(&x, 2, used, "/bin/x", 6), 0);
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
	CHECK_EQ(executables_assign(&x, 2, numbered, "/bin/x", 6), 0);
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
						    (size_t)len), 0);
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
	struct symbol_index idx = { .n = 0 };
	struct executables x;
	struct executable *e;
	void *map = some_map(4096);

	executables_init(&x, 9);
	e = executables_get(&x, mention(&x, 1, 1));
	done.build_id_len = BUILD_ID_MAX + 1;
	CHECK(!executable_done(e, &done, map, 4096, &idx));
	CHECK(!e->known && !e->map);
	done.build_id_len = 3;
	done.runtime = RUNTIME__MAX;
	CHECK(!executable_done(e, &done, map, 4096, &idx));
	done.runtime = RUNTIME_GO;
	CHECK(executable_done(e, &done, map, 4096, &idx));
	CHECK(e->known && e->runtime == RUNTIME_GO);
	CHECK(!strcmp(e->build_id, "01abff"));
	CHECK(!strcmp(e->runtime_id, "go/id"));
	memset(done.runtime_id, 'x', sizeof(done.runtime_id));
	CHECK(!executable_done(e, &done, map, 4096, &idx));
	CHECK(!strcmp(e->runtime_id, "go/id"));
	executables_fini(&x);
}

TEST(executables_keep_symbols_within_a_budget)
{
	struct msg_job_done done = { .runtime = RUNTIME_NONE };
	struct symbol_index idx = { .n = 0 };
	size_t len = SYMBOLS_BUDGET / 4;
	struct executables x;

	executables_init(&x, 9);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t e = mention(&x, i, 10 + i);

		CHECK_EQ(executables_assign(&x, 2 + i, e, "/x", 2), 0);
		CHECK(executable_done(executables_get(&x, e), &done,
				      some_map(len), len, &idx));
	}
	executables_sweep(&x, 16);
	for (uint32_t i = 0; i < 6; i++)	/* the two coldest went */
		CHECK_EQ(executables_get(&x, i)->map != NULL, i >= 2);
	executables_fini(&x);
}
