// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/debugdata.h"
#include "ipc/message_hub.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "tests/unit/debugdata_image.h"

#define PACKED_MAX	12000

static struct elf_image inner, outer;
static uint8_t packed[PACKED_MAX];
static size_t packed_len;

/* By the preset that costs least: there are thousands of them. */
static void pack(const void *data, size_t len)
{
	packed_len = debugdata_pack(data, len, 0, packed, sizeof(packed));
	debugdata_outer(&outer, packed, packed_len);
}

/* What debugdata_open() says of `outer`; *names: how many symbols. */
static int visit(uint32_t *names)
{
	int fd = image_file(&outer), r;
	struct elf_file f, in;
	struct symbol_index idx;
	void *index;
	size_t len;

	*names = 0;
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	r = debugdata_open(&f, &in);
	if (!r) {
		f.debug = &in;
		if (!symbols_build(&f, NULL, &index, &len)) {
			CHECK_EQ(symbols_open(index, len, &idx), 0);
			*names = idx.n;
			free(index);
		}
		elf_file_close(&in);
	}
	elf_file_close(&f);
	close(fd);
	return r;
}

static int unpack(void)
{
	uint32_t names;

	return visit(&names);
}

TEST(debugdata_names_functions)
{
	struct elf_file f, in;
	struct symbol_index idx;
	void *index;
	size_t len;
	int fd;

	debugdata_inner(&inner, EM_X86_64);
	packed_len = debugdata_pack(inner.b, inner.n, 6, packed, sizeof(packed));
	debugdata_outer(&outer, packed, packed_len);
	fd = image_file(&outer);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(debugdata_open(&f, &in), JOB_OK);
	f.debug = &in;
	CHECK_EQ(symbols_build(&f, NULL, &index, &len), JOB_OK);
	CHECK_EQ(symbols_open(index, len, &idx), 0);
	CHECK_EQ(idx.n, 2);
	CHECK_STR(symbols_find(&idx, IMAGE_DATA + 15), "inner");
	CHECK_STR(symbols_find(&idx, IMAGE_DATA + 16), "other");
	free(index);
	elf_file_close(&in);
	elf_file_close(&f);
	close(fd);
}

TEST(debugdata_is_missing)
{
	image_init(&outer, EM_X86_64);
	image_finish(&outer);
	CHECK_EQ(unpack(), JOB_NOT_ELF);
}

TEST(debugdata_that_is_none)
{
	debugdata_inner(&inner, EM_AARCH64);	/* another machine's */
	pack(inner.b, inner.n);
	CHECK_EQ(unpack(), JOB_CORRUPT);
	pack("no ELF file, but some more bytes than an ELF header has, since that is read first", 80);
	CHECK_EQ(unpack(), JOB_NOT_ELF);
	pack("", 0);
	CHECK_EQ(unpack(), JOB_NOT_ELF);
	debugdata_outer(&outer, "not xz at all", 13);
	CHECK_EQ(unpack(), JOB_CORRUPT);
	debugdata_outer(&outer, "", 0);
	CHECK_EQ(unpack(), JOB_CORRUPT);
}

TEST(debugdata_is_one_stream)
{
	debugdata_inner(&inner, EM_X86_64);
	pack(inner.b, inner.n);
	CHECK_EQ(unpack(), JOB_OK);
	memcpy(packed + packed_len, packed, packed_len);
	debugdata_outer(&outer, packed, 2 * packed_len);
	CHECK_EQ(unpack(), JOB_CORRUPT);
	memset(packed + packed_len, 0, 4);	/* what xz takes for padding */
	debugdata_outer(&outer, packed, packed_len + 4);
	CHECK_EQ(unpack(), JOB_CORRUPT);
}

TEST(debugdata_bomb)
{
	size_t n = DEBUGDATA_MAX + 1;
	uint8_t *zeroes = calloc(1, n);

	CHECK(zeroes);
	debugdata_inner(&inner, EM_X86_64);
	memcpy(zeroes, inner.b, inner.n);
	pack(zeroes, ELF_INFLATE_FREE);
	CHECK_EQ(unpack(), JOB_OK);
	pack(zeroes, ELF_INFLATE_FREE + 1);	/* more than 64 times its size, too */
	CHECK(packed_len * ELF_INFLATE_RATIO < ELF_INFLATE_FREE);
	CHECK_EQ(unpack(), JOB_TOO_LARGE);
	packed_len = debugdata_pack(zeroes, n, 6, packed, sizeof(packed));
	debugdata_outer(&outer, packed, packed_len);
	CHECK_EQ(unpack(), JOB_TOO_LARGE);
	free(zeroes);
}

/* Its header says how large the dictionary is that it wants. */
TEST(debugdata_with_a_large_dictionary)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };

	debugdata_inner(&inner, EM_X86_64);
	CHECK(!lzma_lzma_preset(&options, 0));
	for (int i = 0; i < 2; i++) {
		size_t n = 0;

		options.dict_size = i ? 128u << 20 : 64u << 20;	/* xz -9's */
		options.mode = LZMA_MODE_FAST;
		options.mf = LZMA_MF_HC3;
		CHECK_EQ(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, inner.b,
						   inner.n, packed, &n, sizeof(packed)), LZMA_OK);
		debugdata_outer(&outer, packed, n);
		CHECK_EQ(unpack(), i ? JOB_TOO_LARGE : JOB_OK);
	}
}

TEST(debugdata_cut_anywhere)
{
	debugdata_inner(&inner, EM_X86_64);
	pack(inner.b, inner.n);
	for (size_t n = 0; n < packed_len; n++) {
		debugdata_outer(&outer, packed, n);
		CHECK_EQ(unpack(), JOB_CORRUPT);
	}
	for (size_t n = 0; n < inner.n; n++) {
		uint8_t *exact = malloc(n + !n);
		uint32_t names;

		CHECK(exact);
		memcpy(exact, inner.b, n);
		pack(exact, n);
		if (!visit(&names))
			CHECK(names <= 2);
		free(exact);
	}
}

TEST(debugdata_with_any_bit_flipped)
{
	uint32_t names;

	debugdata_inner(&inner, EM_X86_64);
	pack(inner.b, inner.n);
	/* the check sum finds all */
	for (size_t bit = 0; bit < 8 * packed_len; bit++) {
		packed[bit / 8] ^= 1 << bit % 8;
		debugdata_outer(&outer, packed, packed_len);
		CHECK(visit(&names) != JOB_OK);
		packed[bit / 8] ^= 1 << bit % 8;
	}
	/* these it does not see */
	for (size_t bit = 0; bit < 8 * inner.n; bit++) {
		inner.b[bit / 8] ^= 1 << bit % 8;
		pack(inner.b, inner.n);
		if (!visit(&names))
			CHECK(names <= 3);
		inner.b[bit / 8] ^= 1 << bit % 8;
	}
}
