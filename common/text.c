// SPDX-License-Identifier: Apache-2.0
#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_str(struct pb *w, const char *s)
{
	pb_raw(w, s, strlen(s));
}

void text_num(struct pb *w, uint64_t v)
{
	char buf[20];
	size_t i = sizeof(buf);

	do
		buf[--i] = (char)('0' + v % 10);
	while (v /= 10);
	pb_raw(w, buf + i, sizeof(buf) - i);
}

void text_printf(struct pb *w, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		pb_raw(w, buf, strnlen(buf, sizeof(buf)));
}

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' ||
	       c == '>' || c == '&';
}

void text_json(struct pb *w, const char *s, size_t n)
{
	size_t run = 0;

	pb_raw(w, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (!needs_escape(c))
			continue;
		pb_utf8(w, s + run, i - run);
		text_printf(w, "\\u%04x", c);
		run = i + 1;
	}
	pb_utf8(w, s + run, n - run);
	pb_raw(w, "\"", 1);
}
