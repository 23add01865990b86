// SPDX-License-Identifier: Apache-2.0
#include "exporterd/body.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Of zlib's levels, 2 makes requests 4 to 6 % larger than 6, in 0.3 to 0.4 of
 * the time (batches of 0.1 and 2.5 MB). */
#define LEVEL	2
/* zstd's own default. */
#define ZSTD_LEVEL 3

static const char *const names[COMPRESSION__KINDS] = {
	[COMPRESSION_NONE] = "none",
	[COMPRESSION_GZIP] = "gzip",
	[COMPRESSION_ZSTD] = "zstd",
};

const char *compression_name(enum compression c)
{
	return names[c];
}

int compression_of(const char *name)
{
	for (int i = 0; i < COMPRESSION__KINDS; i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return -1;
}

static bool exporter_body_plain(struct body *b, const uint8_t *data)
{
	b->data = malloc(b->raw_len ? b->raw_len : 1);
	b->len = b->raw_len;
	if (b->data)
		memcpy(b->data, data, b->len);
	return b->data;
}

static bool exporter_body_gzip(struct body *b, const uint8_t *data)
{
	z_stream z = {
		.next_in = (Bytef *)data, .avail_in = (uInt)b->raw_len,
	};
	size_t room;
	bool ok;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	room = deflateBound(&z, (uLong)b->raw_len);
	b->data = malloc(room);
	z.next_out = b->data;
	z.avail_out = (uInt)room;
	ok = b->data && deflate(&z, Z_FINISH) == Z_STREAM_END;
	b->len = z.total_out;
	deflateEnd(&z);
	return ok;
}

static bool exporter_body_zstd(struct body *b, const uint8_t *data)
{
	size_t room = ZSTD_compressBound(b->raw_len);

	b->data = malloc(room);
	if (!b->data)
		return false;
	b->len = ZSTD_compress(b->data, room, data, b->raw_len, ZSTD_LEVEL);
	return !ZSTD_isError(b->len);
}

static bool compress_into(struct body *b, const uint8_t *data)
{
	switch (b->compression) {
	case COMPRESSION_GZIP:
		return exporter_body_gzip(b, data);
	case COMPRESSION_ZSTD:
		return exporter_body_zstd(b, data);
	default:
		return exporter_body_plain(b, data);
	}
}

static struct body *body_shrink(struct body *b)
{
	uint8_t *fit = realloc(b->data, b->len ? b->len : 1);

	if (fit)
		b->data = fit;
	return b;
}

struct body *body_make(const uint8_t *data, size_t len, enum compression c)
{
	struct body *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct body){ .refs = 1, .compression = c, .raw_len = len };
	if (!compress_into(b, data)) {
		body_put(b);
		return NULL;
	}
	return body_shrink(b);
}

void body_put(struct body *b)
{
	if (!b || --b->refs)
		return;
	free(b->data);
	free(b);
}
