// SPDX-License-Identifier: Apache-2.0
/* CPU time of users: each has his part, and pays for what he used beyond it. */
#include "symbolizerd/knowledge/user_share.h"
#include "tests/unit/harness.h"

#define MS	NSEC_PER_MSEC
#define S	NSEC_PER_SEC

static struct user_share share;
static uint64_t now;

/* At 2 %, with nothing spare unless it is the start. */
static void begin(bool start)
{
	now = 1000 * S;
	user_share_init(&share, 2, now);
	if (!start)
		share.spare_ns = 0;
}

static bool asks(uint32_t owner)
{
	return user_share_left(&share, owner, 0, now);
}

/* For so long he asks each 100 ms and uses what he may, 5 ms at a time: how much. */
static uint64_t uses(uint32_t owner, uint32_t other, uint64_t ns, uint64_t *others)
{
	uint64_t sum = 0;

	for (uint64_t end = now + ns; now < end; now += 100 * MS) {
		if (asks(owner)) {
			user_share_use(&share, owner, 5 * MS);
			sum += 5 * MS;
		}
		if (other && asks(other)) {
			user_share_use(&share, other, 5 * MS);
			*others += 5 * MS;
		}
	}
	return sum;
}

TEST(one_user_has_all_of_the_share)
{
	uint64_t sum;

	begin(false);
	CHECK(!asks(1));
	sum = uses(1, 0, 100 * S, NULL);
	CHECK(sum >= 1990 * MS && sum <= 2005 * MS);
	CHECK_EQ(share.used_ns, sum);
	CHECK(!user_share_used_up(&share, 2));
}

TEST(two_users_have_half_of_it_each)
{
	uint64_t mine, his = 0;

	begin(false);
	mine = uses(1, 2, 100 * S, &his);
	CHECK(mine >= 990 * MS && mine <= 1005 * MS);
	CHECK(his >= 990 * MS && his <= 1005 * MS);
}

TEST(at_the_start_there_is_more)
{
	uint64_t sum;

	begin(true);
	CHECK(asks(1));
	sum = uses(1, 0, 10 * S, NULL);
	/* 20 ms each second, and 800 of the start, to the last bits */
	CHECK(sum >= 500 * MS && sum <= 1005 * MS);
	user_share_init(&share, 2, now);
	user_share_use(&share, 1, 50 * MS);
	CHECK(asks(1));
	CHECK(share.spare_ns == 400 * (int64_t)MS);
}

TEST(who_owes_pays_and_others_do_not)
{
	uint64_t his = 0;

	begin(true);
	CHECK(asks(1));
	user_share_use(&share, 1, 10 * S);
	CHECK(user_share_used_up(&share, 1));
	CHECK_EQ(uses(1, 2, 100 * S, &his), 0);
	/* half of the share, and what was spare */
	CHECK(his >= 990 * MS && his <= 1605 * MS);
	/* 9.6 seconds are 480 of 2 %, of which he has half */
	CHECK_EQ(uses(1, 2, 800 * S, &his), 0);
	CHECK(uses(1, 2, 100 * S, &his) > 0);
	/* all together the share was kept */
	CHECK(share.used_ns <= (1000 * 20 + 800 + 5) * MS);
}

TEST(who_is_idle_keeps_a_window_and_then_takes_no_part)
{
	uint64_t sum;

	begin(false);
	asks(1);
	now += 30 * S;
	asks(1);
	CHECK_EQ(share.v[0].left_ns, 200 * MS);
	asks(2);
	now += USER_SHARE_IDLE_NS;
	asks(2);
	CHECK_EQ(share.n, 1);
	CHECK(share.spare_ns > 0 && share.spare_ns <= 200 * (int64_t)MS);
	share.spare_ns = 0;
	share.v[0].left_ns = 0;
	sum = uses(2, 0, 100 * S, NULL);
	CHECK(sum >= 1990 * MS && sum <= 2005 * MS);
}

TEST(what_is_under_way_counts)
{
	begin(false);
	asks(1);
	now += 10 * S;
	CHECK(user_share_left(&share, 1, 199 * MS, now));
	CHECK(!user_share_left(&share, 1, 200 * MS, now));
}

/* What is used for nobody in particular comes out of what is spare, then out of three
 * quarters of the share. */
TEST(what_all_use_leaves_users_a_quarter)
{
	uint64_t sum;

	begin(true);
	user_share_use_all(&share, 300 * MS);
	CHECK(share.spare_ns == 500 * (int64_t)MS);
	asks(1);
	/* the debt is bounded */
	user_share_use_all(&share, 3600 * S);
	CHECK(share.spare_ns == -800 * (int64_t)MS);
	user_share_use_all(&share, S);
	CHECK(share.spare_ns == -800 * (int64_t)MS);
	share.v[0].left_ns = 0;
	/* 15 of 20 ms a second pay for 53 s */
	sum = uses(1, 0, 50 * S, NULL);
	CHECK(sum >= 245 * MS && sum <= 255 * MS);
	CHECK(share.spare_ns < 0);
	uses(1, 0, 10 * S, NULL);
	sum = uses(1, 0, 10 * S, NULL);
	CHECK(sum >= 195 * MS && sum <= 205 * MS);
}

TEST(all_that_is_used_keeps_to_the_share)
{
	uint64_t sum = 0;

	begin(false);
	for (int i = 0; i < 600; i++) {
		user_share_use_all(&share, 10 * MS);
		sum += 10 * MS + uses(1, 2, S, &sum);
	}
	CHECK(sum >= 590 * 20 * MS && sum <= 602 * 20 * MS);
}

TEST(users_are_bounded)
{
	begin(false);
	for (uint32_t i = 1; i <= USER_SHARE_USERS; i++)
		asks(i);
	now += S;
	CHECK(asks(USER_SHARE_USERS) && !asks(1000));
	user_share_use(&share, 1000, 100 * MS);
	CHECK_EQ(share.used_ns, 100 * MS);
	now += 2 * USER_SHARE_IDLE_NS;
	CHECK(asks(1000));
	CHECK_EQ(share.n, 1);
}

/* One more has what is spare; root always has a place. */
TEST(who_finds_no_place_has_what_is_spare)
{
	begin(false);
	for (uint32_t i = 1; i <= USER_SHARE_USERS; i++)
		asks(i);
	CHECK(!asks(1000));
	share.spare_ns = 10 * MS;
	CHECK(asks(1000) && share.n == USER_SHARE_USERS);
	user_share_use(&share, 1000, 3600 * S);
	CHECK(share.spare_ns == -800 * (int64_t)MS);
	CHECK(!asks(1000));
	asks(0);
	now += S;
	CHECK(asks(0));
	CHECK_EQ(share.n, USER_SHARE_USERS + 1);
	asks(1001);
	CHECK_EQ(share.n, USER_SHARE_USERS + 1);
}

TEST(root_has_half)
{
	uint64_t mine, his = 0;

	begin(false);
	asks(0);
	asks(1);
	asks(2);
	mine = uses(0, 1, 50 * S, &his);
	CHECK(mine >= 490 * MS && mine <= 560 * MS);
	CHECK(his >= 240 * MS && his <= 300 * MS);
	/* and so much for each is a window */
	CHECK_EQ(user_share_window(&share), 200 * MS / 3);
}

/* Time that comes late is no time that has passed. */
TEST(a_clock_that_goes_back_brings_nothing)
{
	begin(false);
	asks(1);
	now -= S;
	CHECK(!asks(1));
	now += S;
	CHECK(!asks(1));
	now += S;
	CHECK(asks(1));
}

TEST(with_no_percent_nobody_has_any)
{
	user_share_init(&share, 0, 0);
	now = 1000 * S;
	CHECK(!asks(1));
}
