// SPDX-License-Identifier: Apache-2.0
/* Places in files whose functions and lines are asked for, kept, and let go. */
#include "tests/unit/lines_wanted.h"

TEST(a_place_is_asked_for_once_and_then_known)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct executable *e;
	struct visit_question q;

	begin();
	e = add(1, 7);
	want(e, OFF);
	want(e, OFF);
	want(e, OFF + 8);
	CHECK(source_lines_wait(&l, e, OFF, now));
	CHECK(!source_lines_wait(&l, e, OFF + 1, now));
	CHECK(next(&q) == e);
	CHECK_EQ(q.n, 2);
	CHECK_EQ(q.words[1], OFF + 8);
	CHECK_EQ(q.fd, e->fd);
	CHECK_EQ(q.owner, 7);
	CHECK(l.visits.asked == 1 && !l.answers);
	CHECK(!next(&(struct visit_question){ .fd = -1 }));
	CHECK(source_lines_wait(&l, e, OFF, now));
	answer(&q, "outer", true);
	CHECK(!source_lines_wait(&l, e, OFF, now));
	CHECK(l.visits.asked == 1 && l.answers == 1 && !l.put_off && !l.deaths);
	CHECK_EQ(source_lines_find(&l, e, OFF + 8, at), 2);
	CHECK_STR(at[0].name, "inlined");
	CHECK_STR(at[0].system, "_Z7inlinedv");
	CHECK_EQ(at[0].line, 4);
	CHECK_STR(at[1].name, "outer");
	CHECK(!at[1].system);
	CHECK_STR(at[1].file, "a.c");
	CHECK_EQ(at[1].first_line, 10);
	CHECK_EQ(at[1].line, 101);
	/* each function is there once */
	CHECK_EQ(l.store.functions.by_hash.n, 2);
	now += 60 * SECOND;
	want(e, OFF);
	CHECK(!next(&q));
	end();
}

/* A user's many files: few visits are under way at a time, another user's is one of the
 * first, and what they use he pays for himself. */
TEST(a_users_many_files_take_neither_the_cpu_nor_the_turn_of_others)
{
	struct executable *mine[85], *other, *e;
	struct visit_question q[LINES_AT_ONCE + 1];
	uint32_t n = 0, others = 0, files = 85;

	begin();
	source_lines_share(&l, 50, SECOND);
	for (uint32_t i = 0; i < files; i++)
		want(mine[i] = add(10 + i, 7), OFF);
	want(other = add(1, 8), OFF);
	for (; n <= LINES_AT_ONCE && (e = next(&q[n])); n++)
		others += e == other && n < 2;
	CHECK_EQ(n, LINES_AT_ONCE / 2 + 1);
	CHECK_EQ(others, 1);
	CHECK_EQ(l.put_off, 0);
	for (uint32_t i = 0; i < n; i++) {
		source_lines_used(&l, q[i].owner, q[i].owner == 7 ? 50 * SECOND : SECOND / 50);
		answer(&q[i], "f", false);
	}
	/* 200 seconds, of which there were 20 at the start: he pays a quarter of each */
	for (int i = 0; i < 500; i++) {
		now += SECOND;
		want(other, OFF + 1 + i);
		if (i % 9 == 8) {
			CHECK(source_lines_wait(&l, other, OFF + 1 + i, now));
			CHECK(next(&q[0]) == other);
			CHECK(!next(&q[1]));
			source_lines_used(&l, 8, SECOND / 50);
			answer(&q[0], "f", false);
		}
	}
	CHECK_EQ(l.put_off, files - LINES_AT_ONCE / 2);
	now += 300 * SECOND;
	CHECK((e = next(&q[0])) && e != other);
	end();
}

TEST(what_a_visit_did_not_come_to_is_asked_again)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	want(e, OFF + 1);
	want(e, OFF + 2);
	CHECK(next(&q) == e);
	left = 2;
	answer(&q, "f", false);
	left = 0;
	CHECK_EQ(source_lines_find(&l, e, OFF, at), 1);
	CHECK_EQ(source_lines_find(&l, e, OFF + 1, at), 0);
	CHECK(source_lines_wait(&l, e, OFF + 1, now));
	now += SECOND;
	CHECK(next(&q) == e);
	CHECK_EQ(q.n, 2);
	CHECK_EQ(q.words[0], OFF + 1);
	answer(&q, "f", false);
	CHECK_EQ(source_lines_find(&l, e, OFF + 2, at), 1);
	CHECK_EQ(l.visits.waiting, 0);
	end();
}

TEST(what_is_not_in_the_answer_is_not_asked_again)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	CHECK(next(&q) == e);
	line_codes_begin(&b, (uint32_t)q.n);
	say(&q);
	CHECK(!source_lines_wait(&l, e, OFF, now));
	CHECK_EQ(source_lines_find(&l, e, OFF, at), 0);
	now += 60 * SECOND;
	want(e, OFF);
	CHECK(!next(&q));
	end();
}

/* Who has new places met all the time. */
TEST(the_pause_between_visits_doubles_and_a_visit_is_bounded)
{
	struct visit_question q;
	struct executable *e;
	uint32_t visits = 0;

	begin();
	e = add(1, 7);
	for (uint64_t t = 0; t < 100 * 10; t++, now += SECOND / 10) {
		for (uint64_t i = 0; i < 10; i++)
			want(e, OFF + t * 10 + i);
		if (!next(&q))
			continue;
		CHECK(q.n <= LINES_ASK);
		visits++;
		answer(&q, "f", false);
	}
	/* after 1, 2, 4 seconds, then each eight */
	CHECK(visits >= 14 && visits <= 17);
	CHECK(l.visits.waiting <= LINES_ASK);
	end();
}

TEST(at_the_end_nothing_pauses)
{
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	for (uint64_t i = 0; i < 5; i++) {
		want(e, OFF + i);
		now += 9 * SECOND;
		CHECK(next(&q) == e);
		answer(&q, "f", false);
	}
	want(e, OFF + 9);
	CHECK(!source_lines_wait(&l, e, OFF + 9, now));
	CHECK(!next(&q));
	l.visits.ending = true;
	CHECK(source_lines_wait(&l, e, OFF + 9, now));
	CHECK(next(&q) == e);
	end();
}

TEST(workers_time_is_bounded_by_a_share)
{
	struct visit_question q;
	struct executable *e;
	uint64_t used = 0;

	begin();
	e = add(1, 7);
	for (uint64_t i = 0; i < 1000; i++, now += 9 * SECOND) {
		want(e, OFF + i);
		if (!next(&q)) {
			CHECK(!source_lines_wait(&l, e, OFF + i, now));
			continue;
		}
		answer(&q, "f", false);
		used += 10 * SECOND;
		source_lines_used(&l, 7, 10 * SECOND);
	}
	CHECK_EQ(l.share.used_ns, used);
	CHECK(l.put_off > 100 && l.put_off <= l.visits.asked);
	CHECK(used <= (1000 * 9 + USER_SHARE_SPARE * 10 + 10) * SECOND / 2);
	CHECK(used >= 1000 * 8 * SECOND / 2);
	l.share.percent = 0;
	CHECK(!source_lines_of(&l, e));
	end();
}

TEST(a_file_that_kills_its_worker_is_not_visited_again)
{
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	CHECK(next(&q) == e);
	want(e, OFF + 1);
	visits_answer(&l.visits, q.number, NULL, JOB_KILLED, now);
	CHECK(l.deaths == 1 && !l.answers);
	CHECK(!source_lines_of(&l, e));
	CHECK_EQ(l.visits.waiting, 0);
	now += 60 * SECOND;
	CHECK(!next(&q));
	/* it was perhaps only slow: each time later */
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t doubled = i + 1 < LINES_KILLED_DOUBLED ? i + 1 : LINES_KILLED_DOUBLED;

		now = e->lines_again_ns - 1;
		CHECK(!next(&q) && !source_lines_of(&l, e));
		now++;
		CHECK(!next(&q));
		want(e, OFF);
		now += 10 * SECOND;
		CHECK(next(&q) == e);
		visits_answer(&l.visits, q.number, NULL, JOB_KILLED, now);
		CHECK_EQ(e->lines_again_ns - now, LINES_KILLED_NS << doubled);
	}
	now = e->lines_again_ns;
	CHECK(!next(&q));
	want(e, OFF);
	CHECK(next(&q) == e);
	answer(&q, "f", false);
	CHECK(source_lines_of(&l, e) && e->lines_seen);
	end();
}

/* It has its names, so it is not read anew, and no sample waits until it is known that it
 * has lines. */
TEST(a_file_whose_debug_file_comes_later_is_visited_again)
{
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	e->debug = JOB_DEBUG_LINES;
	CHECK(executable_lines_unsure(e));
	want(e, OFF);
	CHECK(next(&q) == e);
	visits_answer(&l.visits, q.number, NULL, JOB_NO_NAMES, now);
	CHECK(!source_lines_of(&l, e) && executable_lacks_debug(e));
	CHECK(executable_renew(e, 5));
	CHECK(!e->renew && executable_lines_unsure(e) && !executable_lacks_debug(e));
	now += 60 * SECOND;
	want(e, OFF);
	CHECK(next(&q) == e);
	/* that was of no use: the same file is not tried again */
	visits_answer(&l.visits, q.number, NULL, JOB_NO_NAMES, now);
	CHECK(!source_lines_of(&l, e) && !executable_renew(e, 5) && executable_renew(e, 6));
	now += 60 * SECOND;
	want(e, OFF);
	CHECK(next(&q) == e);
	answer(&q, "outer", false);
	CHECK(!executable_lines_unsure(e) && !executable_lacks_debug(e));
	/* the DWARF kills its worker: nothing else comes later */
	want(e, OFF + 8);
	now += 60 * SECOND;
	CHECK(next(&q) == e);
	visits_answer(&l.visits, q.number, NULL, JOB_KILLED, now);
	CHECK(!source_lines_of(&l, e) && !executable_lacks_debug(e));
	end();
}

/* Of another file the answer says no more than that. */
TEST(a_file_with_dwarf_lacks_no_debug_file)
{
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	CHECK(!executable_lines_unsure(e));
	want(e, OFF);
	CHECK(next(&q) == e);
	visits_answer(&l.visits, q.number, NULL, JOB_NO_NAMES, now);
	CHECK(!source_lines_of(&l, e) && !executable_lacks_debug(e));
	end();
}

TEST(for_want_of_memory_it_is_tried_again_but_not_for_ever)
{
	struct visit_question q;
	struct executable *e;
	uint32_t visits = 0;

	begin();
	e = add(1, 7);
	want(e, OFF);
	for (; next(&q) == e; now += 9 * SECOND) {
		visits++;
		visits_answer(&l.visits, q.number, NULL, visits % 2 ? -ENOSPC : JOB_NO_MEMORY, now);
	}
	CHECK_EQ(visits, LINES_TRIES);
	CHECK(source_lines_of(&l, e));
	CHECK(!source_lines_wait(&l, e, OFF, now));
	/* but in a while, though samples meet it all the time */
	for (visits = 0; interval < 2 * LINES_IDLE && next(&q) != e; interval++) {
		source_lines_sweep(&l, interval, now);
		want(e, OFF);
		now += 5 * SECOND;
	}
	CHECK(interval >= LINES_IDLE && interval <= LINES_IDLE + 2);
	answer(&q, "f", false);
	CHECK_EQ(l.found, 1);
	end();
}

TEST(without_a_descriptor_it_is_asked_for_once_and_awaited)
{
	struct visit_question q;
	struct executable *e;
	uint32_t i;

	begin();
	e = add(1, 7);
	i = executables_find(&x, &e->key);
	close(executables_take_fd(&x, i));
	want(e, OFF);
	CHECK(next(&q) == e);
	CHECK_EQ(q.fd, (uintmax_t)-1);
	CHECK(!next(&q));
	now += SECOND;
	CHECK(!next(&q));
	CHECK(executables_keep(&x, i, dup(STDOUT_FILENO), now));
	CHECK(next(&q) == e);
	CHECK_EQ(q.fd, e->fd);
	answer(&q, "f", false);
	/* it never comes: a later sample asks anew */
	close(executables_take_fd(&x, i));
	want(e, OFF + 1);
	now += 9 * SECOND;
	CHECK(next(&q) == e);
	now += LINES_FD_NS;
	CHECK(!next(&q));
	CHECK_EQ(l.visits.waiting, 0);
	want(e, OFF + 1);
	CHECK_EQ(l.visits.waiting, 1);
	CHECK(next(&q) == e);
	CHECK_EQ(q.fd, (uintmax_t)-1);
	end();
}

/* Its debug file came, say. */
TEST(a_file_that_is_to_be_read_anew_is_asked_for_anew)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	CHECK(next(&q) == e);
	e->lines_id = 0;
	answer(&q, "old", false);
	CHECK_EQ(source_lines_find(&l, e, OFF, at), 0);
	want(e, OFF);
	CHECK(next(&q) == e);
	answer(&q, "new", false);
	CHECK_EQ(source_lines_find(&l, e, OFF, at), 1);
	CHECK_STR(at[0].name, "new");
	end();
}

/* Places 0 to n - 1 of a file get functions of their own. */
static uint64_t fill(struct executable *e, uint64_t n)
{
	struct visit_question q;
	char name[256];
	uint64_t peak = 0;

	memset(name, 'n', sizeof(name));
	for (uint64_t i = 0; i < n; i++) {
		want(e, OFF + i);
		now += 9 * SECOND;
		CHECK(next(&q) == e);
		snprintf(name + 200, 50, "%u.%u", (unsigned int)e->key.ino, (unsigned int)i);
		answer(&q, name, true);
		peak = l.store.codes.bytes.total > peak ? l.store.codes.bytes.total : peak;
	}
	return peak;
}

TEST(room_is_bounded_and_who_has_most_gives_what_was_not_used)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct executable *greedy, *modest;
	uint32_t kept = 0;

	begin();
	greedy = add(1, 7);
	modest = add(2, 8);
	fill(modest, 100);
	fill(greedy, 20);
	for (uint64_t i = 0; i < 60000; i += 1000) {
		struct executable *e = add(100 + i, 7);

		CHECK(fill(e, 1000) <= LINES_BYTES);
		interval++;
		for (uint64_t j = 0; j < 20; j++)	/* goes on being sampled */
			want(greedy, OFF + j);
	}
	CHECK(l.store.codes.bytes.total > LINES_BYTES * 9ULL / 10);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ(source_lines_find(&l, modest, OFF + i, at), 2);
	for (uint64_t i = 0; i < 20; i++)
		kept += source_lines_find(&l, greedy, OFF + i, at) == 2;
	CHECK_EQ(kept, 20);
	end();
}

TEST(idle_places_go)
{
	struct executable *e;

	begin();
	e = add(1, 7);
	fill(e, 10);
	interval += LINES_IDLE - 1;
	want(e, OFF);
	source_lines_sweep(&l, interval, now);
	CHECK_EQ(owner_cache_used(&l.store.codes), 10);
	interval++;
	source_lines_sweep(&l, interval, now);
	CHECK_EQ(owner_cache_used(&l.store.codes), 1);
	CHECK_EQ(l.store.functions.by_hash.n, 2);
	end();
}

TEST(one_user_does_not_take_all_that_wait)
{
	struct executable *other;

	begin();
	other = add(1000, 8);
	for (uint64_t i = 0; i < 200; i++) {
		struct executable *e = add(i + 1, 7);

		for (uint64_t j = 0; j < 300; j++)
			want(e, OFF + j);
	}
	CHECK_EQ(l.visits.waiting, LINES_WAITING);
	for (uint64_t j = 0; j < LINES_ASK; j++) {
		want(other, OFF + j);
		CHECK(source_lines_wait(&l, other, OFF + j, now));
	}
	CHECK(l.visits.waiting <= LINES_WAITING && l.visits.lost > LINES_ASK);
	end();
}
