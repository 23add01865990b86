// SPDX-License-Identifier: Apache-2.0
#include "common/buffer.h"

#include <string.h>

#define WRAP_REALLOC
#include "tests/unit/harness.h"
#include "tests/unit/malloc_fails.h"

TEST(buffer_keeps_what_is_added)
{
	struct buffer b = { 0 };
	char want[3000];

	for (size_t i = 0; i < sizeof(want); i++)
		want[i] = (char)('a' + i % 26);
	for (size_t i = 0, n; i < sizeof(want); i += n) {
		n = i % 7 + 1;
		if (n > sizeof(want) - i)
			n = sizeof(want) - i;
		buffer_add(&b, want + i, n);
	}
	CHECK_EQ(b.len, sizeof(want));
	CHECK(memcmp(b.data, want, sizeof(want)) == 0);
	CHECK(b.cap >= b.len && !b.failed);
	free(b.data);
}

TEST(buffer_writes_numbers_and_text)
{
	static const char want[] = "0 18446744073709551615 x=-5 a\xef\xbf\xbd\xc3\xa4";
	struct buffer b = { 0 };

	buffer_num(&b, 0);
	buffer_str(&b, " ");
	buffer_num(&b, UINT64_MAX);
	buffer_printf(&b, " x=%d ", -5);
	buffer_utf8(&b, "a\xff\xc3\xa4", 4);
	CHECK_EQ(b.len, strlen(want));
	CHECK(memcmp(b.data, want, b.len) == 0);
	free(b.data);
}

TEST(buffer_printf_cuts_what_is_too_long)
{
	struct buffer b = { 0 };
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	buffer_printf(&b, "%s", text);
	CHECK_EQ(b.len, 1023);
	free(b.data);
}

TEST(buffer_stays_failed_and_keeps_what_it_has)
{
	struct buffer b = { 0 };

	buffer_str(&b, "before");
	fail_at = 0;
	for (int i = 0; i < 1000; i++)
		buffer_num(&b, UINT64_MAX);
	fail_at = -1;
	CHECK(b.failed);
	CHECK(b.len <= b.cap && memcmp(b.data, "before", 6) == 0);
	for (size_t len = b.len, i = 0; i < 3; i++) {
		buffer_str(&b, "after");
		CHECK_EQ(b.len, len);
	}
	free(b.data);
}

TEST(buffer_refuses_a_length_that_cannot_be)
{
	struct buffer b = { 0 };

	buffer_str(&b, "x");
	CHECK(!buffer_room(&b, SIZE_MAX - 10));
	CHECK(b.failed);
	free(b.data);
}
