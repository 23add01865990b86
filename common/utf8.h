/* SPDX-License-Identifier: Apache-2.0 */
/* utf8 - which bytes are a character */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

/* Replaces a byte that belongs to no character: U+FFFD, 3 bytes. */
#define UTF8_REPLACEMENT	"\xef\xbf\xbd"

/* Bytes of a character that begins with this one; 0: no character does. */
static inline size_t utf8_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf5 ? 4 : 0;
}

/*
 * Bytes of the character (UTF-8, not NUL) at s, of which len >= 1 bytes are
 * there; 0: not one.  Well-formed is what table 3-7 of the Unicode standard
 * says: no overlong forms, no surrogates, nothing beyond U+10FFFF.
 */
static inline size_t utf8_char(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = utf8_length(p[0]);

	if (n == 0 || n > len || p[0] == 0)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* Bytes of a text, at most max, that do not end within a character. */
static inline size_t utf8_fit(const char *s, size_t max)
{
	size_t len = 0;

	while (len < max && s[len])
		len++;
	if (s[len] == '\0')
		return len;
	while (len && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return len;
}

#endif /* COMMON_UTF8_H */
