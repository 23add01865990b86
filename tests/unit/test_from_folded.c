// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/from_folded.h"

#include <errno.h>
#include <inttypes.h>

#include "profile/formats/folded.h"
#include "tests/unit/cli_batch.h"

static struct folded_mistake m;
static uint64_t each;

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
	r = from_folded(copy, len, 99, &m, &data, &n, &each);
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

	CHECK_EQ(from_folded(text, strlen(text), 99, &m, &data, &n, &each), 0);
	CHECK_EQ(batch_open(data, n, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_SAMPLES), 1);
	CHECK_EQ(b.samples[0].stop, STOP_NO_TABLE);
	CHECK_EQ(b.stacks[b.samples[0].stack].n, 1);
	free(data);
}

/* As many as a recording has at most: each is one, also where each has a stack of its own. */
TEST(as_many_samples_as_a_recording)
{
	char text[64];

	snprintf(text, sizeof(text), "a;b %u\na;c 1\n", FROM_FOLDED_SAMPLES_MAX - 1000);
	check_again(text, text);
	CHECK_EQ(each, 1);
}

/* Microseconds, cycles, bytes: each stack keeps its share. */
TEST(more_samples_than_a_recording_are_scaled)
{
	uint64_t b, c;
	char *got;

	check_again("web;main;parse 1200000\nweb;main;render 900000\n",
		    "web;main;parse 1200000\nweb;main;render 900000\n");
	got = again("a;b 6917529027641081856\na;c 2305843009213693951\n", 48, 0);
	CHECK_EQ(sscanf(got, "a;b %" SCNu64 "\na;c %" SCNu64 "\n", &b, &c), 2);
	CHECK(b + c <= FROM_FOLDED_SAMPLES_MAX && b + c > FROM_FOLDED_SAMPLES_MAX / 4);
	CHECK(b <= 3 * c + 3 && b + 3 >= 3 * c);
	CHECK(each > 1);
	free(got);
	/* many rare ones are some, not none */
	{
		struct buffer many = { 0 };
		uint64_t sum = 0;

		buffer_printf(&many, "a;often %u\n", 7 * FROM_FOLDED_SAMPLES_MAX);
		for (int i = 0; i < 8000; i++)
			buffer_printf(&many, "a;x%d 1\n", i);
		got = again((char *)many.data, many.len, 0);
		for (char *p = got; (p = strstr(p, "a;x")); p++)
			sum++;
		CHECK(each >= 8);
		CHECK(sum >= 8000 / each - 1 && sum <= 8000 / each + 1);
		free(got);
		free(many.data);
	}
	CHECK(!again("", 0, 1));
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
