// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/read_again.h"
#include "tests/unit/harness.h"

#define SECOND	NSEC_PER_SEC

static struct reads_again all;

/* It was read before. */
static struct read_again file(void)
{
	return (struct read_again){ .all = &all, .read = true };
}

/* When it is read next, if it is asked for each second from then on. */
static uint64_t next(struct read_again *r, uint64_t now)
{
	while (!read_again_begin(r, 0, now))
		now += SECOND;
	return now;
}

TEST(a_file_is_read_again_less_and_less_often)
{
	struct read_again r = file();
	uint64_t now = 1000 * SECOND, then;

	read_again_init(&all);
	CHECK(read_again_begin(&r, 0, now));
	for (uint32_t i = 0; i < 9; i++) {
		then = next(&r, now);
		CHECK_EQ(then - now, AGAIN_NS << (i < AGAIN_DOUBLED ? i : AGAIN_DOUBLED));
		now = then;
	}
	/* each that had to wait counts once */
	CHECK_EQ(all.put_off, 9);
	/* nobody asked for long: from the beginning */
	now += 2 * AGAIN_LONG_NS;
	CHECK(read_again_begin(&r, 0, now));
	CHECK_EQ(next(&r, now) - now, AGAIN_NS);
}

TEST(a_file_that_was_never_read_waits_for_no_share)
{
	struct read_again r = { .all = &all };

	read_again_init(&all);
	read_again_used(&all, 7, 1000 * SECOND);
	CHECK(read_again_begin(&r, 7, SECOND));
	CHECK(!all.put_off);
	CHECK_EQ(all.n, 1);
}

/* Each frame of each sample asks: whether there is a share is found out once a second. */
TEST(a_file_without_a_share_is_looked_at_once_a_second)
{
	uint64_t now = 1000 * SECOND;
	struct read_again r = file();

	read_again_init(&all);
	read_again_used(&all, 0, 1000 * SECOND);
	CHECK(!read_again_begin(&r, 0, now));
	CHECK_EQ(all.share.filled_ns, now);
	for (uint64_t i = 1; i < 1000; i++)
		CHECK(!read_again_begin(&r, 0, now + i * NSEC_PER_MSEC));
	CHECK_EQ(all.share.filled_ns, now);
	CHECK(!read_again_begin(&r, 0, now + SECOND));
	CHECK_EQ(all.share.filled_ns, now + SECOND);
	CHECK_EQ(all.put_off, 1);
}

/* How much CPU time readings of this owner take that ask all the time, each another file's:
 * in so many seconds, with this cost of each. */
static uint64_t taken(uint32_t owner, uint64_t seconds, uint64_t cost, uint64_t *now)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 100 * seconds; i++, *now += SECOND / 100) {
		struct read_again r = file();

		if (!read_again_begin(&r, owner, *now))
			continue;
		read_again_used(&all, owner, cost);
		sum += cost < AGAIN_COST_NS ? AGAIN_COST_NS : cost;
	}
	return sum;
}

TEST(readings_have_a_share_of_a_cpu)
{
	uint64_t now = SECOND, sum;

	for (uint64_t cost = 1; cost < 10 * SECOND; cost *= 30) {
		read_again_init(&all);
		sum = taken(5, 1000, cost, &now);
		/* what is spare at the start, and one that is under way */
		CHECK(sum <= 10 * SECOND * AGAIN_PERCENT +
			     USER_SHARE_SPARE * USER_SHARE_NS / 100 * AGAIN_PERCENT + cost + AGAIN_COST_NS);
		CHECK(sum >= 9 * SECOND * AGAIN_PERCENT);
		CHECK(all.put_off > 0);
	}
}

/* One who has files read again all the time takes nothing from another one. */
TEST(an_owner_in_debt_keeps_no_other_waiting)
{
	uint64_t now = SECOND;

	read_again_init(&all);
	for (uint32_t i = 0; i < 20; i++) {
		struct read_again r = file();

		taken(1000, 30, SECOND, &now);
		CHECK(read_again_begin(&r, 0, now));
		read_again_used(&all, 0, SECOND / 20);
	}
}
