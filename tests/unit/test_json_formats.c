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

	/* nobody knows where they begin: a line of them */
	check_has(s, "{\"name\":\"root\",\"file\":\"root.c\",\"line\":1}");
	check_has(s, "{\"name\":\"inner\",\"file\":\"inner.c\",\"line\":30}");
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

TEST(speedscope_shows_all_processes_first)
{
	char *s = encoded(speedscope_encode, sample_batch);

	check_has(s, "\"profiles\":[\n{\"type\":\"sampled\",\"name\":\"all processes\","
		  "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":350000000,\n"
		  "\"samples\":[[16,0,1,2],[16,0,3],[17,9,4],[18,5]],\n"
		  "\"weights\":[150000000,100000000,50000000,50000000]}");
	check_has(s, "{\"name\":\"app\"},\n{\"name\":\"worker\"},\n{\"name\":\"kworker\"}");
	check_has(s, "\"name\":\"app (pid 10)\"");
	check_has(s, "\"activeProfileIndex\":0");
	free(s);
	s = encoded(speedscope_encode, inlined_batch);	/* one process */
	CHECK(!strstr(s, "all processes") && !strstr(s, "{\"name\":\"app\"}"));
	check_has(s, "\"activeProfileIndex\":0");
	free(s);
}

TEST(code_without_a_name_is_one_function_of_its_file)
{
	char *s = encoded(speedscope_encode, nameless_batch);

	check_has(s, "\"samples\":[[3,2,1,1,0]]");
	check_has(s, "{\"name\":\"libfoo.so+0x...\",\"file\":\"libfoo.so\"},\n{");
	free(s);
	s = encoded(firefox_encode, nameless_batch);
	check_has(s, "\"prefixOffset\":[0,1,1,1,1]");
	check_has(s, "\"func\":[0,1,2,3]");
	free(s);
}

TEST(firefox_keeps_threads_times_and_lines)
{
	char *s = encoded(firefox_encode, inlined_batch);

	check_has(s, "\"preprocessedProfileVersion\":70,");
	check_has(s, "\"stack\":[3],\n\"time\":[0.000100],\n\"threadCPUDelta\":[50000]");
	check_has(s, "\"frame\":[0,1,2,3],\n\"prefixOffset\":[0,1,1,1]");
	check_has(s, "\"inlineDepth\":[0,0,1,2],\n\"category\":[3,3,3,3]");
	check_has(s, "\"line\":[1,10,20,30]");
	check_has(s, "\"resource\":[0,0,0,0],\n\"source\":[0,1,2,3],\n\"lineNumber\":[null,");
	free(s);
	s = encoded(firefox_encode, sample_batch);
	check_has(s, "\"name\":\"thread-8\",\"isMainThread\":false,\"processName\":\"app (pid 11)\"");
	check_has(s, "\"name\":\"app\",\"isMainThread\":true,\"processName\":\"app (pid 10)\"");
	check_has(s, "\"pid\":\"11\",\"tid\":18");
	check_has(s, "\n\"do_read\",\n\"kernel\",");
	check_has(s, "\n\"[stack ends: no_table]\",");
	check_has(s, "\"misc\":\"a\\u0022b\\u0001\xef\xbf\xbd\"");
	free(s);
}

/* Three processes of pid 10, of which the last has a thread more, one of pid 0, and one of
 * pid 7: what was execed, or got its number again; or nobody knows any. */
static void *same_pids_batch(struct batch *ret)
{
	static const struct { uint32_t pid, tid; const char *name; } of[] = {
		{ 10, 10, "sh" }, { 7, 7, "seven" }, { 10, 10, "one" }, { 0, 0, "none" },
		{ 10, 10, "two" }, { 10, 11, "two" }, { 0, 0, "neither" },
	};
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "f", 0, 16);
	void *data;
	size_t len;

	for (uint32_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		event(b, process(b, of[i].pid, of[i].name, of[i].name), of[i].tid, of[i].name,
		      STOP_COMPLETE, &f, 1, 100 + i);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* The Firefox Profiler shows one main thread of each "pid". */
TEST(firefox_has_a_pid_for_each_process)
{
	static const char *const want[] = {
		"\"10\"", "\"7\"", "\"10.1\"", "\"0\"", "\"10.2\"", "\"10.2\"", "\"0.1\"",
	};
	char *s = encoded(firefox_encode, same_pids_batch), *at = s;

	for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		at = strstr(at, "\"pid\":");
		CHECK(at);
		at += strlen("\"pid\":");
		if (strncmp(at, want[i], strlen(want[i])))
			printf("# thread %u: %.8s\n", i, at);
		CHECK(!strncmp(at, want[i], strlen(want[i])));
	}
	CHECK(!strstr(at, "\"pid\":"));
	free(s);
}

/* f begins in line 5, runs in lines 7, 8 and, inlined into g and called, in 9. */
static void *lines_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_function f = { .name = str(b, "f"), .file = str(b, "f.c"),
				    .start_line = 5 };
	struct batch_function g = { .name = str(b, "g"), .file = str(b, "g.c") };
	uint32_t fn = batch_function(b, &f), gn = batch_function(b, &g);
	static const uint32_t line[] = { 7, 8, 40, 9, 9 };
	uint32_t p = process(b, 10, "app", "app"), v[5];
	void *data;
	size_t len;

	for (uint32_t i = 0; i < 5; i++) {
		struct batch_frame at = {
			.kind = BATCH_FRAME_NATIVE, .address = i < 2 || i == 4 ? i : 2,
			.function = i == 2 ? gn : fn,
			.line = line[i],
			.inlined = i == 3, .into = i == 3 ? v[2] : 0,
		};

		v[i] = batch_frame(b, &at);
	}
	for (uint32_t i = 0; i < 5; i++) {
		if (i != 2)
			event(b, p, 10, "app", STOP_COMPLETE, &v[i], 1, 100 + i);
	}
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* A function is one, wherever it is inlined; only Firefox has a line for each frame. */
TEST(functions_are_one_for_all_their_lines)
{
	char *s = encoded(speedscope_encode, lines_batch);

	check_has(s, "\"frames\":[\n"
		  "{\"name\":\"f\",\"file\":\"f.c\",\"line\":5},\n"
		  "{\"name\":\"g\",\"file\":\"g.c\",\"line\":40},\n"
		  "{\"name\":\"[");
	check_has(s, "\"samples\":[[0],[0],[1,0],[0]],\n"
		  "\"weights\":[50000000,50000000,50000000,50000000]");
	free(s);
	s = encoded(firefox_encode, lines_batch);
	check_has(s, "\"inlineDepth\":[0,0,0,1,0]");
	check_has(s, "\"func\":[0,0,1,0,0]");
	check_has(s, "\"line\":[7,8,40,9,9]");
	check_has(s, "\"name\":[0,2],");
	check_has(s, "\"lineNumber\":[5,null]");
	check_has(s, "\"stringArray\":[\n\"f\",\n\"f.c\",\n\"g\",\n\"g.c\"]");
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
