// SPDX-License-Identifier: Apache-2.0
#include "common/number.h"

#include "tests/unit/harness.h"

TEST(number_parse_accepts_what_lies_within)
{
	uint64_t v = 77;

	CHECK(number_parse("0", 0, 9, &v) && v == 0);
	CHECK(number_parse("007", 0, 9, &v) && v == 7);
	CHECK(number_parse("9", 3, 9, &v) && v == 9);
	CHECK(number_parse("3", 3, 9, &v) && v == 3);
	CHECK(number_parse("18446744073709551615", 0, UINT64_MAX, &v) &&
	      v == UINT64_MAX);
}

TEST(number_parse_refuses_everything_else)
{
	static const char *const bad[] = {
		"", " 5", "5 ", "+5", "-5", "0x5", "5s", "5.0", "a", "5\n",
		"18446744073709551616", "99999999999999999999999999", "2", "10",
		"\xb5",
	};
	uint64_t v = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!number_parse(bad[i], 3, 9, &v));
	CHECK(!number_parse("18446744073709551616", 0, UINT64_MAX, &v));
	CHECK(!number_parse("-1", 0, UINT64_MAX, &v));
	CHECK_EQ(v, 77);
}

TEST(number_span_sees_len_bytes_only)
{
	uint64_t v = 77;

	CHECK(number_span("1234", 2, 100, &v) && v == 12);
	CHECK(!number_span("1234", 4, 100, &v));
	CHECK(!number_span("12x4", 3, 100, &v));
	CHECK(!number_span("1234", 0, 100, &v));
	CHECK(number_span("18446744073709551615", 20, UINT64_MAX, &v));
	CHECK(!number_span("18446744073709551616", 20, UINT64_MAX, &v));
	CHECK(!number_span("184467440737095516150", 21, UINT64_MAX, &v));
	CHECK_EQ(v, UINT64_MAX);
}

TEST(number_read_returns_what_follows)
{
	const char *list = "3-17,x";
	uint64_t v = 77;

	list = number_read(list, &v);
	CHECK(list && *list == '-' && v == 3);
	list = number_read(list + 1, &v);
	CHECK(list && *list == ',' && v == 17);
	CHECK(!number_read(list + 1, &v));
	CHECK(!number_read("18446744073709551616", &v));
	CHECK_EQ(v, 17);
}

TEST(number_parse_hex_reads_both_cases)
{
	uint64_t v = 77;

	CHECK(number_parse_hex("0x1F", &v) && v == 31);
	CHECK(number_parse_hex("ffffffffFFFFFFFF", &v) && v == UINT64_MAX);
	CHECK(number_parse_hex("0", &v) && v == 0);
	CHECK(!number_parse_hex("", &v) && !number_parse_hex("0x", &v));
	CHECK(!number_parse_hex("1ffffffffffffffff", &v));
	CHECK(!number_parse_hex("g", &v) && !number_parse_hex("-1", &v));
	CHECK(!number_parse_hex("0x0x1", &v) && !number_parse_hex("1 ", &v));
	CHECK(!number_parse_hex("P", &v) && !number_parse_hex("\x10", &v));
	CHECK_EQ(v, 0);
}
