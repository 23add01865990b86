// SPDX-License-Identifier: Apache-2.0
#include "common/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/batch.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "fixed64 is written as it lies in memory");

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static bool pb_room(struct pb *w, size_t n)
{
	size_t cap = w->cap ? w->cap : 256;
	void *p;

	if (w->failed)
		return false;
	if (n <= w->cap - w->len)
		return true;
	while (cap - w->len < n)
		cap *= 2;
	p = realloc(w->data, cap);
	if (!p) {
		w->failed = true;
		return false;
	}
	w->data = p;
	w->cap = cap;
	return true;
}

void pb_raw(struct pb *w, const void *p, size_t n)
{
	if (n == 0 || !pb_room(w, n))
		return;
	memcpy(w->data + w->len, p, n);
	w->len += n;
}

static unsigned int protobuf_varint(uint8_t out[10], uint64_t v)
{
	unsigned int n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)v | 0x80;
	out[n++] = (uint8_t)v;
	return n;
}

void pb_varint(struct pb *w, uint64_t v)
{
	uint8_t buf[10];

	pb_raw(w, buf, protobuf_varint(buf, v));
}

static void pb_tag(struct pb *w, unsigned int field, unsigned int wire)
{
	pb_varint(w, field << 3 | wire);
}

void pb_uint_set(struct pb *w, unsigned int field, uint64_t v)
{
	pb_tag(w, field, WIRE_VARINT);
	pb_varint(w, v);
}

void pb_uint(struct pb *w, unsigned int field, uint64_t v)
{
	if (v)
		pb_uint_set(w, field, v);
}

void pb_fixed64(struct pb *w, unsigned int field, uint64_t v)
{
	pb_tag(w, field, WIRE_FIXED64);
	pb_raw(w, &v, sizeof(v));
}

void pb_bytes(struct pb *w, unsigned int field, const void *p, size_t n)
{
	pb_tag(w, field, WIRE_BYTES);
	pb_varint(w, n);
	pb_raw(w, p, n);
}

size_t pb_begin(struct pb *w, unsigned int field)
{
	pb_tag(w, field, WIRE_BYTES);
	pb_raw(w, "", 1);		/* a length below 128 fits here */
	return w->len;
}

void pb_end(struct pb *w, size_t mark)
{
	uint8_t buf[10];
	size_t len = w->len - mark;
	unsigned int n = protobuf_varint(buf, len);

	if (!pb_room(w, n - 1) || w->failed)
		return;
	memmove(w->data + mark + n - 1, w->data + mark, len);
	memcpy(w->data + mark - 1, buf, n);
	w->len += n - 1;
}

void pb_packed(struct pb *w, unsigned int field, const uint32_t *v, size_t n)
{
	size_t mark;

	if (n == 0)
		return;
	mark = pb_begin(w, field);
	for (size_t i = 0; i < n; i++)
		pb_varint(w, v[i]);
	pb_end(w, mark);
}

void pb_utf8(struct pb *w, const char *s, size_t n)
{
	const char *p = s, *end = s + n, *run = s;

	while (p < end) {
		size_t len = batch_utf8(p, (size_t)(end - p));

		if (len) {
			p += len;
			continue;
		}
		pb_raw(w, run, (size_t)(p - run));
		pb_raw(w, "\xef\xbf\xbd", 3);
		run = ++p;
	}
	pb_raw(w, run, (size_t)(p - run));
}

void pb_text(struct pb *w, unsigned int field, const char *s, size_t n)
{
	size_t mark = pb_begin(w, field);

	pb_utf8(w, s, n);
	pb_end(w, mark);
}

void pb_any_text(struct pb *w, unsigned int field, const char *s,
		 size_t n)
{
	size_t mark = pb_begin(w, field);

	pb_text(w, 1, s, n);
	pb_end(w, mark);
}

void pb_any_int(struct pb *w, unsigned int field, uint64_t v)
{
	size_t mark = pb_begin(w, field);

	pb_uint_set(w, 3, v);
	pb_end(w, mark);
}
