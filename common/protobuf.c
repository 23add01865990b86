// SPDX-License-Identifier: Apache-2.0
#include "common/protobuf.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "fixed64 is written as it lies in memory");

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static unsigned int protobuf_varint(uint8_t out[10], uint64_t v)
{
	unsigned int n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)v | 0x80;
	out[n++] = (uint8_t)v;
	return n;
}

void pb_varint(struct buffer *w, uint64_t v)
{
	uint8_t buf[10];

	buffer_add(w, buf, protobuf_varint(buf, v));
}

static void pb_tag(struct buffer *w, unsigned int field, unsigned int wire)
{
	pb_varint(w, field << 3 | wire);
}

void pb_uint_set(struct buffer *w, unsigned int field, uint64_t v)
{
	pb_tag(w, field, WIRE_VARINT);
	pb_varint(w, v);
}

void pb_uint(struct buffer *w, unsigned int field, uint64_t v)
{
	if (v)
		pb_uint_set(w, field, v);
}

void pb_fixed64(struct buffer *w, unsigned int field, uint64_t v)
{
	pb_tag(w, field, WIRE_FIXED64);
	buffer_add(w, &v, sizeof(v));
}

void pb_bytes(struct buffer *w, unsigned int field, const void *p, size_t n)
{
	pb_tag(w, field, WIRE_BYTES);
	pb_varint(w, n);
	buffer_add(w, p, n);
}

size_t pb_begin(struct buffer *w, unsigned int field)
{
	pb_tag(w, field, WIRE_BYTES);
	buffer_add(w, "", 1);		/* a length below 128 fits here */
	return w->len;
}

void pb_end(struct buffer *w, size_t mark)
{
	uint8_t buf[10];
	size_t len = w->len - mark;
	unsigned int n = protobuf_varint(buf, len);

	if (!buffer_room(w, n - 1))
		return;
	memmove(w->data + mark + n - 1, w->data + mark, len);
	memcpy(w->data + mark - 1, buf, n);
	w->len += n - 1;
}

void pb_packed(struct buffer *w, unsigned int field, const uint32_t *v, size_t n)
{
	size_t mark;

	if (n == 0)
		return;
	mark = pb_begin(w, field);
	for (size_t i = 0; i < n; i++)
		pb_varint(w, v[i]);
	pb_end(w, mark);
}

void pb_text(struct buffer *w, unsigned int field, const char *s, size_t n)
{
	size_t mark = pb_begin(w, field);

	buffer_utf8(w, s, n);
	pb_end(w, mark);
}

void pb_any_text(struct buffer *w, unsigned int field, const char *s,
		 size_t n)
{
	size_t mark = pb_begin(w, field);

	pb_text(w, 1, s, n);
	pb_end(w, mark);
}

void pb_any_int(struct buffer *w, unsigned int field, uint64_t v)
{
	size_t mark = pb_begin(w, field);

	pb_uint_set(w, 3, v);
	pb_end(w, mark);
}
