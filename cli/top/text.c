// SPDX-License-Identifier: Apache-2.0
#include "cli/top/text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "common/utf8.h"

bool top_text_locale(void)
{
	if (setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8"))
		return true;
	setlocale(LC_CTYPE, "C");
	return false;
}

static uint32_t text_decode(const char *s, size_t n)
{
	static const uint8_t first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (uint8_t)s[0] & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((uint8_t)s[i] & 0x3f);
	return c;
}

/* Soft hyphens, marks of direction and the like have a width in some C
 * libraries. */
static bool text_is_invisible(uint32_t c)
{
	return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
	       (c >= 0xe000 && c <= 0xf8ff) || c >= 0xe0000;
}

/* One character of n bytes, as shown: bytes into out[16]; returns cells. */
static size_t text_glyph(const char *s, size_t n, bool utf8, char out[16])
{
	uint32_t c = 0;
	int width;

	if (n)
		c = text_decode(s, n);
	if (n == 1 && c >= 0x20 && c < 0x7f) {
		out[0] = s[0];
		out[1] = '\0';
		return 1;
	}
	if (n > 1 && utf8 && !text_is_invisible(c) && iswprint((wint_t)c))
		width = wcwidth((wchar_t)c);
	else
		width = 0;
	if (width == 1 || width == 2) {
		memcpy(out, s, n);
		out[n] = '\0';
		return (size_t)width;
	}
	if (n <= 1)
		return (size_t)snprintf(out, 16, "\\x%02x", (uint8_t)s[0]);
	return (size_t)snprintf(out, 16, "\\u{%x}", c);
}

size_t top_text(struct top_str s, bool utf8, size_t cells, char *out,
		size_t size)
{
	size_t used = 0, len = 0, cut_used = 0, cut_len = 0, n, width;
	char g[16];

	for (size_t i = 0; i < s.len; i += n) {
		n = utf8_char(s.s + i, s.len - i);
		width = text_glyph(s.s + i, n, utf8, g);
		if (!n)
			n = 1;
		if (used + width > cells || len + strlen(g) >= size) {
			/* back to the last place where '~' fits */
			if (cells)
				out[cut_len++] = '~';
			out[cut_len] = '\0';
			if (cells)
				return cut_used + 1;
			return 0;
		}
		memcpy(out + len, g, strlen(g));
		len += strlen(g);
		used += width;
		if (used < cells) {
			cut_used = used;
			cut_len = len;
		}
	}
	out[len] = '\0';
	return used;
}

struct top_str top_base(struct top_str path)
{
	const char *slash = memrchr(path.s, '/', path.len);

	if (slash && slash + 1 < path.s + path.len) {
		path.len -= (size_t)(slash + 1 - path.s);
		path.s = slash + 1;
	}
	return path;
}
