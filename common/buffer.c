// SPDX-License-Identifier: Apache-2.0
#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

#define BUFFER_FIRST	256

bool buffer_room(struct buffer *b, size_t n)
{
	size_t cap = b->cap ? b->cap : BUFFER_FIRST;
	void *p = NULL;

	if (b->failed)
		return false;
	if (n <= b->cap - b->len)
		return true;
	while (cap - b->len < n && cap <= SIZE_MAX / 2)
		cap *= 2;
	if (cap - b->len >= n)
		p = realloc(b->data, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->data = p;
	b->cap = cap;
	return true;
}

void buffer_add(struct buffer *b, const void *p, size_t n)
{
	if (n == 0 || !buffer_room(b, n))
		return;
	memcpy(b->data + b->len, p, n);
	b->len += n;
}

void buffer_str(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s));
}

void buffer_num(struct buffer *b, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		i--;
		digits[i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buffer_add(b, digits + i, sizeof(digits) - i);
}

void buffer_printf(struct buffer *b, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		buffer_add(b, text, strnlen(text, sizeof(text)));
}

void buffer_utf8(struct buffer *b, const char *s, size_t n)
{
	const char *p = s, *end = s + n, *run = s;

	while (p < end) {
		size_t len = utf8_char(p, (size_t)(end - p));

		if (len) {
			p += len;
			continue;
		}
		buffer_add(b, run, (size_t)(p - run));
		buffer_str(b, UTF8_REPLACEMENT);
		p++;
		run = p;
	}
	buffer_add(b, run, (size_t)(p - run));
}
