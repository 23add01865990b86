// SPDX-License-Identifier: Apache-2.0
/* What the hub asks for addresses in JIT code, and what it keeps of the answers. */
#include <fcntl.h>

#include "tests/unit/jit_questions.h"

TEST(an_address_is_asked_for_once_and_named)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK(space && questions == 1 && asked.n == 1 && asked.process.tgid == 7 && asked.fd < 0);
	CHECK(jit_waits(&j, space, ADDR, now));
	sample(7, ADDR, 1);
	jit_tick(&j, now + 60 * SEC);
	CHECK_EQ(questions, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "hello");
	CHECK(!jit_waits(&j, space, ADDR, now));
	sample(7, ADDR, 1);
	jit_tick(&j, now += 10 * SEC);
	CHECK_EQ(questions, 1);
	CHECK_EQ(stats.jit_names, 1);
	jit_fini(&j);
	close(fd);
}

/* The same address in another process is something else. */
TEST(processes_are_apart)
{
	int one = map_of("7f0000001000 100 one\n"), two = map_of("7f0000001000 100 two\n");
	uint32_t a, b;

	begin();
	a = sample(1, ADDR, 1);
	answer(one, 0);
	b = sample(2, ADDR, 1);
	answer(two, 0);
	CHECK(a != b);
	CHECK_STR(name_of(a, ADDR), "one");
	CHECK_STR(name_of(b, ADDR), "two");
	jit_fini(&j);
	close(one);
	close(two);
}

TEST(a_file_is_read_at_most_every_two_seconds)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	for (uint32_t i = 1; i < 200; i++) {
		now += SEC / 100;
		sample(7, ADDR + i * 16, 1);
		CHECK_EQ(questions, 1);
	}
	now += SEC;
	jit_tick(&j, now);
	/* all at once, from the descriptor that is kept */
	CHECK(questions == 2 && asked.n == 199 && asked.fd >= 0);
	jit_fini(&j);
	close(fd);
}

TEST(what_had_no_name_is_looked_for_when_the_file_has_grown)
{
	static const char more[] = "7f0000001000 100 late\n";
	int fd = map_of("1000 10 other\n");
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	jit_tick(&j, now += 3 * SEC);		/* no source is left */
	CHECK_STR(name_of(space, ADDR), "");
	CHECK(jit_waits(&j, space, ADDR, now));	/* the file may be behind */
	CHECK(!jit_waits(&j, space, ADDR, now + 2 * SEC));
	jit_tick(&j, now += 3 * SEC);
	CHECK_EQ(questions, 1);
	CHECK_EQ(pwrite(fd, more, strlen(more), 14), (ssize_t)strlen(more));
	CHECK(jit_waits(&j, space, ADDR, now += SEC));	/* it will be read again */
	jit_tick(&j, now);
	CHECK_EQ(questions, 2);
	CHECK(jit_waits(&j, space, ADDR, now));
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "late");
	jit_fini(&j);
	close(fd);
}

/* Memory is used again: a name is looked up again, and stays until then. */
TEST(a_name_is_looked_up_again_when_the_file_has_changed)
{
	static const char more[] = "7f0000001000 100 other\n", same[] = "7f0000001000 100 third\n";
	int fd = map_of("7f0000001000 100 first\n");
	uint32_t space;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	now += 61 * SEC;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 1);		/* it is what it was */
	CHECK_EQ(pwrite(fd, more, strlen(more), 23), (ssize_t)strlen(more));
	now += SEC;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 2);
	CHECK(jit_waits(&j, space, ADDR, now));
	CHECK_STR(name_of(space, ADDR), "first");
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "other");
	CHECK(!jit_waits(&j, space, ADDR, now));
	/* samples from before have the former one */
	CHECK(jit_was_until(&j, space, ADDR) > now - 30 * SEC);
	CHECK(jit_was_until(&j, space, ADDR) <= now);
	CHECK_EQ(jit_was_until(&j, space, ADDR + 16), 0);
	CHECK_EQ(jit_was_until(&j, 0, ADDR), 0);
	/* written anew, as long as before: not before JIT_GAP_NS */
	usleep(10000);			/* a file's time is the kernel's tick */
	CHECK_EQ(pwrite(fd, same, strlen(same), 23), (ssize_t)strlen(same));
	now += SEC;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 2);
	now += SEC;
	sample(7, ADDR, 1);
	CHECK_EQ(questions, 3);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "third");
	jit_fini(&j);
	close(fd);
}

TEST(a_large_file_is_read_again_more_rarely)
{
	int fd = map_of("7f0000001000 100 first\n");
	uint32_t space, last, n = 0;
	uint64_t was = 0;

	begin();
	space = sample(7, ADDR, 1);
	CHECK_EQ(ftruncate(fd, 10 * JIT_GAP_BYTES), 0);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	for (int i = 1; i < 100; i++) {
		CHECK_EQ(ftruncate(fd, 10 * JIT_GAP_BYTES + i), 0);
		now += SEC;
		last = questions;
		sample(7, ADDR, 1);
		if (questions == last)
			continue;
		CHECK(!was || now - was == 11 * JIT_GAP_NS);
		was = now;
		n++;
		answer(fd, 0);
	}
	CHECK_EQ(n, 4);
	jit_fini(&j);
	close(fd);
}

TEST(a_map_that_is_not_there_is_asked_for_ever_more_rarely)
{
	uint32_t last;

	begin();
	for (uint32_t i = 0; i < 600; i++, now += SEC) {
		last = questions;
		sample(7, ADDR + i * 16, 1);
		jit_tick(&j, now);
		if (questions != last)
			answer(-1, -ENOENT);
	}
	printf("# %u questions in 600 s\n", questions);
	CHECK(questions >= 10 && questions < 20);
	/* one that has ended is not asked for again */
	now += 100 * SEC;
	sample(7, ADDR, 2);
	jit_tick(&j, now);
	answer(-1, -ESRCH);
	CHECK(stats.jit_gone > 0);
	last = questions;
	for (uint32_t i = 0; i < 600; i++, now += SEC) {
		sample(7, 2 * ADDR + i * 16, 1);
		jit_tick(&j, now);
	}
	CHECK_EQ(questions, last);
	jit_fini(&j);
}

TEST(a_map_of_a_former_process_of_this_number_is_refused)
{
	int fd = map_of("7f0000001000 100 hello\n");
	struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };
	uint32_t space;

	begin();
	CHECK_EQ(futimens(fd, times), 0);
	space = sample(7, ADDR, 1);
	CHECK_EQ(jit_opened(&j, space, fd, 1010 * SEC), -ESTALE);
	CHECK_EQ(jit_opened(&j, space, fd, 1001 * SEC), 0);
	CHECK_EQ(jit_opened(&j, space + 1, fd, 1001 * SEC), -ESRCH);
	jit_fini(&j);
	close(fd);
}

/* The owner of a map lets others write it: their names are not his. */
TEST(a_map_that_others_may_write_is_refused)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t last, space;
	struct stat st;

	begin();
	space = sample(7, ADDR, 1);
	CHECK(!fchmod(fd, 0646));
	CHECK_EQ(jit_opened(&j, space, fd, 0), -EACCES);
	CHECK(!fchmod(fd, 0664) && !fstat(fd, &st));
	CHECK_EQ(jit_opened(&j, space, fd, 0), st.st_gid == st.st_uid ? 0 : -EACCES);
	if (!fchown(fd, 1000, 1001)) {
		CHECK_EQ(jit_opened(&j, space, fd, 0), -EACCES);
		CHECK(!fchown(fd, 1001, 1001));
		CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	}
	CHECK(!fchmod(fd, 0644));
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "hello");
	/* it becomes so later */
	CHECK(!fchmod(fd, 0666));
	last = questions;
	for (uint32_t i = 0; i < 100; i++, now += SEC) {
		sample(7, ADDR + 0x1000, 1);
		jit_tick(&j, now);
	}
	CHECK_EQ(questions, last);
	CHECK(stats.jit_refused > 1);
	jit_fini(&j);
	close(fd);
}

/* A perf map that a former process of this number has left is not the process's; it writes
 * its own later, and is asked for that as for one that is not there. */
TEST(a_map_that_comes_in_place_of_a_former_one_is_read)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t last, space = 0;

	begin();
	for (uint32_t i = 0; i < 200; i++, now += SEC) {
		last = questions;
		space = sample(7, ADDR, 1);
		jit_tick(&j, now);
		if (questions != last)
			answer(-1, -ESTALE);
	}
	CHECK(questions > 3 && questions < 12);
	last = questions;
	for (uint32_t i = 0; i < 100 && questions == last; i++, now += SEC) {
		sample(7, ADDR, 1);
		jit_tick(&j, now);
	}
	CHECK(questions == last + 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR), "hello");
	jit_fini(&j);
	close(fd);
}

/* A process with many jitdumps has no more open than there is room for, and closes its
 * own: another user's stays. */
TEST(a_users_jitdumps_close_his_own)
{
	int fd = map_of("7f0000001000 10 hello\n"), many = map_of("7f0000001000 10 hello\n");
	uint32_t space;

	begin();
	dump_of(7, fd);
	space = sample(7, ADDR, 1);
	answer(fd, 0);
	for (uint32_t i = 0; i < 4 * JIT_FDS; i++) {
		now++;
		user = 1000;
		sample(100 + i, ADDR, 1);
		answer(-1, -ENOENT);
		dump_of(100 + i, many);
		if (j.visits.under_way)
			answer(many, 0);
		if (i % JIT_FDS == 0)
			jit_tick(&j, now);
	}
	now += 3 * SEC;
	user = 0;
	seven.fd = -1;
	CHECK_EQ(sample(7, 2 * ADDR, 1), space);
	jit_tick(&j, now);
	CHECK(seven.fd >= 0);
	jit_fini(&j);
	close(fd);
	close(many);
}

/* The jitdump goes first, whenever it comes; what it does not name the map may. */
TEST(a_dump_goes_before_the_map)
{
	int dump = map_of("7f0000001000 10 of the dump\n");	/* to a worker all the same */
	int map = map_of("7f0000001000 100 of the map\n");
	uint32_t space;

	begin();
	dump_of(7, dump);	/* before the first sample */
	dump_of(8, dump);
	space = sample(7, ADDR, 2);
	CHECK(questions == 1 && asked.fd >= 0 && asked.n == 2);
	answer(dump, 0);
	jit_tick(&j, now += SEC);
	CHECK(questions == 2 && asked.fd < 0 && asked.n == 1);
	CHECK_EQ(jit_opened(&j, space, map, 0), 0);
	answer(map, 0);
	CHECK_STR(name_of(space, ADDR), "of the dump");
	CHECK_STR(name_of(space, ADDR + 16), "of the map");
	/* one that comes behind the map's answer */
	sample(9, ADDR, 1);
	answer(-1, -ENOENT);
	dump_of(9, dump);
	CHECK(questions == 4 && asked.process.tgid == 9 && asked.fd >= 0);
	jit_fini(&j);
	close(dump);
	close(map);
}

/* Its jitdump had to be closed for others while an address waited for it: the map is
 * asked. */
TEST(an_address_whose_jitdump_was_closed_is_looked_for_in_the_map)
{
	int fd = map_of("7f0000001000 10 hello\n");
	uint32_t space, last;

	begin();
	dump_of(7, fd);
	space = sample(7, ADDR, 1);
	CHECK(questions == 1 && asked.fd >= 0);
	answer(fd, 0);
	CHECK_EQ(sample(7, ADDR + 16, 1), space);
	CHECK(questions == 1 && j.visits.waiting == 1);
	for (uint32_t i = 0; i < JIT_FDS; i++) {
		now++;
		CHECK_EQ(jit_opened(&j, sample(100 + i, ADDR, 1), fd, 0), 0);
		answer(fd, 0);
	}
	last = questions;
	now += 2 * SEC;
	jit_tick(&j, now);
	CHECK(questions == last && j.visits.lost == 1 && !j.visits.waiting);
	jit_tick(&j, now);
	CHECK(questions == last + 1 && asked.process.tgid == 7 && asked.fd < 0);
	CHECK_EQ(asked_words[0], FRAME_ANON_WORD(ADDR + 16));
	CHECK_STR(name_of(space, ADDR), "hello");
	jit_fini(&j);
	close(fd);
}

/* The map comes late, and the visit that finds it is for another address alone: those that
 * were looked for in vain before are looked for again, once. */
TEST(a_map_that_comes_late_names_what_was_met_before)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t space, last;

	begin();
	space = sample(7, ADDR, 3);
	CHECK(questions == 1 && asked.n == 3);
	answer(-1, -ENOENT);
	now += 2 * SEC;
	sample(7, ADDR + 64, 1);
	CHECK(questions == 2 && asked.n == 1);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR + 64), "hello");
	CHECK_STR(name_of(space, ADDR), "");
	sample(7, ADDR, 3);
	for (int i = 0; i < 3 && questions == 2; i++)
		jit_tick(&j, now += SEC);
	CHECK(questions == 3 && asked.n == 3);
	answer(fd, 0);
	CHECK_STR(name_of(space, ADDR + 32), "hello");
	last = questions;
	for (int i = 0; i < 5; i++)
		jit_tick(&j, now += SEC);
	CHECK_EQ(questions, last);
	jit_fini(&j);
	close(fd);
}

/* Whoever has its number, or had it: a jitdump is of the process that mapped it alone, and
 * of the program that did, whether it came before the first sample or after. */
TEST(a_jitdump_is_of_one_process)
{
	static const struct process_id others[] = { { 2, 7, 0 }, { 1, 7, 1 }, { 1, 8, 0 } };
	int fd = map_of("7f0000001000 10 hello\n");

	for (size_t i = 0; i < 2 * sizeof(others) / sizeof(*others); i++) {
		const struct process_id *other = &others[i / 2];
		struct trace_rec rec = rec_of(other->tgid, other->start_ns);
		uint64_t word = FRAME_ANON_WORD(ADDR);
		uint32_t space;

		begin();
		rec.process = *other;
		if (i % 2) {		/* after a sample of both */
			sample(7, ADDR, 1);
			answer(-1, -ENOENT);
			space = jit_space(&j, &rec, now);
			CHECK(space);
		}
		dump_of(7, fd);
		if (j.visits.under_way)
			answer(fd, 0);
		space = jit_space(&j, &rec, now);
		jit_mention(&j, space, &word, 1, now);
		jit_tick(&j, now += 3 * SEC);
		CHECK(same_process(&asked.process, other) && asked.fd < 0);
		jit_fini(&j);
	}
	close(fd);
}

/* Its process may never have a sample. */
TEST(a_jitdump_without_a_sample_is_let_go)
{
	int fd = map_of("7f0000001000 10 hello\n");

	begin();
	dump_of(7, fd);
	now += JIT_EARLY_NS - 1;
	jit_sweep(&j, now);
	CHECK(j.early.v[0].process.tgid);
	now++;
	jit_sweep(&j, now);
	CHECK(!j.early.v[0].process.tgid);
	sample(7, ADDR, 1);
	CHECK(questions == 1 && asked.fd < 0);
	jit_fini(&j);
	close(fd);
}

TEST(a_jitdump_stays_while_its_process_is_sampled)
{
	int fd = map_of("7f0000001000 10 hello\n");
	uint32_t space;

	begin();
	dump_of(7, fd);
	space = sample(7, ADDR, 1);
	answer(fd, 0);
	for (uint32_t i = 0; i < 20; i++) {
		now += 10 * SEC;
		CHECK_EQ(sample(7, ADDR, 1), space);
		jit_sweep(&j, now);
	}
	sample(7, 2 * ADDR, 1);
	CHECK(questions == 2 && asked.fd >= 0);
	jit_fini(&j);
	close(fd);
}

TEST(jitdumps_that_come_early_are_bounded)
{
	int fd = map_of("7f0000001000 10 hello\n"), before = dup(fd), after;
	uint32_t space;

	close(before);
	begin();
	for (uint32_t i = 0; i < JIT_EARLY + 1; i++)
		dump_of(100 + i, fd);
	dump_of(100 + JIT_EARLY, fd);	/* two of one process: the last is taken */
	CHECK_EQ(j.early.closed, 2);
	space = sample(100 + JIT_EARLY, ADDR, 1);
	CHECK(asked.number != space && asked.fd >= 0);
	sample(101, ADDR, 1);			/* these two had to go */
	CHECK_EQ(asked.fd, -1);
	sample(100, ADDR, 1);
	CHECK_EQ(asked.fd, -1);
	sample(102, ADDR, 1);
	CHECK(asked.fd >= 0);
	jit_fini(&j);
	after = dup(fd);
	CHECK_EQ(after, before);
	close(after);
	close(fd);
}

TEST(paths_of_jitdumps)
{
	static const char *const yes[] = { "/tmp/jit-1.dump", "jit-123.dump", "/a b/jit-9.dump" };
	static const char *const no[] = {
		"", "/", "jit-.dum", "/tmp/jit-1.dump/x", "/tmp/ajit-1.dump", "/tmp/jit-a.dump",
		"/tmp/jit-1.dumpx", "/tmp/jit-1", "jit-1dump",
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		CHECK(jit_early_is_dump(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		CHECK(!jit_early_is_dump(no[i], strlen(no[i])));
}

/* All together have JIT_BYTES, of which the user with the most gives his oldest: the names
 * of new processes stay. */
TEST(room_is_bounded_and_shared)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t space[40], n = 0;

	begin();
	for (uint32_t tgid = 1; tgid < 40; tgid++) {
		space[tgid] = sample(tgid, ADDR, 8192);
		CHECK(j.places.bytes.total <= JIT_BYTES);
	}
	CHECK(j.places.bytes.total > JIT_BYTES / 10 * 9);
	CHECK(j.places.lost > 0);
	for (uint32_t tgid = 100; tgid < 110; tgid++) {
		now++;
		user = 4602 + tgid;
		space[0] = sample(tgid, ADDR, 500);
		n = 0;
		for (uint32_t i = 0; i < 500; i++)
			n += jit_find(&j, space[0], ADDR + i * 16) != NULL;
		CHECK_EQ(n, 500);
	}
	/* the oldest places went */
	CHECK(!jit_find(&j, space[1], ADDR) && jit_find(&j, space[39], ADDR + 8191 * 16));
	/* whoever's the file is: the process's user is charged */
	CHECK_EQ(jit_opened(&j, space[0], fd, 0), 0);
	CHECK_EQ(owners_have(&j.places.bytes, 4711), 500 * owner_cache_cost(&j.places));
	sample(109, 2 * ADDR, 500);
	CHECK_EQ(owners_have(&j.places.bytes, 4711), 1000 * owner_cache_cost(&j.places));
	CHECK(j.places.bytes.total <= JIT_BYTES);
	jit_fini(&j);
	close(fd);
}

/* However many processes have no perf map: they do not take what a known user has. */
TEST(processes_without_a_map_leave_users_their_names)
{
	int fd = map_of("7f0000001000 100000 hello\n");
	uint32_t space, n = 0;

	begin();
	user = 4711;
	space = sample(1, ADDR, 500);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	user = 0;
	for (uint32_t tgid = 1000; tgid < 4000; tgid++) {
		now += SEC / 10;
		sample(tgid, ADDR, 400);
	}
	CHECK(j.places.lost > 0);
	for (uint32_t i = 0; i < 500; i++)
		n += jit_find(&j, space, ADDR + i * 16) != NULL;
	CHECK_EQ(n, 500);
	jit_fini(&j);
	close(fd);
}

/* Neither what they have before their maps are open, nor their turn. */
TEST(newcomers_of_a_user_take_nothing_from_those_of_others)
{
	uint32_t space, last, n = 0;

	begin();
	user = 12345;
	for (uint32_t tgid = 1000; tgid < 1300; tgid++)
		sample(tgid, ADDR, 1000);
	user = 0;
	last = questions;
	space = sample(7, ADDR, 500);
	CHECK(questions == last + 1 && asked.process.tgid == 7 && asked.owner == 0);
	user = 12345;
	for (uint32_t tgid = 2000; tgid < 2300; tgid++) {
		now += SEC / 100;
		sample(tgid, ADDR, 1000);
	}
	CHECK(j.places.lost > 0);
	for (uint32_t i = 0; i < 500; i++) {
		if (jit_find(&j, space, ADDR + i * 16))
			n++;
	}
	CHECK_EQ(n, 500);
	jit_fini(&j);
}

/* One process may use all, and then loses what it did not use for longest. */
TEST(a_process_alone_goes_on)
{
	uint32_t space = 0, n;

	begin();
	for (n = 0; !j.places.lost; n += 8192)
		space = sample(1, ADDR + n * 16, 8192);
	sample(1, ADDR + n * 16, 8192);
	CHECK(jit_find(&j, space, ADDR + n * 16) && !jit_find(&j, space, ADDR));
	CHECK(j.places.bytes.total > JIT_BYTES / 10 * 9 && j.places.bytes.total <= JIT_BYTES);
	jit_fini(&j);
}

/* What finds no place to wait is asked for when there is one. */
TEST(more_addresses_than_a_visit_has_are_asked_for_one_visit_after_the_other)
{
	int fd = map_of("7f0000001000 100000 hello\n");
	uint32_t space, visits = 0;

	begin();
	space = sample(7, ADDR, 3 * JIT_ASK);
	CHECK(questions == 1 && asked.n == JIT_ASK);
	CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	for (; visits < 10 && j.visits.waiting; visits++) {
		answer(fd, 0);
		jit_tick(&j, now += 2 * SEC);
	}
	CHECK_EQ(visits, 3);
	for (uint32_t i = 0; i < 3 * JIT_ASK; i++)
		CHECK_STR(name_of(space, ADDR + i * 16), "hello");
	jit_fini(&j);
	close(fd);
}

/* Of more processes than there is room for, the one goes that was idle longest; files of
 * JIT_FDS stay open. */
TEST(processes_are_bounded)
{
	int fd = map_of("7f0000001000 100 hello\n");
	uint32_t first = 0, space = 0;
	int before = dup(fd), after;

	close(before);
	begin();
	for (uint32_t i = 0; i < JIT_TARGETS + 10; i++, now++) {
		space = sample(1000 + i, ADDR, 1);
		CHECK(space != 0);
		if (!first)
			first = space;
		answer(-1, -ENOENT);
		CHECK_EQ(jit_opened(&j, space, fd, 0), 0);
	}
	CHECK(!jit_opened(&j, space, fd, 0));
	CHECK_EQ(jit_opened(&j, first, fd, 0), -ESRCH);
	after = dup(fd);
	CHECK(after - before <= (int)JIT_FDS + 2);
	close(after);
	/* what was used at this very moment does not go */
	for (uint32_t i = 0; i < 2 * JIT_TARGETS; i++)
		space = sample(9000 + i, ADDR, 1);
	CHECK_EQ(space, 0);
	jit_fini(&j);
	after = dup(fd);
	CHECK_EQ(after, before);
	close(after);
	close(fd);
}

TEST(what_is_idle_is_forgotten)
{
	int fd = map_of("7f0000001000 100 hello\n");

	begin();
	sample(7, ADDR, 100);
	answer(fd, 0);
	now += JIT_IDLE_NS - 1;
	jit_sweep(&j, now);
	CHECK(j.places.bytes.total > 0 && j.visits.by_key.n == 1);
	jit_sweep(&j, ++now);
	CHECK(j.places.bytes.total == 0 && j.visits.by_key.n == 0 && j.places.by_hash.n == 0);
	/* its answer is nobody's */
	answer(fd, 0);
	CHECK_EQ(j.places.bytes.total, 0);
	jit_fini(&j);
	close(fd);
}

/* What the tables of ours cost: docs/BENCHMARKS.md. */
TEST(memory_of_a_thousand_names)
{
	size_t len = 0;
	char *text = malloc(1 << 20);
	int fd;

	begin();
	for (uint32_t i = 0; i < 500; i++)
		len += (size_t)sprintf(text + len, "%llx 10 JS:*functionNumber%u /srv/application/lib/module.js:%u:17\n",
				       (unsigned long long)ADDR + i * 16, i, i);
	fd = map_of(text);
	sample(7, ADDR, 500);
	answer(fd, 0);
	printf("# 1,000 names of %zu bytes: %llu KiB\n", len / 500 - 17,
	       (unsigned long long)j.places.bytes.total * 2 / 1024);
	CHECK(stats.jit_names == 500 && j.places.bytes.total < 500 * 300);
	jit_fini(&j);
	close(fd);
	free(text);
}
