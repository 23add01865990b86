// SPDX-License-Identifier: Apache-2.0
#include "exporterd/backoff.h"

#include <errno.h>

#include "tests/unit/harness.h"

#define SECOND	1000000000ULL

TEST(backoff_grows_by_half_up_to_its_limit)
{
	struct backoff b = { SECOND, 30 * SECOND, 0 };
	uint64_t base = SECOND;

	for (int i = 0; i < 20; i++) {
		struct backoff low = b, high = b;

		CHECK_EQ(backoff_next(&low, 0), base / 2);
		CHECK_EQ(backoff_next(&high, base), base / 2 + base);
		CHECK_EQ(low.next_ns, high.next_ns);
		b = low;
		base = base + base / 2;
		if (base > 30 * SECOND)
			base = 30 * SECOND;
	}
	CHECK_EQ(base, 30 * SECOND);
	backoff_reset(&b);
	CHECK_EQ(backoff_next(&b, 0), SECOND / 2);
}

TEST(backoff_is_spread_evenly)
{
	unsigned int below = 0;

	for (int i = 0; i < 1000; i++) {
		struct backoff b = { SECOND, 30 * SECOND, 0 };
		uint64_t w = backoff_next(&b, backoff_random());

		CHECK(w >= SECOND / 2 && w <= SECOND / 2 + SECOND);
		below += w < SECOND;
	}
	/* 1000 throws of a coin: 7 standard deviations */
	CHECK(below > 390 && below < 610);
}

TEST(full_backoff_doubles_and_is_anywhere_below)
{
	struct backoff b = { SECOND, 30 * SECOND, 0 };
	uint64_t base = SECOND, least = SECOND / 4;

	for (int i = 0; i < 20; i++) {
		struct backoff low = b, high = b;

		CHECK_EQ(backoff_next_full(&low, 0), least);
		CHECK_EQ(backoff_next_full(&high, base - least), base);
		CHECK(backoff_next_full(&b, backoff_random()) <= base);
		CHECK_EQ(low.next_ns, b.next_ns);
		base *= 2;
		if (base > 30 * SECOND)
			base = 30 * SECOND;
	}
	CHECK_EQ(base, 30 * SECOND);
	backoff_reset(&b);
	CHECK_EQ(backoff_next_full(&b, 0), least);
}

TEST(retry_after_reads_seconds_and_dates)
{
	/* Sun, 06 Nov 1994 08:49:37 GMT, the RFC's own example */
	const time_t date = 784111777;
	uint64_t ns = 1;

	CHECK(retry_after_parse("0", date, &ns) == 0);
	CHECK_EQ(ns, 0);
	CHECK(retry_after_parse("120", date, &ns) == 0);
	CHECK_EQ(ns, 120 * SECOND);
	CHECK(retry_after_parse("99999999999999999999999", date, &ns) == 0);
	CHECK_EQ(ns, 86400 * SECOND);
	CHECK(retry_after_parse("Sun, 06 Nov 1994 08:49:37 GMT", date - 7,
				&ns) == 0);
	CHECK_EQ(ns, 7 * SECOND);
	CHECK(retry_after_parse("Sunday, 06-Nov-94 08:49:37 GMT", date - 8,
				&ns) == 0);
	CHECK_EQ(ns, 8 * SECOND);
	CHECK(retry_after_parse("Sun Nov  6 08:49:37 1994", date - 9, &ns) == 0);
	CHECK_EQ(ns, 9 * SECOND);
	CHECK(retry_after_parse("Sun, 06 Nov 1994 08:49:37 GMT", date + 7,
				&ns) == 0);
	CHECK_EQ(ns, 0);
	CHECK(retry_after_parse("Tue, 06 Nov 2294 08:49:37 GMT", date, &ns) ==
	      0);
	CHECK_EQ(ns, 86400 * SECOND);
}

TEST(retry_after_refuses_all_else)
{
	static const char *const bad[] = {
		"", "-1", "1.5", "1 s", " 1", "soon", "0x10", "+3", "Sunday",
		"Monday in May", "Mon, 99 Foo 2020 99:99:99 GMT",
	};
	uint64_t ns = 65;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (retry_after_parse(bad[i], 784111777, &ns) != -EINVAL)
			printf("# accepted \"%s\"\n", bad[i]);
		CHECK(retry_after_parse(bad[i], 784111777, &ns) == -EINVAL);
	}
	CHECK_EQ(ns, 65);
}
