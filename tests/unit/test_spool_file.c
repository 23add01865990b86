// SPDX-License-Identifier: Apache-2.0
#include "exporterd/spool_file.h"

#include <errno.h>

#include "tests/unit/harness.h"
#include "tests/unit/spool_sample.h"

TEST(spool_name_goes_there_and_back)
{
	const struct spool_name n = { 0x123456789abcdef0ULL, 7, 0xffffffff };
	struct spool_name got;
	char s[SPOOL_NAME_SIZE];

	spool_name_write(&n, s);
	CHECK_STR(s, "123456789abcdef0-00000007-ffffffff.batch");
	CHECK_EQ(strlen(s), SPOOL_NAME_SIZE - 1);
	CHECK_EQ(spool_name_read(s, &got), 0);
	CHECK_EQ(got.id, n.id);
	CHECK_EQ(got.first, 7);
	CHECK_EQ(got.n, 0xffffffff);
}

TEST(spool_name_takes_no_other)
{
	static const char good[] = "123456789abcdef0-00000007-ffffffff.batch";
	static const char *const bad[] = {
		"", ".", "new.tmp", "123456789ABCDEF0-00000007-ffffffff.batch",
		"123456789abcdef0-00000007-00000000.batch",
		"123456789abcdef0-00000007-ffffffff.batch2",
		"123456789abcdef0-00000007-ffffffff.batc",
		"123456789abcdef0_00000007-ffffffff.batch",
		"123456789abcdef0-+0000007-ffffffff.batch",
		"../../etc/0123456-00000007-ffffffff.batch",
	};
	struct spool_name got = { 1, 2, 3 };
	char s[sizeof(good)];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(spool_name_read(bad[i], &got), -EINVAL);
	/* one with a digit changed to no digit, at each place */
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		memcpy(s, good, sizeof(good));
		s[i] = '/';
		CHECK_EQ(spool_name_read(s, &got), -EINVAL);
		s[i] = '\0';
		CHECK_EQ(spool_name_read(s, &got), -EINVAL);
	}
	CHECK_EQ(got.n, 3);
}

TEST(spool_file_is_checked_against_its_name)
{
	static const struct {
		struct spool_name name;
		int r;
	} c[] = {
		{ { SAMPLE_ID, 0, SAMPLE_EVENTS }, 0 },
		{ { SAMPLE_ID, 5, SAMPLE_EVENTS - 5 }, 0 },
		{ { SAMPLE_ID, SAMPLE_EVENTS - 1, 1 }, 0 },
		{ { SAMPLE_ID, SAMPLE_EVENTS, 0 }, -EPROTO },
		{ { SAMPLE_ID, SAMPLE_EVENTS, 1 }, -EPROTO },
		{ { SAMPLE_ID, 0, SAMPLE_EVENTS + 1 }, -EPROTO },
		{ { SAMPLE_ID, 0, SAMPLE_EVENTS - 1 }, -EPROTO },
		{ { SAMPLE_ID, UINT32_MAX, 1 + SAMPLE_EVENTS }, -EPROTO },
		{ { SAMPLE_ID + 1, 0, SAMPLE_EVENTS }, -EPROTO },
	};
	size_t len;
	uint8_t *f = sample_file(&len);
	struct batch b;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		CHECK_EQ((uint64_t)spool_file_check(f, len, &c[i].name, &b),
			 (uint64_t)c[i].r);
	CHECK_EQ(batch_n(&b, BATCH_TIMES), SAMPLE_EVENTS);
	free(f);
}

TEST(spool_file_notices_every_truncation_and_growth)
{
	const struct spool_name name = { SAMPLE_ID, 0, SAMPLE_EVENTS };
	size_t len;
	uint8_t *f = sample_file(&len), *copy;
	struct batch b;

	for (size_t n = 0; n <= len + 8; n++) {
		/* of exact size: a read beyond it is seen */
		copy = calloc(1, n ? n : 1);
		CHECK(copy);
		memcpy(copy, f, n < len ? n : len);
		CHECK_EQ((uint64_t)spool_file_check(copy, n, &name, &b),
			 (uint64_t)(n == len ? 0 : -EPROTO));
		free(copy);
	}
	free(f);
}

TEST(spool_file_notices_every_flipped_bit)
{
	const struct spool_name name = { SAMPLE_ID, 0, SAMPLE_EVENTS };
	size_t len;
	uint8_t *f = sample_file(&len);
	struct batch b;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		f[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CHECK_EQ((uint64_t)spool_file_check(f, len, &name, &b),
			 (uint64_t)-EPROTO);
		f[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	CHECK_EQ(spool_file_check(f, len, &name, &b), 0);
	free(f);
}

TEST(spool_file_opens_no_bad_batch_behind_a_right_hash)
{
	const struct spool_name name = { SAMPLE_ID, 0, SAMPLE_EVENTS };
	size_t len;
	uint8_t *f = sample_file(&len);
	struct spool_hdr *hdr = (void *)f;
	struct batch b;

	f[sizeof(*hdr)] ^= 1;			/* its magic */
	hdr->hash = spool_hash(hdr, hdr + 1);
	CHECK_EQ((uint64_t)spool_file_check(f, len, &name, &b),
		 (uint64_t)-EPROTO);
	f[sizeof(*hdr)] ^= 1;
	hdr->samples++;
	hdr->hash = spool_hash(hdr, hdr + 1);
	CHECK_EQ((uint64_t)spool_file_check(f, len, &name, &b),
		 (uint64_t)-EPROTO);
	free(f);
}
