// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int body_init(struct viewer_body *b, enum coding c, size_t max)
{
	*b = (struct viewer_body){ .coding = c, .max = max };
	/* 16 more than the window's 15 bits: gzip only (zlib.h) */
	if (c == BODY_GZIP && inflateInit2(&b->z, 15 + 16) != Z_OK)
		return -ENOMEM;
	if (c != BODY_ZSTD)
		return 0;
	b->zstd = ZSTD_createDCtx();
	if (b->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(b->zstd,
			ZSTD_d_windowLogMax, BODY_WINDOW_LOG)))
		return 0;
	ZSTD_freeDCtx(b->zstd);
	return -ENOMEM;
}

void body_fini(struct viewer_body *b)
{
	if (b->coding == BODY_GZIP)
		inflateEnd(&b->z);
	ZSTD_freeDCtx(b->zstd);
	free(b->data);
}

/* Room for more, at least one byte.  0, -E2BIG, -ENOMEM. */
static int viewer_body_room(struct viewer_body *b)
{
	size_t cap = b->cap ? 2 * b->cap : 16384;
	uint8_t *p;

	if (b->len < b->cap)
		return 0;
	if (b->cap >= b->max)
		return -E2BIG;
	if (cap > b->max)
		cap = b->max;
	p = realloc(b->data, cap);
	if (!p)
		return -ENOMEM;
	b->data = p;
	b->cap = cap;
	return 0;
}

static int add_plain(struct viewer_body *b, const uint8_t *data, size_t len)
{
	while (len) {
		int r = viewer_body_room(b);
		size_t n = b->cap - b->len;

		if (r)
			return r;
		if (n > len)
			n = len;
		memcpy(b->data + b->len, data, n);
		b->len += n;
		data += n;
		len -= n;
	}
	return 0;
}

static int add_gzip(struct viewer_body *b, const uint8_t *data, size_t len)
{
	b->z.next_in = (uint8_t *)data;
	b->z.avail_in = (uInt)len;
	while (!b->ended) {
		uint8_t over[1];
		int r = viewer_body_room(b), status;
		bool full = r == -E2BIG;

		if (r && !full)
			return r;
		/* full: it may still end here, with nothing more to write */
		b->z.next_out = full ? over : b->data + b->len;
		b->z.avail_out = full ? 1 : (uInt)(b->cap - b->len);
		status = inflate(&b->z, Z_NO_FLUSH);
		if (full && b->z.avail_out == 0)
			return -E2BIG;
		if (!full)
			b->len = b->cap - b->z.avail_out;
		if (status == Z_STREAM_END)
			b->ended = true;
		else if (status == Z_MEM_ERROR)
			return -ENOMEM;
		else if (status != Z_OK && status != Z_BUF_ERROR)
			return -EPROTO;
		else if (b->z.avail_in == 0 && b->z.avail_out != 0)
			return 0;
		else if (status == Z_BUF_ERROR && b->z.avail_out != 0)
			return -EPROTO;
	}
	return b->z.avail_in ? -EPROTO : 0;
}

static int add_zstd(struct viewer_body *b, const uint8_t *data, size_t len)
{
	ZSTD_inBuffer in = { data, len, 0 };
	bool more = true;		/* there may be output without input */

	while (in.pos < in.size || more) {
		uint8_t over[1];
		int r = viewer_body_room(b);
		bool full = r == -E2BIG;
		ZSTD_outBuffer out = { full ? over : b->data + b->len,
				       full ? 1 : b->cap - b->len, 0 };
		size_t left;

		if (r && !full)
			return r;
		left = ZSTD_decompressStream(b->zstd, &out, &in);
		if (ZSTD_isError(left))
			return -EPROTO;
		if (full && out.pos)
			return -E2BIG;
		b->len += full ? 0 : out.pos;
		b->ended = left == 0;
		more = out.pos == out.size && !b->ended;
	}
	return 0;
}

int body_add(struct viewer_body *b, const void *data, size_t len)
{
	if (!len)
		return 0;
	if (len > UINT32_MAX)
		return -E2BIG;
	return b->coding == BODY_GZIP ? add_gzip(b, data, len) :
	       b->coding == BODY_ZSTD ? add_zstd(b, data, len) :
	       add_plain(b, data, len);
}

int body_end(const struct viewer_body *b)
{
	return b->coding && !b->ended ? -EPROTO : 0;
}
