// SPDX-License-Identifier: Apache-2.0
/* Addresses in JIT code that are looked up again, since the last look-up failed or is of
 * former files. */
#include "tests/unit/jit_questions.h"

static void append(int fd, const char *text)
{
	CHECK(lseek(fd, 0, SEEK_END) > 0);
	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* It may be called something else, and that could not be found out. */
static void expect_another_look(int reason, uint64_t after)
{
	int fd = map_of("7f0000001000 100 first\n");
	uint64_t changed;
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	append(fd, "7f0000001000 100 other\n");
	now += 3 * SEC;
	sample(7, ADDR, 1);
	changed = now;
	CHECK(questions == 2 && jit_waits(&j, space, ADDR, now));
	answer(-1, reason);
	CHECK_STR(name_of(space, ADDR), "first");
	CHECK(!jit_waits(&j, space, ADDR, now));
	now += after;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 3);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "other");
	CHECK(jit_was_until(&j, space, ADDR) <= changed);
	jit_fini(&j);
	close(fd);
}

TEST(a_name_whose_look_up_failed_is_looked_up_again)
{
	expect_another_look(JOB_KILLED, VISITS_CLOSED_NS + SEC);
	expect_another_look(JOB_CORRUPT, VISITS_CLOSED_NS + SEC);
	expect_another_look(VISIT_LOST, 60 * SEC);
}

/* Make a question for the perf map while the jitdump is read. */
static void ask_map(uint32_t space)
{
	struct visit_question dump = asked;
	uint64_t word = FRAME_ANON_WORD(2 * ADDR), words = asked_words[0];

	CHECK(visits_want(&j.visits, visits_find(&j.visits, space), &word, true, now));
	visits_ask(&j.visits, false, now);
	CHECK_EQ(asked.number, space);
	asked = dump;
	asked_words[0] = words;
}

/* The jitdump grows while it is read, and then the perf map is read: each look-up is of the
 * files as they were when it began. */
TEST(a_name_is_of_the_files_as_its_own_visit_began)
{
	int dump = map_of("7f0000001000 10 first\n"), before = map_of("7f0000001000 10 first\n");
	uint32_t space;

	begin();
	dump_of(7, dump);
	space = sample(7, ADDR, 1);
	append(dump, "7f0000001000 10 other\n");
	now += SEC;
	ask_map(space);
	CHECK_EQ(asked.n, 1);
	answer(before, 0);
	CHECK_STR(name_of(space, ADDR), "first");
	now += 10 * SEC;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 3);
	answer(dump, 0);
	CHECK_STR(name_of(space, ADDR), "other");
	jit_fini(&j);
	close(dump);
	close(before);
}

/* Likewise if the jitdump did not have it, and the perf map was read later. */
TEST(a_name_of_the_map_is_of_the_dump_as_it_was)
{
	int empty = map_of("1000 10 other\n"), dump = map_of("1000 10 other\n");
	int map = map_of("7f0000001000 10 of the map\n");
	uint32_t space;

	begin();
	dump_of(7, dump);
	space = sample(7, ADDR, 1);
	append(dump, "7f0000001000 10 of the dump\n");
	now += SEC;
	answer(empty, 0);
	jit_tick(&j, now);
	CHECK_EQ(asked.number, space);
	CHECK_EQ(jit_opened(&j, space, map, 0), 0);
	answer(map, 0);
	CHECK_STR(name_of(space, ADDR), "of the map");
	now += 10 * SEC;
	sample(7, ADDR, 1);
	CHECK(questions == 3 && asked.number != space);
	answer(dump, 0);
	CHECK_STR(name_of(space, ADDR), "of the dump");
	jit_fini(&j);
	close(empty);
	close(dump);
	close(map);
}

/* Samples of this address for so long, each second; the number of questions. */
static uint32_t go_on(uint64_t addr, uint64_t ns)
{
	uint32_t last = questions;

	for (uint64_t end = now + ns; now < end;) {
		now += SEC;
		sample(7, addr, 1);
		jit_tick(&j, now);
	}
	return questions - last;
}

/* A perf map killed its worker, perhaps since the machine was short of time. */
TEST(an_address_is_asked_for_again_when_its_process_is_visited_again)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(-1, JOB_KILLED);
	CHECK_EQ(go_on(ADDR, VISITS_CLOSED_NS - SEC), 0);
	CHECK_EQ(go_on(ADDR, SEC), 1);
	answer(-1, JOB_KILLED);
	CHECK_EQ(go_on(ADDR, 2 * VISITS_CLOSED_NS - SEC), 0);
	CHECK_EQ(go_on(ADDR, SEC), 1);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "hello");
	CHECK_EQ(go_on(ADDR, 8 * VISITS_CLOSED_NS), 0);
	jit_fini(&j);
	close(fd);
}

/* Likewise a jitdump, while the perf map says nothing of it. */
TEST(an_address_is_asked_for_again_when_its_jitdump_is_read_again)
{
	int dump = map_of("7f0000001000 10 hello\n"), map = map_of("1000 10 other\n");
	uint32_t space;

	begin();
	dump_of(7, dump);
	space = sample(7, ADDR, 1);
	CHECK(asked.number != space);
	answer(-1, JOB_KILLED);
	CHECK_EQ(go_on(ADDR, SEC), 1);
	CHECK_EQ(jit_opened(&j, space, map, 0), 0);
	answer(map, 0);
	CHECK_EQ(go_on(ADDR, VISITS_CLOSED_NS - 2 * SEC), 0);
	CHECK_EQ(go_on(ADDR, SEC), 1);
	answer(dump, 0);
	CHECK_STR(name_of(space, ADDR), "hello");
	jit_fini(&j);
	close(dump);
	close(map);
}
