// SPDX-License-Identifier: Apache-2.0
/* Functions of which one place was asked for; and lines that come late. */
#include "tests/unit/lines_wanted.h"

/* --- functions ------------------------------------------------------------------ */

static void check_line(struct executable *e, uint64_t off, const char *name, uint32_t line)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];

	CHECK_EQ(source_lines_find(&l, e, off, at), 1);
	CHECK_STR(at[0].name, name);
	CHECK_EQ(at[0].line, line);
}

TEST(all_places_of_a_function_are_known_from_one_answer)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct executable *e, *other;
	struct visit_question q;

	for (int late = 0; late < 2; late++) {
		begin();
		source_lines_late(&l, late);
		e = add(1, 7);
		other = add(2, 7);
		source_lines_want(&l, e, OFF, LINES_HOT, interval, now);
		CHECK(next(&q) == e);
		answer_function(&q, "f", OFF - 300, 600);
		CHECK_EQ(l.found, 1);
		/* those that no sample has met yet, too: no visit, nothing waits */
		for (uint64_t off = OFF - 300; off < OFF + 300; off++) {
			want(e, off);
			CHECK(!source_lines_wait(&l, e, off, now));
			check_line(e, off, "f", (uint32_t)(100 + off - (OFF - 300)));
		}
		CHECK(!l.visits.waiting && l.visits.asked == 1);
		/* nor before, behind, or in another file */
		CHECK_EQ(source_lines_find(&l, e, OFF - 301, at), 0);
		CHECK_EQ(source_lines_find(&l, e, OFF + 300, at), 0);
		CHECK_EQ(source_lines_find(&l, other, OFF, at), 0);
		want(e, OFF + 300);
		want(e, OFF - 301);
		want(other, OFF);
		CHECK_EQ(l.visits.waiting, 3);
		end();
	}
}

/* Two places of a function were asked for, and one piece is the answer. */
TEST(what_came_with_another_place_is_not_asked_for)
{
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	want(e, OFF + 10);
	CHECK(next(&q) == e);
	want(e, OFF + 20);	/* meanwhile */
	answer_function(&q, "f", OFF, 30);
	CHECK(!source_lines_wait(&l, e, OFF + 20, now));
	check_line(e, OFF + 20, "f", 120);
	CHECK_EQ(l.found, 3);
	CHECK(!l.visits.waiting);
	CHECK(!owner_cache_used(&l.places) && owner_cache_used(&l.store.codes) == 1);
	end();
}

/* A worker that says something else of the same code is believed, and nothing is twice. */
TEST(what_is_said_later_holds)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct visit_question q;
	struct executable *e;
	uint64_t bytes = 0;

	begin();
	e = add(1, 7);
	for (uint64_t i = 0; i < 200; i++) {
		want(e, 100000 + 3000 * i);
		now += LINES_GAP_MAX_NS;
		CHECK(next(&q) == e);
		answer_function(&q, "f", OFF + i, 1000);
		if (!bytes)
			bytes = l.store.codes.bytes.total;
		/* it, and the places of which nothing is known */
		CHECK_EQ(owner_cache_used(&l.store.codes), 2 + i);
	}
	CHECK_EQ(source_lines_find(&l, e, OFF + 198, at), 0);
	check_line(e, OFF + 199, "f", 100);
	CHECK(l.store.codes.bytes.total <= bytes + 200 * 200);
	end();
}

TEST(a_function_goes_as_a_whole)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	want(e, OFF);
	CHECK(next(&q) == e);
	answer_function(&q, "f", OFF, 1000);
	interval += LINES_IDLE - 1;
	want(e, OFF + 500);
	interval++;
	source_lines_sweep(&l, interval, now);
	check_line(e, OFF + 999, "f", 1099);
	interval += LINES_IDLE;
	source_lines_sweep(&l, interval, now);
	CHECK_EQ(source_lines_find(&l, e, OFF + 999, at), 0);
	CHECK(!l.store.blocks.n && !l.store.codes.bytes.total && !owner_cache_used(&l.store.functions));
	end();
}

/* An answer that has more than there is room for: what finds room is kept, up to the last code of
 * it, and the rest is not taken for what has no lines. */
TEST(what_has_no_room_is_asked_for_again)
{
	static char names[40][4000];
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	uint32_t known = 0;
	struct visit_question q;
	struct executable *e;

	begin();
	e = add(1, 7);
	l.store.codes.max = 64 << 10;
	for (uint64_t i = 0; i < 41; i++)
		want(e, OFF + i);
	CHECK(next(&q) == e);
	line_codes_begin(&b, (uint32_t)q.n);
	for (uint64_t i = 0; i < 40; i++) {
		struct symbol_place p = { names[i], "a.c", 10, 100, NULL, 0 };

		memset(names[i], 'a' + (int)i, sizeof(names[i]) - 1);
		CHECK(line_codes_add(&b, OFF + i, 1));
		CHECK(line_codes_add_segment(&b, 0, &p, 1));
	}
	say(&q);
	for (uint64_t i = 0; i < 40; i++)
		known += source_lines_find(&l, e, OFF + i, at);
	CHECK(known > 10 && known < 40);
	CHECK_EQ(source_lines_find(&l, e, OFF + 39, at), 1);
	CHECK(l.store.codes.lost >= 40 - known);
	/* of the one that was in no code of the answer, nothing is known */
	CHECK_EQ(owner_cache_used(&l.store.codes), known + 1);
	want(e, OFF + 40);
	CHECK_EQ(l.visits.waiting, 0);
	for (uint64_t i = 0; i < 40; i++)
		want(e, OFF + i);
	CHECK_EQ(l.visits.waiting, 40 - known);
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
