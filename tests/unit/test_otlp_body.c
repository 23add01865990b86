// SPDX-License-Identifier: Apache-2.0
#include "exporterd/body.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/unit/harness.h"

/* Allocations that succeed before one fails; -1: all do. */
static int allowed = -1;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool may(void)
{
	return allowed < 0 || allowed-- > 0;
}

void *__wrap_malloc(size_t n)
{
	return may() ? __real_malloc(n) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may() ? __real_calloc(n, size) : NULL;
}

#define LEN	100000
static uint8_t data[LEN], back[LEN + 1];

static void fill(void)
{
	for (size_t i = 0; i < LEN; i++)
		data[i] = (uint8_t)(i % 97 * (i / 20000 + 1));
}

static size_t decompress(const struct body *b)
{
	z_stream z = {
		.next_in = b->data, .avail_in = (uInt)b->len,
		.next_out = back, .avail_out = sizeof(back),
	};

	if (b->compression == COMPRESSION_NONE) {
		CHECK(b->len <= sizeof(back));
		memcpy(back, b->data, b->len);
		return b->len;
	}
	if (b->compression == COMPRESSION_ZSTD)
		return ZSTD_decompress(back, sizeof(back), b->data, b->len);
	CHECK_EQ(inflateInit2(&z, 15 + 16), Z_OK);
	CHECK_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_EQ(z.avail_in, 0);
	inflateEnd(&z);
	return z.total_out;
}

TEST(body_comes_back_from_every_compression)
{
	static const size_t lens[] = { 0, 1, 1000, LEN };

	fill();
	for (int c = 0; c < COMPRESSION__KINDS; c++) {
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			struct body *b = body_make(data, lens[i],
						   (enum compression)c);

			CHECK(b);
			CHECK_EQ(b->raw_len, lens[i]);
			CHECK_EQ(decompress(b), lens[i]);
			CHECK(memcmp(back, data, lens[i]) == 0);
			CHECK(c == COMPRESSION_NONE || lens[i] < LEN ||
			      b->len < LEN / 2);
			body_put(b);
		}
	}
}

/* Blocks of another code begin at cuts, wherever these are. */
TEST(body_comes_back_whatever_its_cuts)
{
	static const size_t cuts[][4] = {
		{ 0, 0, 0, 0 }, { 1, 2, 3, 4 }, { 20000, 40000, 60000, 80000 },
		{ LEN - 1, LEN - 1, LEN, LEN }, { 5000, 5001, 90000, LEN + 1 },
	};

	fill();
	for (size_t i = 0; i < LEN / 2; i++)	/* half of it has no pattern */
		data[2 * i] = (uint8_t)(i * i * 2654435761u >> 13);
	for (int c = 0; c < COMPRESSION__KINDS; c++) {
		for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			struct body *b = body_make_cut(data, LEN, cuts[i], 4,
						       (enum compression)c);

			CHECK(b);
			CHECK_EQ(decompress(b), LEN);
			CHECK(memcmp(back, data, LEN) == 0);
			body_put(b);
		}
	}
}

/* Where kinds of bytes change, a code for each takes fewer bytes.  zstd finds
 * such a place itself from 1.5.7 on. */
TEST(body_is_smaller_with_cuts)
{
	static const size_t cut = LEN / 2;

	for (size_t i = 0, v = 1; i < LEN; i++) {
		v = v * 6364136223846793005u + 1442695040888963407u;
		data[i] = (uint8_t)((v >> 40) % 8 + (i < cut ? 0 : 128));
	}
	for (int c = COMPRESSION_GZIP; c < COMPRESSION__KINDS; c++) {
		size_t spare = c == COMPRESSION_GZIP ? 0 : LEN / 100;
		struct body *whole = body_make(data, LEN, (enum compression)c);
		struct body *two = body_make_cut(data, LEN, &cut, 1,
						 (enum compression)c);

		CHECK(whole && two);
		CHECK_EQ(decompress(two), LEN);
		CHECK(two->len < whole->len + spare);
		body_put(whole);
		body_put(two);
	}
}

TEST(body_is_shared)
{
	struct body *b = body_make(data, 10, COMPRESSION_NONE);

	CHECK(b);
	CHECK(body_get(b) == b);
	body_put(b);
	CHECK_EQ(b->len, 10);
	body_put(b);
	body_put(NULL);
}

TEST(body_names)
{
	for (int c = 0; c < COMPRESSION__KINDS; c++)
		CHECK_EQ(compression_of(compression_name((enum compression)c)),
			 c);
	CHECK_EQ(compression_of("GZIP"), (uintmax_t)-1);
	CHECK_EQ(compression_of(""), (uintmax_t)-1);
}

TEST(body_without_memory_is_none)
{
	static const size_t half = LEN / 2;

	for (int c = 0; c < COMPRESSION__KINDS; c++) {
		struct body *b = NULL;

		for (int n = 0; !b; n++) {
			CHECK(n < 100);
			allowed = n;
			b = body_make_cut(data, LEN, &half, 1,
					  (enum compression)c);
			allowed = -1;
		}
		body_put(b);
	}
}
