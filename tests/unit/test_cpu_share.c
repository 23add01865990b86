// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/cpu_share.h"
#include "tests/unit/harness.h"

#define MS	NSEC_PER_MSEC
#define T0	(1000 * NSEC_PER_SEC)	/* the clock begins anywhere */

/* At 5 %, with nothing left of the start. */
static struct cpu_share used_up(void)
{
	struct cpu_share s;

	cpu_share_init(&s, 50, T0);
	cpu_share_use(&s, CPU_SHARE_START * 500 * MS);
	return s;
}

TEST(cpu_share_has_more_at_the_start)
{
	struct cpu_share s;

	cpu_share_init(&s, 50, T0);
	CHECK(cpu_share_left(&s, T0));
	cpu_share_use(&s, CPU_SHARE_START * 500 * MS - 1);
	CHECK(cpu_share_left(&s, T0));
	cpu_share_use(&s, 1);
	CHECK(!cpu_share_left(&s, T0));
	CHECK_EQ(s.used_ns, 2000 * MS);
}

TEST(cpu_share_fills_with_time)
{
	struct cpu_share s = used_up();

	/* 60 ms too many are 1.2 s of 5 % */
	cpu_share_use(&s, 60 * MS);
	CHECK(!cpu_share_left(&s, T0 + 1000 * MS));
	CHECK(!cpu_share_left(&s, T0 + 1199 * MS));
	CHECK(cpu_share_left(&s, T0 + 1201 * MS));
	/* however often one looks */
	s = used_up();
	for (int i = 1; i <= 1000; i++)
		cpu_share_left(&s, T0 + i * MS);
	CHECK_EQ(s.left_ns, 50 * MS);
}

TEST(cpu_share_keeps_no_more_than_a_window)
{
	struct cpu_share s = used_up();

	CHECK(cpu_share_left(&s, T0 + 3600 * NSEC_PER_SEC));
	CHECK_EQ(s.left_ns, 500 * MS);
	CHECK(cpu_share_left(&s, T0 + 7200 * NSEC_PER_SEC));
	CHECK_EQ(s.left_ns, 500 * MS);
	/* what was there at the start stays, and does not grow */
	cpu_share_init(&s, 50, T0);
	cpu_share_use(&s, 1000 * MS);
	CHECK(cpu_share_left(&s, T0 + 3600 * NSEC_PER_SEC));
	CHECK_EQ(s.left_ns, 1000 * MS);
}

TEST(cpu_share_is_never_used_up_for_ever)
{
	struct cpu_share s = used_up();

	cpu_share_use(&s, UINT64_MAX / 2);
	CHECK_EQ(s.left_ns, -2000 * (int64_t)MS);
	cpu_share_use(&s, UINT64_MAX);
	CHECK_EQ(s.left_ns, -2000 * (int64_t)MS);
	CHECK(!cpu_share_left(&s, T0 + 40 * NSEC_PER_SEC));
	CHECK(cpu_share_left(&s, T0 + 41 * NSEC_PER_SEC));
}

/* Who works as much as he may, for any ten seconds: the share, and one step. */
TEST(cpu_share_holds_over_time)
{
	for (uint32_t percent = 1; percent <= 100; percent += 33) {
		struct cpu_share s;
		uint64_t used, step = 7 * MS;

		cpu_share_init(&s, 10 * percent, T0);
		cpu_share_use(&s, (uint64_t)s.left_ns);
		used = s.used_ns;
		for (uint64_t t = T0; t < T0 + 100 * NSEC_PER_SEC; t += MS) {
			if (cpu_share_left(&s, t))
				cpu_share_use(&s, step);
		}
		used = s.used_ns - used;
		CHECK(used <= NSEC_PER_SEC * percent + step);
		CHECK(used >= NSEC_PER_SEC * percent - step);
	}
}

TEST(cpu_share_charges_loaderd)
{
	struct loader_stats st = { .cpu_ns = 300 * MS, .sampling_ns = 100 * MS,
				   .opener.cpu_ns = 50 * MS };
	struct cpu_share s = used_up();
	uint64_t before = s.used_ns;

	/* what it used before we knew it is not ours */
	cpu_share_loader(&s, &st);
	CHECK_EQ(s.used_ns, before);
	/* samples do not count, its opener does */
	st.cpu_ns += 25 * MS;
	st.sampling_ns += 20 * MS;
	st.opener.cpu_ns += 3 * MS;
	cpu_share_loader(&s, &st);
	CHECK_EQ(s.used_ns - before, 8 * MS);
	/* another one */
	cpu_share_loader(&s, NULL);
	st.cpu_ns += 1000 * MS;
	cpu_share_loader(&s, &st);
	CHECK_EQ(s.used_ns - before, 8 * MS);
	/* numbers that fall are of nobody */
	st.cpu_ns -= 500 * MS;
	cpu_share_loader(&s, &st);
	CHECK_EQ(s.used_ns - before, 8 * MS);
	CHECK(!cpu_share_left(&s, T0 + 100 * MS));
	CHECK(cpu_share_left(&s, T0 + 200 * MS));
}
