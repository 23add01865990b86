// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BODY_STEP	16384	/* bytes unpacked at a time, at least */

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
	free(b->bytes.data);
}

/* Make room for *n more bytes, at least one.  0, -E2BIG, -ENOMEM. */
static int viewer_body_room(struct viewer_body *b, size_t *n)
{
	size_t left = b->max - b->bytes.len, step = BODY_STEP;

	if (!left)
		return -E2BIG;
	if (left < step)
		step = left;
	if (!buffer_room(&b->bytes, step))
		return -ENOMEM;
	*n = b->bytes.cap - b->bytes.len;
	if (*n > left)
		*n = left;
	return 0;
}

static int viewer_body_add_plain(struct viewer_body *b, const uint8_t *data, size_t len)
{
	if (len > b->max - b->bytes.len)
		return -E2BIG;
	buffer_add(&b->bytes, data, len);
	if (b->bytes.failed)
		return -ENOMEM;
	return 0;
}

static int viewer_body_add_gzip(struct viewer_body *b, const uint8_t *data, size_t len)
{
	b->z.next_in = (uint8_t *)data;
	b->z.avail_in = (uInt)len;
	while (!b->ended) {
		uint8_t over[1];
		size_t room = sizeof(over);
		int r = viewer_body_room(b, &room), status;
		bool full = r == -E2BIG;

		if (r && !full)
			return r;
		/* full: the stream may still end without more output */
		b->z.next_out = over;
		if (!full)
			b->z.next_out = b->bytes.data + b->bytes.len;
		b->z.avail_out = (uInt)room;
		status = inflate(&b->z, Z_NO_FLUSH);
		if (full && b->z.avail_out == 0)
			return -E2BIG;
		if (!full)
			b->bytes.len += room - b->z.avail_out;
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
	if (b->z.avail_in)
		return -EPROTO;
	return 0;
}

static int viewer_body_add_zstd(struct viewer_body *b, const uint8_t *data, size_t len)
{
	ZSTD_inBuffer in = { data, len, 0 };
	bool more = true;		/* there may be output without input */

	while (in.pos < in.size || more) {
		uint8_t over[1];
		size_t room = sizeof(over), left;
		int r = viewer_body_room(b, &room);
		bool full = r == -E2BIG;
		ZSTD_outBuffer out = { over, room, 0 };

		if (r && !full)
			return r;
		if (!full)
			out.dst = b->bytes.data + b->bytes.len;
		left = ZSTD_decompressStream(b->zstd, &out, &in);
		if (ZSTD_isError(left))
			return -EPROTO;
		if (full && out.pos)
			return -E2BIG;
		b->bytes.len += out.pos;
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
	if (b->coding == BODY_GZIP)
		return viewer_body_add_gzip(b, data, len);
	if (b->coding == BODY_ZSTD)
		return viewer_body_add_zstd(b, data, len);
	return viewer_body_add_plain(b, data, len);
}

int body_end(const struct viewer_body *b)
{
	if (b->coding != BODY_PLAIN && !b->ended)
		return -EPROTO;
	return 0;
}
