// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/firefox.h"
#include "profile/formats/speedscope.h"
#include "profile/timeline.h"

#include "tests/unit/cli_batch.h"

static const struct profile_info info = {
	.host = "a\"b\x01\xff", .kernel = "6.1", .machine = "x86_64",
};

typedef int encoder(const struct batch *, const struct profile_info *,
		    struct buffer *);

/* NUL-terminated, to be freed. */
static char *encoded(encoder *encode, void *(*make)(struct batch *))
{
	struct buffer out = { 0 };
	struct batch b;
	void *mem = make(&b);

	CHECK_EQ(encode(&b, &info, &out), 0);
	buffer_add(&out, "", 1);
	CHECK(!out.failed && strlen((char *)out.data) + 1 == out.len);
	free(mem);
	return (char *)out.data;
}

static void check_has(const char *text, const char *want)
{
	if (!strstr(text, want))
		printf("# not there: %s in %.200s\n", want, text);
	CHECK(strstr(text, want) != NULL);
}

TEST(speedscope_shows_what_is_inlined)
{
	char *s = encoded(speedscope_encode, inlined_batch);

	check_has(s, "{\"name\":\"root\",\"file\":\"root.c\"}");
	check_has(s, "\"name\":\"app (pid 10)\",\"unit\":\"nanoseconds\","
		  "\"startValue\":0,\"endValue\":50000000");
	check_has(s, "\"samples\":[[0,1,2,3]],\n\"weights\":[50000000]");
	free(s);
}

TEST(speedscope_merges_neighbours_and_escapes)
{
	char *s = encoded(speedscope_encode, sample_batch);

	check_has(s, "\"weights\":[50000000,100000000]");
	check_has(s, "\"name\":\"a\\u0022b\\u0001\xef\xbf\xbd\"");
	check_has(s, "alert(1)\\u003e;\\u0022\\u005c\\u000a\\u0009\\u0026");
	check_has(s, "{\"name\":\"[stack ends: no_table]\"}");
	free(s);
}

TEST(firefox_keeps_threads_times_and_lines)
{
	char *s = encoded(firefox_encode, inlined_batch);

	check_has(s, "[3,0.000100,0,50000]");
	check_has(s, "[0,false,0,null,1,null,3,0]");
	check_has(s, "[[null,0],[0,1],[1,2],[2,3]]");
	check_has(s, "\"inner (in app)\"");
	free(s);
	s = encoded(firefox_encode, sample_batch);
	check_has(s, "\"name\":\"thread-8\",\"processName\":\"app (pid 11)\"");
	check_has(s, "\"do_read (in kernel)\"");
	check_has(s, "\"misc\":\"a\\u0022b\\u0001\xef\xbf\xbd\"");
	free(s);
}

/* Frames of one look are one, whatever their addresses. */
TEST(timeline_sorts_events_and_merges_frames)
{
	struct timeline_event *v;
	struct batch b;
	void *mem = sample_batch(&b);
	uint32_t *same = timeline_frames(&b, false);
	size_t n;

	v = timeline_sort(&b, true, &n);
	CHECK_EQ(n, 7);
	for (size_t i = 1; i < n; i++)
		CHECK(v[i - 1].resource < v[i].resource ||
		      v[i - 1].tid < v[i].tid || v[i - 1].time <= v[i].time);
	for (uint32_t i = 0; i < batch_n(&b, BATCH_FRAMES); i++)
		CHECK_EQ(same[i], i);
	free(same);
	free(v);
	free(mem);
}
