// SPDX-License-Identifier: Apache-2.0
/* Places in files whose functions and lines are asked for, kept, and let go. */
#include "symbolizerd/knowledge/source_lines.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <unistd.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/frame_names.h"

#define SECOND	1000000000ULL
#define OFF	0x1000ULL

static struct source_lines l;
static struct executables x;
static uint64_t now;
static uint32_t interval;

/* Questions that were not looked at yet. */
static struct {
	uint32_t n, exe[2 * LINES_AT_ONCE];
	struct visit_question q[2 * LINES_AT_ONCE];
	uint64_t words[2 * LINES_AT_ONCE][LINES_ASK], taken[LINES_ASK];
} heard;

static int hear(void *ctx, uint32_t i, const struct visit_question *q)
{
	(void)ctx;
	CHECK(heard.n < 2 * LINES_AT_ONCE && q->n <= LINES_ASK);
	heard.exe[heard.n] = i;
	heard.q[heard.n] = *q;
	if (q->n)
		memcpy(heard.words[heard.n], q->words, q->n * sizeof(*q->words));
	heard.n++;
	return 0;
}

static void hear_open(void *ctx, uint32_t i)
{
	CHECK_EQ(hear(ctx, i, &(struct visit_question){ .fd = -1 }), 0);
}

static void begin(void)
{
	executables_init(&x, 1);
	x.kept_max = 1000;
	source_lines_init(&l, 2, &x);
	l.visit = hear;
	l.open = hear_open;
	heard.n = 0;
	source_lines_share(&l, 50, SECOND);
	now = SECOND;
	interval = 1;
}

static void end(void)
{
	source_lines_fini(&l);
	executables_fini(&x);
	CHECK(!l.places.bytes.total && !l.places.v && !l.functions.v && !l.visits.v);
}

/* A file that has DWARF, with a descriptor. */
static struct executable *add(uint64_t ino, uint32_t owner)
{
	struct file_key key = { .ino = ino };
	uint32_t i = executables_mention(&x, &key, interval);
	struct executable *e;

	CHECK(i != EXECUTABLE_NONE);
	e = executables_get(&x, i);
	e->owner = owner;
	e->lines = true;
	CHECK(executables_keep(&x, i, dup(STDOUT_FILENO), now));
	return e;
}

static void want(struct executable *e, uint64_t off)
{
	CHECK(source_lines_of(&l, e));
	source_lines_want(&l, e, off, 1, interval, now);
}

/* The next question that is due: its file or NULL; of a file that has no descriptor: with
 * q->fd -1. */
static struct executable *next(struct visit_question *q)
{
	uint32_t i;

	if (!heard.n)
		visits_ask(&l.visits, true, now);
	if (!heard.n)
		return NULL;
	i = heard.exe[0];
	*q = heard.q[0];
	memcpy(heard.taken, heard.words[0], sizeof(heard.taken));
	q->words = heard.taken;
	heard.n--;
	memmove(heard.exe, heard.exe + 1, heard.n * sizeof(*heard.exe));
	memmove(heard.q, heard.q + 1, heard.n * sizeof(*heard.q));
	memmove(heard.words, heard.words + 1, heard.n * sizeof(heard.words[0]));
	return executables_get(&x, i);
}

static struct frame_names_build b;
static uint32_t left;		/* in the next answers */

/* All words are in a function of this name, at the line of their number; if deep,
 * something is inlined there. */
static void answer(const struct visit_question *q, const char *name, bool deep)
{
	static char data[FRAME_NAMES_BYTES_MAX] __attribute__((__aligned__(8)));
	struct frame_names names;
	struct iovec parts[3];
	size_t n = 0;

	frame_names_begin(&b, (uint32_t)q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		if (deep)
			CHECK(frame_names_add(&b, i, &(struct symbol_place){
				"inlined", "a.h", 3, 4, "_Z7inlinedv", 0 }));
		CHECK(frame_names_add(&b, i, &(struct symbol_place){
			name, "a.c", 10, 100 + i, NULL, 0 }));
	}
	b.hdr.left = left;
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(data + n, parts[i].iov_base, parts[i].iov_len);
		n += parts[i].iov_len;
	}
	CHECK_EQ(frame_names_open(data, n, (uint32_t)q->n, &names), 0);
	visits_answer(&l.visits, q->number, &names, 0, now);
}

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
	CHECK_EQ(l.functions.by_hash.n, 2);
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
	struct frame_names none = { NULL, NULL, 0, 0 };
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	CHECK(next(&q) == e);
	visits_answer(&l.visits, q.number, &none, 0, now);
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

/* --- late ----------------------------------------------------------------------- */

static void begin_late(void)
{
	begin();
	source_lines_late(&l, true);
}

TEST(late_one_sample_makes_no_visit_and_two_do)
{
	struct visit_question q;
	struct executable *e, *other;

	begin_late();
	e = add(1, 7);
	other = add(2, 7);
	want(e, OFF);
	want(e, OFF + 1);
	/* looked at again without a new sample */
	source_lines_want(&l, e, OFF, 0, interval, now);
	want(other, OFF);
	CHECK(!source_lines_wait(&l, e, OFF, now) && !next(&q));
	now += 10 * SECOND;
	want(e, OFF);
	CHECK(source_lines_wait(&l, e, OFF, now));
	CHECK(next(&q) == e);
	CHECK_EQ(q.n, 2);
	answer(&q, "f", false);
	CHECK(!next(&q));
	/* three samples of one stack */
	source_lines_want(&l, other, OFF + 1, 3, interval, now);
	CHECK(source_lines_wait(&l, other, OFF + 1, now));
	CHECK(next(&q) == other);
	CHECK_EQ(q.n, 2);
	end();
}

TEST(late_a_single_sample_has_its_visit_in_the_end)
{
	struct visit_question q;
	struct executable *e;

	begin_late();
	e = add(1, 7);
	want(e, OFF);
	now += LINES_LATE_NS - 1;
	CHECK(!next(&q));
	now++;
	CHECK(next(&q) == e);
	end();
}

/* A minute has two visits, later five have one. */
TEST(late_pauses_grow_to_minutes)
{
	struct visit_question q;
	struct executable *e;
	uint32_t visits = 0, first = 0;

	begin_late();
	e = add(1, 7);
	for (uint64_t t = 0; t < 2000; t++, now += SECOND) {
		if (t % 2 == 0)
			source_lines_want(&l, e, OFF + t, LINES_HOT, interval, now);
		/* what is not asked soon does not hold samples */
		CHECK(t != 10 || !source_lines_wait(&l, e, OFF + t, now));
		CHECK(t != 18 || source_lines_wait(&l, e, OFF + t, now));
		if (!next(&q))
			continue;
		visits++;
		if (t < 60)
			first++;
		answer(&q, "f", false);
	}
	CHECK_EQ(first, 2);
	/* after 0, 20, 60, 140 seconds, then each 160 */
	CHECK(visits >= 15 && visits <= 16);
	end();
}

/* Nothing new is met for minutes: what waits is visited before its file is forgotten. */
TEST(late_what_waits_is_visited)
{
	struct visit_question q;
	struct executable *e;
	uint64_t i = 0, from;

	begin_late();
	e = add(1, 7);
	for (; i < 5; i++) {
		now += LINES_LATE_GAP_MAX_NS;
		source_lines_want(&l, e, OFF + i, LINES_HOT, interval, now);
		CHECK(next(&q) == e);
		answer(&q, "f", false);
	}
	source_lines_want(&l, e, OFF + i, LINES_HOT, interval, now);
	want(e, OFF + i + 1);
	for (from = now; !next(&q); now += SECOND) {
		CHECK(now - from <= LINES_LATE_GAP_MAX_NS);
		source_lines_sweep(&l, interval, now);
	}
	CHECK_EQ(q.n, 2);
	end();
}

/* A large program that has begun: there is much to be read. */
TEST(late_a_full_visit_does_not_wait_for_minutes)
{
	struct visit_question q;
	struct executable *e;
	uint64_t full = 0;

	begin_late();
	e = add(1, 7);
	for (uint64_t t = 0; t < 300; t++, now += SECOND) {
		for (uint64_t i = 0; i < 100; i++)
			source_lines_want(&l, e, OFF + t * 100 + i, LINES_HOT, interval, now);
		if (!next(&q))
			continue;
		if (q.n == LINES_ASK)
			full++;
		answer(&q, "f", false);
	}
	CHECK(full >= 300 / 9 && full <= 300 / 8);
	end();
}

TEST(late_single_samples_leave_room_for_others)
{
	struct visit_question q;
	struct executable *e;

	begin_late();
	e = add(1, 7);
	for (uint64_t i = 0; i < 1000; i++)
		want(e, OFF + i);
	CHECK(l.visits.waiting == LINES_LATE_WAITING && !l.visits.lost);
	source_lines_want(&l, e, OFF + 5000, LINES_HOT, interval, now);
	CHECK(next(&q) == e);
	CHECK_EQ(q.words[q.n - 1], OFF + 5000);
	end();
}

/* A build that runs hundreds of programs once. */
TEST(late_single_samples_of_many_files_leave_room)
{
	struct executable *e = NULL;

	begin_late();
	for (uint64_t i = 0; i < 20000; i++) {
		if (i % 1000 == 0)
			e = add((uint32_t)i / 1000 + 1, 7);
		want(e, OFF + i);
	}
	CHECK_EQ(l.visits.waiting, LINES_LATE_OWNER);
	want(add(30, 8), OFF);		/* another user's */
	source_lines_want(&l, e, OFF, LINES_HOT, interval, now);
	CHECK(l.visits.waiting == LINES_LATE_OWNER + 2 && !l.visits.lost);
	end();
}

TEST(late_ends_when_somebody_watches)
{
	struct visit_question q;
	struct executable *e;

	begin_late();
	e = add(1, 7);
	for (int i = 0; i < 4; i++) {
		source_lines_want(&l, e, OFF + (uint64_t)i, LINES_HOT, interval, now);
		CHECK(next(&q) == e);
		answer(&q, "f", false);
		now += LINES_LATE_GAP_MAX_NS;
	}
	want(e, OFF + 9);
	CHECK(!next(&q));
	source_lines_late(&l, false);
	CHECK(source_lines_wait(&l, e, OFF + 9, now));
	CHECK(next(&q) == e);
	answer(&q, "f", false);
	now += LINES_GAP_MAX_NS;
	want(e, OFF + 10);
	CHECK(source_lines_wait(&l, e, OFF + 10, now));
	CHECK(next(&q) == e);
	answer(&q, "f", false);
	source_lines_late(&l, true);
	now += LINES_LATE_GAP_MAX_NS;
	source_lines_want(&l, e, OFF + 20, LINES_HOT, interval, now);
	CHECK(next(&q) == e);
	/* met again while it is visited: nothing is left to hurry */
	source_lines_want(&l, e, OFF + 20, LINES_HOT, interval, now);
	answer(&q, "f", false);
	now += LINES_LATE_GAP_MAX_NS;
	want(e, OFF + 11);
	want(add(2, 7), OFF);	/* nor is a new file's */
	CHECK(!next(&q));
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
		peak = l.places.bytes.total > peak ? l.places.bytes.total : peak;
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
	CHECK(l.places.bytes.total > LINES_BYTES * 9ULL / 10);
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
	CHECK_EQ(l.places.by_hash.n, 10);
	interval++;
	source_lines_sweep(&l, interval, now);
	CHECK_EQ(l.places.by_hash.n, 1);
	CHECK_EQ(l.functions.by_hash.n, 2);
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
