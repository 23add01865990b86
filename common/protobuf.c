// SPDX-License-Identifier: Apache-2.0
#include "common/protobuf.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "fixed64 is written as it lies in memory");

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX	10	/* bytes */

static unsigned int protobuf_varint(uint8_t out[VARINT_MAX], uint64_t v)
{
	unsigned int n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)v | 0x80;
	out[n++] = (uint8_t)v;
	return n;
}

/* The next bytes, if there is room for n; these few are most of a request. */
static uint8_t *protobuf_next(struct buffer *w, size_t n)
{
	if ((w->failed || n > w->cap - w->len) && !buffer_room(w, n))
		return NULL;
	return w->data + w->len;
}

void pb_varint(struct buffer *w, uint64_t v)
{
	uint8_t *p = protobuf_next(w, VARINT_MAX);

	if (p)
		w->len += protobuf_varint(p, v);
}

static void pb_tag(struct buffer *w, unsigned int field, unsigned int wire)
{
	pb_varint(w, field << 3 | wire);
}

void pb_uint_set(struct buffer *w, unsigned int field, uint64_t v)
{
	uint8_t *p = protobuf_next(w, 2 * VARINT_MAX);
	unsigned int n;

	if (!p)
		return;
	n = protobuf_varint(p, field << 3 | WIRE_VARINT);
	w->len += n + protobuf_varint(p + n, v);
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
	uint8_t *p = protobuf_next(w, VARINT_MAX + 1);
	unsigned int n;

	if (!p)
		return w->len;
	n = protobuf_varint(p, field << 3 | WIRE_BYTES);
	p[n] = 0;			/* a length below 128 fits here */
	w->len += n + 1;
	return w->len;
}

void pb_end(struct buffer *w, size_t mark)
{
	uint8_t buf[VARINT_MAX];
	size_t len = w->len - mark;
	unsigned int n = protobuf_varint(buf, len);

	if (w->failed || (n > 1 && !buffer_room(w, n - 1)))
		return;
	if (n == 1) {
		w->data[mark - 1] = buf[0];
		return;
	}
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

/* Only characters of ASCII, and no NUL?  Eight at a time. */
static bool protobuf_ascii(const char *s, size_t n)
{
	static const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	uint64_t v, bad = 0;

	for (; n >= sizeof(v); s += sizeof(v), n -= sizeof(v)) {
		memcpy(&v, s, sizeof(v));
		bad |= v | (v - ones);	/* a NUL borrows: its high bit is set */
	}
	for (; n; s++, n--)
		bad |= (uint64_t)((signed char)*s <= 0) << 7;
	return !(bad & highs);
}

void pb_text(struct buffer *w, unsigned int field, const char *s, size_t n)
{
	size_t mark;

	if (protobuf_ascii(s, n)) {
		pb_bytes(w, field, s, n);
		return;
	}
	mark = pb_begin(w, field);
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
