// SPDX-License-Identifier: Apache-2.0
#include "exporterd/answer.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/harness.h"

/* partial_success { rejected_profiles: 3 error_message: "no" } */
static const uint8_t partial[] = {
	0x0a, 0x06, 0x08, 0x03, 0x12, 0x02, 'n', 'o'
};
/* code: 14 message: "busy" details { ... } */
static const uint8_t status[] = {
	0x08, 0x0e, 0x12, 0x04, 'b', 'u', 's', 'y', 0x1a, 0x02, 0x0a, 0x00
};

static struct answer judge(long code, const void *body, size_t len,
			   const char *retry_after)
{
	struct http_answer h = {
		.status = code, .error = "error text", .body = body, .len = len,
	};
	struct answer a;

	snprintf(h.retry_after, sizeof(h.retry_after), "%s", retry_after);
	answer_judge(&h, &a);
	return a;
}

TEST(answer_of_each_status)
{
	for (long s = 100; s < 600; s++) {
		bool again = s == 429 || s == 502 || s == 503 || s == 504;
		struct answer a = judge(s, NULL, 0, "");
		enum answer_verdict want = ANSWER_FINAL;

		if (again)
			want = ANSWER_RETRY;
		else if (s == 500)
			want = ANSWER_RETRY_FEW;
		else if (s / 100 == 2)
			want = ANSWER_ACCEPTED;
		else if (s == 413)
			want = ANSWER_TOO_LARGE;
		CHECK_EQ(a.verdict, want);
	}
}

TEST(answer_without_answer_is_tried_again)
{
	struct answer a = judge(0, NULL, 0, "");

	CHECK_EQ(a.verdict, ANSWER_RETRY);
	CHECK(strcmp(a.text, "error text") == 0);
}

TEST(answer_of_a_collector_to_a_large_request)
{
	/* code: 3 message: "http: request body too large" */
	static const char large[] =
		"\x08\x03\x12\x1chttp: request body too large";

	CHECK_EQ(judge(400, large, sizeof(large) - 1, "").verdict,
		 ANSWER_TOO_LARGE);
	CHECK_EQ(judge(403, large, sizeof(large) - 1, "").verdict, ANSWER_FINAL);
	CHECK_EQ(judge(400, "too large a hat", 15, "").verdict, ANSWER_FINAL);
}

TEST(answer_empty_partial_success_is_full_success)
{
	struct answer a = judge(200, "\x0a\x00", 2, "");

	CHECK_EQ(a.verdict, ANSWER_ACCEPTED);
	CHECK_EQ(a.rejected, 0);
	CHECK(a.text[0] == '\0');
	/* a warning: nothing rejected, something said */
	a = judge(200, "\x0a\x04\x12\x02hm", 6, "");
	CHECK_EQ(a.verdict, ANSWER_ACCEPTED);
	CHECK(strcmp(a.text, "hm") == 0);
}

TEST(answer_partial_success_is_counted)
{
	struct answer a = judge(200, partial, sizeof(partial), "");

	CHECK_EQ(a.verdict, ANSWER_PARTIAL);
	CHECK_EQ(a.rejected, 3);
	CHECK(strcmp(a.text, "no") == 0);
	/* a negative number is not believed */
	a = judge(200, "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		  13, "");
	CHECK_EQ(a.verdict, ANSWER_ACCEPTED);
	CHECK_EQ(a.rejected, 0);
}

TEST(answer_retry_after_only_where_it_counts)
{
	struct answer a = judge(503, NULL, 0, "7");

	CHECK_EQ(a.wait_ns, 7000000000ULL);
	a = judge(503, NULL, 0, "later");
	CHECK_EQ(a.wait_ns, 0);
	CHECK_EQ(a.verdict, ANSWER_RETRY);
	a = judge(400, NULL, 0, "7");
	CHECK_EQ(a.wait_ns, 0);
	CHECK_EQ(a.verdict, ANSWER_FINAL);
}

TEST(answer_tells_the_receivers_words_in_plain_letters)
{
	struct answer a = judge(503, status, sizeof(status), "");

	CHECK(strcmp(a.text, "busy") == 0);
	a = judge(404, "404 page\n", 9, "");
	CHECK(strcmp(a.text, "404 page\\x0a") == 0);
}

/* Of a body that was cut off the text is not known, but the status is: a gateway's page
 * may be large. */
TEST(answer_too_large_is_judged_by_its_status)
{
	for (long s = 100; s < 600; s++) {
		struct http_answer h = {
			.status = s, .error = "", .too_large = true, .retry_after = "7",
		};
		struct answer a, whole = judge(s, NULL, 0, "7");

		answer_judge(&h, &a);
		CHECK_EQ(a.wait_ns, whole.wait_ns);
		if (s / 100 == 2) {
			CHECK_EQ(a.verdict, ANSWER_FINAL);
			CHECK(a.text[0]);
		} else {
			CHECK_EQ(a.verdict, whole.verdict);
		}
	}
}

static void feed(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct answer a = { .rejected = 65 };

	CHECK(copy);
	memcpy(copy, data, len);
	if (answer_parse_success(copy, len, &a) == -EPROTO)
		CHECK_EQ(a.rejected, 65);
	(void)answer_parse_status(copy, len, &a);
	CHECK(memchr(a.text, 0, sizeof(a.text)));
	free(copy);
}

TEST(answer_survives_every_truncation_and_bit_flip)
{
	static const struct { const uint8_t *p; size_t n; } samples[] = {
		{ partial, sizeof(partial) }, { status, sizeof(status) } };

	for (int s = 0; s < 2; s++) {
		uint8_t copy[32];

		for (size_t n = 0; n <= samples[s].n; n++)
			feed(samples[s].p, n);
		for (size_t bit = 0; bit < 8 * samples[s].n; bit++) {
			memcpy(copy, samples[s].p, samples[s].n);
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			feed(copy, samples[s].n);
		}
	}
}
