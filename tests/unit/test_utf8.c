// SPDX-License-Identifier: Apache-2.0
/* Texts of each form, whole and damaged: what comes out can be shown. */
#include "symbolizerd/symbols/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/harness.h"

/* A text of each form that has all that its form knows: short, long, pairs. */
static const uint16_t utf16[] = { 'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 'z' };
static const uint32_t utf32[] = { 'a', 0xe9, 0x20ac, 0x1f600, 'z' };
#define ALL	"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"
static const struct form {
	uint32_t form;
	const void *bytes;
	size_t n;
	const char *want;
} forms[] = {
	{ FORM_ASCII, "abcz", 4, "abcz" },
	{ FORM_LATIN1, "a\xe9\xffz", 4, "a\xc3\xa9\xc3\xbfz" },
	{ FORM_UTF16, utf16, sizeof(utf16), ALL },
	{ FORM_MUTF8, "a\xc3\xa9\xe2\x82\xac\xed\xa0\xbd\xed\xb8\x80z", 13, ALL },
	{ FORM_UTF32, utf32, sizeof(utf32), ALL },
	{ FORM_UTF8, ALL, 11, ALL },
};
#define FORMS	(sizeof(forms) / sizeof(forms[0]))

/* Of an exact copy, so that a read beyond it is seen. */
static const char *text_of(uint64_t missing, uint32_t form, const void *bytes, size_t n)
{
	static struct utf8 t;
	uint8_t *copy = malloc(n ? n : 1);

	CHECK(copy != NULL);
	memcpy(copy, bytes, n);
	memset(&t, 0xff, sizeof(t));
	utf8_text(&t, missing, form, copy, n);
	free(copy);
	CHECK_EQ(strlen(t.s), t.len);
	return t.s;
}

/* Bytes of the well-formed character at p; 0: it is none, or cannot be shown. */
static size_t shown(const uint8_t *p)
{
	uint32_t c;
	size_t len;

	if (p[0] < 0x80)
		return p[0] >= 0x20 && p[0] != 0x7f;
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	c = p[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 63);
	}
	if (c < 0xa0 || (len == 3 && c < 0x800) || (len == 4 && c < 0x10000) ||
	    c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return len;
}

static void check_shown(const char *s)
{
	for (size_t i = 0, n = 0; s[i]; i += n) {
		n = shown((const uint8_t *)s + i);
		CHECK(n > 0);
		if (!n)
			return;
	}
}

TEST(each_form_is_read)
{
	CHECK_EQ(FORMS, FORM__MAX);
	for (size_t i = 0; i < FORMS; i++) {
		CHECK_EQ(forms[i].form, i);
		CHECK_STR(text_of(0, forms[i].form, forms[i].bytes, forms[i].n), forms[i].want);
	}
}

TEST(what_is_no_character_shows)
{
	static const uint16_t single[] = { 0xde00, 'a', 0xd83d, 'b', 0xd83d };
	static const uint32_t large[] = { 0x110000, 0xd800, 0xffffffff, 'a', 7 };

	CHECK_STR(text_of(0, FORM_ASCII, "a\x80\xff\x1f", 4), "a???");
	CHECK_STR(text_of(0, FORM_LATIN1, "\x7f\x9f\xa0", 3), "??\xc2\xa0");
	CHECK_STR(text_of(0, FORM_UTF16, single, sizeof(single)), "?a?b?");
	CHECK_STR(text_of(0, FORM_UTF32, large, sizeof(large)), "???a?");
	/* a NUL in two bytes, single surrogates, a character of four bytes */
	CHECK_STR(text_of(0, FORM_MUTF8, "\xc0\x80" "a", 3), "?a");
	CHECK_STR(text_of(0, FORM_MUTF8, "\xed\xa0\xbd" "a\xed\xb8\x80", 7), "?a?");
	CHECK_STR(text_of(0, FORM_MUTF8, "\xf0\x9f\x98\x80", 4), "????");
	/* longer than needed, surrogates, beyond Unicode, no beginning, no end */
	CHECK_STR(text_of(0, FORM_UTF8, "\xc1\x81" "a", 3), "??a");
	CHECK_STR(text_of(0, FORM_UTF8, "\xe0\x80\xaf" "a", 4), "???a");
	CHECK_STR(text_of(0, FORM_UTF8, "\xf0\x80\x80\xaf" "a", 5), "????a");
	CHECK_STR(text_of(0, FORM_UTF8, "\xed\xa0\xbd" "a", 4), "?a");
	CHECK_STR(text_of(0, FORM_UTF8, "\xf4\x90\x80\x80" "a", 5), "?a");
	CHECK_STR(text_of(0, FORM_UTF8, "\x80" "a\xe2\x82", 4), "?a??");
}

TEST(texts_end_at_a_nul)
{
	static const uint16_t two[] = { 'a', 0x100, 0, 'b' };
	static const uint32_t four[] = { 'a', 0x10000, 0, 'b' };

	for (uint32_t form = 0; form < FORM__MAX; form++)
		CHECK_STR(text_of(0, form, "", 1), "");
	CHECK_STR(text_of(0, FORM_LATIN1, "a\0b", 3), "a");
	CHECK_STR(text_of(0, FORM_UTF8, "a\0b", 3), "a");
	CHECK_STR(text_of(0, FORM_UTF16, two, sizeof(two)), "a\xc4\x80");
	CHECK_STR(text_of(0, FORM_UTF32, four, sizeof(four)), "a\xf0\x90\x80\x80");
}

TEST(what_is_missing_in_front_shows)
{
	for (size_t i = 0; i < FORMS; i++) {
		const char *s = text_of(1, forms[i].form, forms[i].bytes, forms[i].n);

		CHECK(!strncmp(s, UTF8_CUT, strlen(UTF8_CUT)));
		CHECK_STR(s + strlen(UTF8_CUT), forms[i].want);
	}
	/* not the rest of a character; but no more than that */
	CHECK_STR(text_of(1, FORM_UTF8, "\x82\xac" "a", 3), "...a");
	CHECK_STR(text_of(1, FORM_MUTF8, "\xac" "a", 2), "...a");
	CHECK_STR(text_of(1, FORM_UTF8, "\x80\x80\x80\x80", 4), "...?");
	CHECK_STR(text_of(1, FORM_LATIN1, "\xac", 1), "...\xc2\xac");
}

TEST(texts_truncated)
{
	for (size_t i = 0; i < FORMS; i++) {
		for (size_t n = 0; n <= forms[i].n; n++)
			check_shown(text_of(n % 2, forms[i].form, forms[i].bytes, n));
	}
}

TEST(texts_flipped)
{
	for (size_t i = 0; i < FORMS; i++) {
		for (size_t bit = 0; bit < 8 * forms[i].n; bit++) {
			uint8_t bytes[TEXT_BYTES];

			memcpy(bytes, forms[i].bytes, forms[i].n);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			check_shown(text_of(0, forms[i].form, bytes, forms[i].n));
		}
	}
}

/* Any form of any bytes, of the greatest length: there is room. */
TEST(texts_of_any_bytes)
{
	srand(34);
	for (int i = 0; i < 20000; i++) {
		uint8_t bytes[TEXT_BYTES];

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(rand() >> 7 | (i % 2 ? 0x80 : 1));
		check_shown(text_of(1, (uint32_t)i % (FORM__MAX + 2), bytes, sizeof(bytes)));
	}
}
