// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/utf8.h"

#include <stdbool.h>
#include <string.h>

void utf8_begin(struct utf8 *t, uint64_t missing)
{
	strcpy(t->s, missing ? UTF8_CUT : "");
	t->len = strlen(t->s);
}

/* Control characters, surrogates and what is not Unicode become '?'. */
static uint32_t utf8_character(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) ||
	    c > 0x10ffff)
		return '?';
	return c;
}

static void utf8_put(struct utf8 *t, uint32_t c)
{
	c = utf8_character(c);
	if (c < 0x80) {
		t->s[t->len++] = (char)c;
	} else if (c < 0x800) {
		t->s[t->len++] = (char)(0xc0 | c >> 6);
		t->s[t->len++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		t->s[t->len++] = (char)(0xe0 | c >> 12);
		t->s[t->len++] = (char)(0x80 | (c >> 6 & 63));
		t->s[t->len++] = (char)(0x80 | (c & 63));
	} else {
		t->s[t->len++] = (char)(0xf0 | (c >> 18 & 7));
		t->s[t->len++] = (char)(0x80 | (c >> 12 & 63));
		t->s[t->len++] = (char)(0x80 | (c >> 6 & 63));
		t->s[t->len++] = (char)(0x80 | (c & 63));
	}
	t->s[t->len] = '\0';
}

/* --- forms ------------------------------------------------------------------------- */

#define UTF8_BAD	0xffffffffu	/* no character */

/* The character at p, of n bytes, at least one; *used: its bytes, at least one. */
typedef uint32_t (*utf8_read_fn)(const uint8_t *p, size_t n, size_t *used);

static uint32_t utf8_read_ascii(const uint8_t *p, size_t n, size_t *used)
{
	(void)n;
	*used = 1;
	return p[0] < 0x80 ? p[0] : UTF8_BAD;
}

static uint32_t utf8_read_latin1(const uint8_t *p, size_t n, size_t *used)
{
	(void)n;
	*used = 1;
	return p[0];
}

/* A high surrogate, and the unit behind it. */
static bool utf8_is_pair(uint32_t high, uint32_t low)
{
	return high >> 10 == 0xd800 >> 10 && low >> 10 == 0xdc00 >> 10;
}

static uint32_t utf8_of_pair(uint32_t high, uint32_t low)
{
	return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
}

/* Units are in the machine's byte order; what remains of one that was cut is none. */
static uint32_t utf8_read_utf16(const uint8_t *p, size_t n, size_t *used)
{
	uint16_t unit[2] = { 0, 0 };

	*used = n < 2 ? n : 2;
	if (n < 2)
		return 0;
	memcpy(unit, p, n < 4 ? 2 : 4);
	if (!utf8_is_pair(unit[0], unit[1]))
		return unit[0];
	*used = 4;
	return utf8_of_pair(unit[0], unit[1]);
}

static uint32_t utf8_read_utf32(const uint8_t *p, size_t n, size_t *used)
{
	uint32_t unit;

	*used = n < 4 ? n : 4;
	if (n < 4)
		return 0;
	memcpy(&unit, p, 4);
	return unit;
}

/* Is p, of n bytes, the first byte of a character of `len`, and what belongs to it? */
static bool utf8_is_long(const uint8_t *p, size_t n, size_t len)
{
	uint8_t mask = (uint8_t)(0xff80 >> len), first = (uint8_t)(0xff00 >> len);

	if (n < len || (p[0] & mask) != first)
		return false;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
	}
	return true;
}

/* Bits of a character of len bytes, at least 2. */
static uint32_t utf8_bits(const uint8_t *p, size_t len)
{
	uint32_t c = p[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 63u);
	return c;
}

/* NUL has two bytes, and each surrogate of a pair has three. */
static uint32_t utf8_read_modified(const uint8_t *p, size_t n, size_t *used)
{
	uint32_t c;

	*used = 1;
	if (p[0] < 0x80)
		return p[0];
	for (size_t len = 2; len <= 3; len++) {
		if (utf8_is_long(p, n, len))
			*used = len;
	}
	if (*used == 1)
		return UTF8_BAD;
	c = utf8_bits(p, *used);
	if (*used == 3 && utf8_is_long(p + 3, n - 3, 3) && utf8_is_pair(c, utf8_bits(p + 3, 3))) {
		*used = 6;
		return utf8_of_pair(c, utf8_bits(p + 3, 3));
	}
	return c ? c : UTF8_BAD;	/* a NUL within the text */
}

/* Of the shortest form only (Unicode 3.9, D92). */
static uint32_t utf8_read_utf8(const uint8_t *p, size_t n, size_t *used)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	*used = 1;
	if (p[0] < 0x80)
		return p[0];
	for (size_t len = 2; len <= 4; len++) {
		if (!utf8_is_long(p, n, len) || utf8_bits(p, len) < least[len])
			continue;
		*used = len;
		return utf8_bits(p, len);
	}
	return UTF8_BAD;
}

static const struct utf8_form {
	utf8_read_fn read;
	bool continues;		/* bytes 0x80 to 0xbf belong to one before them */
} utf8_forms[FORM__MAX] = {
	[FORM_ASCII] = { .read = utf8_read_ascii },
	[FORM_LATIN1] = { .read = utf8_read_latin1 },
	[FORM_UTF16] = { .read = utf8_read_utf16 },
	[FORM_MUTF8] = { .read = utf8_read_modified, .continues = true },
	[FORM_UTF32] = { .read = utf8_read_utf32 },
	[FORM_UTF8] = { .read = utf8_read_utf8, .continues = true },
};

void utf8_text(struct utf8 *t, uint64_t missing, uint32_t form, const uint8_t *p, size_t n)
{
	const struct utf8_form *f = &utf8_forms[form < FORM__MAX ? form : FORM_ASCII];
	size_t i = 0, used;

	utf8_begin(t, missing);
	/* the rest of a character whose beginning is missing */
	while (missing && f->continues && i < n && i < 3 && (p[i] & 0xc0) == 0x80)
		i++;
	for (; i < n; i += used) {
		uint32_t c = f->read(p + i, n - i, &used);

		if (!c)
			return;
		utf8_put(t, c);
	}
}
