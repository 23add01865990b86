// SPDX-License-Identifier: Apache-2.0
#include "ipc/batch.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t str(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static void *finish(struct batch_builder *b, size_t *len)
{
	void *data;

	CHECK_EQ(batch_builder_finish(b, 990, 1002, &data, len), 0);
	return data;
}

TEST(batch_builder_stops_at_its_size)
{
	struct batch_builder *b = batch_builder_new(20);
	char s[BATCH_STRING_MAX];
	void *data;
	size_t len;

	memset(s, 'x', sizeof(s));
	for (unsigned int i = 0; i <= BATCH_BYTES_MAX / BATCH_STRING_MAX; i++) {
		char number[9];

		snprintf(number, sizeof(number), "%08x", i);
		memcpy(s, number, 8);
		batch_string(b, s, sizeof(s));
	}
	CHECK_EQ(batch_builder_finish(b, 0, 1, &data, &len), -E2BIG);
	batch_builder_free(b);
}

/* Offsets that descend where all bytes behind are good characters. */
TEST(batch_open_rejects_a_string_of_negative_length)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_hdr *hdr;
	uint32_t *strings, n;
	struct batch got;
	size_t len;

	str(b, "aaaaaaaa");
	str(b, "bbbbbbbb");
	hdr = finish(b, &len);
	CHECK_EQ(batch_open(hdr, len, &got), 0);
	strings = (uint32_t *)((char *)hdr + hdr->table[BATCH_STRINGS].off);
	n = hdr->table[BATCH_STRINGS].n;
	for (uint32_t v = 1; v < 8; v++) {
		strings[n - 1] = strings[n] + v;
		CHECK_EQ(batch_open(hdr, len, &got), -EPROTO);
	}
	batch_builder_free(b);
	free(hdr);
}

/* A name that each line of an output repeats. */
TEST(batch_open_rejects_a_string_that_is_too_long)
{
	struct batch_builder *b = batch_builder_new(20);
	char longest[BATCH_STRING_MAX + 1];
	struct batch_hdr *hdr;
	uint32_t *strings;
	struct batch got;
	size_t len;

	memset(longest, 'x', sizeof(longest));
	longest[BATCH_STRING_MAX] = '\0';
	str(b, longest);
	str(b, "yy");
	hdr = finish(b, &len);
	CHECK_EQ(batch_open(hdr, len, &got), 0);
	strings = (uint32_t *)((char *)hdr + hdr->table[BATCH_STRINGS].off);
	strings[2]++;
	CHECK_EQ(batch_open(hdr, len, &got), -EPROTO);
	batch_builder_free(b);
	free(hdr);
}

static size_t length_in_batch(const char *s, size_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch got;
	size_t len, ret;
	void *hdr;

	CHECK_EQ(batch_string(b, s, n), 1);
	hdr = finish(b, &len);
	CHECK_EQ(batch_open(hdr, len, &got), 0);
	batch_str(&got, 1, &ret);
	batch_builder_free(b);
	free(hdr);
	return ret;
}

/* So no name that a liar makes too long costs others their batch. */
TEST(batch_strings_are_cut_at_a_character)
{
	char s[2 * BATCH_STRING_MAX];

	memset(s, 'x', sizeof(s));
	CHECK_EQ(length_in_batch(s, BATCH_STRING_MAX), BATCH_STRING_MAX);
	CHECK_EQ(length_in_batch(s, sizeof(s)), BATCH_STRING_MAX);
	memcpy(s + BATCH_STRING_MAX - 1, "\xc3\xa9", 2);
	CHECK_EQ(length_in_batch(s, sizeof(s)), BATCH_STRING_MAX - 1);
	/* each becomes three bytes */
	memset(s, 0x80, sizeof(s));
	CHECK_EQ(length_in_batch(s, BATCH_STRING_MAX / 3), BATCH_STRING_MAX / 3 * 3);
	CHECK_EQ(length_in_batch(s, sizeof(s)), BATCH_STRING_MAX / 3 * 3);
	memset(s, 'x', BATCH_STRING_MAX);
	CHECK_EQ(length_in_batch(s, sizeof(s)), BATCH_STRING_MAX);
}
