// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/from_folded.h"

#include <errno.h>

#include "profile/formats/folded.h"
#include "tests/unit/cli_batch.h"

static struct folded_mistake m;

/* From a copy of exact size; the folded stacks of what came of it, or NULL. */
static char *again(const char *text, size_t len, int want)
{
	char *copy = malloc(len ? len : 1);
	struct buffer out = { 0 };
	struct batch b;
	void *data;
	size_t n;
	int r;

	memcpy(copy, text, len);
	r = from_folded(copy, len, 99, &m, &data, &n);
	free(copy);
	if (want >= 0)
		CHECK_EQ(r, want);
	if (r) {
		CHECK(r == 1 && m.line && m.what);
		return NULL;
	}
	CHECK_EQ(batch_open(data, n, &b), 0);
	CHECK_EQ(b.hdr->frequency, 99);
	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	buffer_add(&out, "", 1);
	free(data);
	return (char *)out.data;
}

static void check_again(const char *text, const char *want)
{
	char *got = again(text, strlen(text), 0);

	CHECK_STR(got, want);
	free(got);
}

TEST(what_record_writes_comes_back)
{
	struct buffer out = { 0 };
	struct batch b;
	void *data = sample_batch(&b);
	char *got;

	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	got = again((char *)out.data, out.len, 0);
	CHECK_EQ(strlen(got), out.len);
	CHECK(!memcmp(got, out.data, out.len));
	free(got);
	free(out.data);
	free(data);
}

TEST(stacks_of_other_profilers)
{
	check_again("a;b;c 2\na;b 1\na;b;c 3\n", "a;b 1\na;b;c 5\n");
	check_again("swapper 7\n", "swapper;[frames missing] 7\n");
	check_again("a;x_[k] 1\na;x 1\n", "a;x 1\na;x_[k] 1\n");
	/* not what trifold writes: a function like any other */
	check_again("a;[stack ends: nowhere];b 1\n", "a;[stack ends: nowhere];b 1\n");
	check_again("a;[stack ends: ];b 1\n", "a;[stack ends: ];b 1\n");
	check_again("a;;b 1\n", "a;[no name];b 1\n");
}

TEST(an_early_end_is_one)
{
	static const char text[] = "a;[stack ends: no_table];b 4\n";
	void *data;
	struct batch b;
	size_t n;

	CHECK_EQ(from_folded(text, strlen(text), 99, &m, &data, &n), 0);
	CHECK_EQ(batch_open(data, n, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_SAMPLES), 1);
	CHECK_EQ(b.samples[0].stop, STOP_NO_TABLE);
	CHECK_EQ(b.stacks[b.samples[0].stack].n, 1);
	free(data);
}

TEST(too_many_samples)
{
	CHECK(!again("a;b 1048577\n", 12, 1));
	CHECK(!again("a;b 1048576\na;c 1\n", 18, 1));
	CHECK(!again("", 0, 1));
	free(again("a;b 1048576\n", 12, 0));
}

TEST(every_truncation_and_every_bit)
{
	static const char text[] =
		"app;[stack ends: no_table];main;do_read_[k] 12\napp 3\nb;c;d 1\n";
	size_t len = strlen(text);

	for (size_t n = 0; n <= len; n++)
		free(again(text, n, -1));
	for (size_t bit = 0; bit < 8 * len; bit++) {
		char flipped[sizeof(text)];

		memcpy(flipped, text, sizeof(text));
		flipped[bit / 8] ^= 1 << bit % 8;
		free(again(flipped, len, -1));
	}
}
