// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/utf8.h"

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

void utf8_put(struct utf8 *t, uint32_t c)
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

/* A character of Java's modified UTF-8 at p, of n bytes; 0: not one. */
static uint32_t utf8_java_character(const uint8_t *p, size_t n, size_t *used)
{
	*used = 1;
	if (p[0] < 0x80)
		return p[0];
	if ((p[0] & 0xe0) == 0xc0 && n >= 2 && (p[1] & 0xc0) == 0x80) {
		*used = 2;
		return (p[0] & 31u) << 6 | (p[1] & 63u);
	}
	if ((p[0] & 0xf0) == 0xe0 && n >= 3 && (p[1] & 0xc0) == 0x80 &&
	    (p[2] & 0xc0) == 0x80) {
		*used = 3;
		return (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
	}
	return 0;
}

void utf8_java(struct utf8 *t, const uint8_t *p, size_t n)
{
	size_t used;

	for (size_t i = 0; i < n && p[i]; i += used)
		utf8_put(t, utf8_java_character(p + i, n - i, &used));
}
