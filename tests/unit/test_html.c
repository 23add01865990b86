// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html.h"

#include "tests/unit/cli_batch.h"

extern const unsigned char page_html[];
extern const unsigned long page_html_len;

static const struct profile_info info = {
	.host = "h<o>st", .kernel = "6.1", .machine = "x86_64",
	.command = "</script>",
	.account = { .taken = 10, .delivered = 7, .own = 1, .lost = 2, .known = 1,
		     .covered_ns = 80000000000, .missed_ns = 5000000, .reasons = "ring_full 2" },
};

static size_t occurrences(const char *s, size_t len, const char *what)
{
	size_t n = 0;

	for (const char *p = s; (p = memmem(p, len - (size_t)(p - s), what,
					    strlen(what))); p++)
		n++;
	return n;
}

TEST(html_holds_the_tree)
{
	static const char *const parts[] = {
		"\"host\":\"h\\u003co\\u003est\"", "\"frequency\":20,",
		"\"samples\":7,", "\"taken\":10,\"delivered\":7,\"own\":1,\"lost\":2,"
		"\"difference\":0,\"covered_ns\":80000000000,\"missed_ns\":5000000,\"reasons\":\"ring_full 2\"}",
		"\"duration_ms\":5000,",
		"\"app\",\"2 processes\"", "\"worker\",\"pid 12\"",
		/* app main evil do_read libfoo kworker kthread ... */
		"\"rows\":[0,0,0,1,0,0,2,0,0,3,0,3,4,2,2,8,3,0,9,0,1,5,2,0,"
		"6,0,0,7,0,1],",
		/* process (label), pid, tid; name, executable, container */
		"\"threads\":{\"names\":[\"app\",\"\",\"thread-7\",\"thread-8\","
		"\"c0ffee\",\"pool-1\",\"kworker\"],\"list\":[0,10,10,0,1,1,"
		"0,10,17,2,1,1,0,11,18,3,1,4,5,12,19,5,1,1,8,13,13,6,1,1]}",
		"\"times\":[0,0,0,1,0,2,0,2,0,2,0,4,0,3]}",
	};
	struct buffer out = { 0 };
	struct batch b;
	void *mem = sample_batch(&b);

	CHECK_EQ(html_encode(&b, &info, &out), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!memmem(out.data, out.len, parts[i], strlen(parts[i]))) {
			printf("# missing: %s\n", parts[i]);
			CHECK(false);
		}
	}
	free(out.data);
	free(mem);
}

TEST(html_has_whole_names_beside_short_ones)
{
	static const char want[] =
		"\"full\":[1,\"g.cold\",2,\"void a::f\\u003cint\\u003e(int)\"]";
	struct buffer out = { 0 };
	struct batch b;
	void *mem = mangled_batch(&b);

	CHECK_EQ(html_encode(&b, &info, &out), 0);
	CHECK_EQ(occurrences((char *)out.data, out.len, want), 1);
	CHECK_EQ(occurrences((char *)out.data, out.len, "\"a::f\\u003c...\\u003e\""), 1);
	free(out.data);
	free(mem);
}

/* Two threads of a process in one row, and one of them in another row. */
TEST(html_holds_times_by_row)
{
	static const char want[] = "\"times\":[10,1,1490,0,2500,0,1,1,20,0]}";
	const uint64_t start = 1700000000000000000, ms = 1000000;
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t a = frame(bb, BATCH_FRAME_NATIVE, "a", 0, 1);
	uint32_t z = frame(bb, BATCH_FRAME_NATIVE, "z", 0, 2);
	uint32_t p = process(bb, 7, "app", "app");
	struct buffer out = { 0 };
	struct batch b;
	size_t len;
	void *mem;

	event(bb, p, 7, "app", 0, &a, 1, start + 4000 * ms);
	event(bb, p, 7, "app", 0, &a, 1, start + 1500 * ms + 999999);
	event(bb, p, 8, "t", 0, &a, 1, start + 4001 * ms);
	event(bb, p, 8, "t", 0, &a, 1, start + 10 * ms);
	event(bb, p, 7, "app", 0, &z, 1, start + 20 * ms);
	CHECK_EQ(batch_builder_finish(bb, start, start + 5000 * ms, &mem, &len),
		 0);
	batch_builder_free(bb);
	CHECK_EQ(batch_open(mem, len, &b), 0);
	CHECK_EQ(html_encode(&b, &info, &out), 0);
	CHECK(memmem(out.data, out.len, want, strlen(want)));
	free(out.data);
	free(mem);
}

TEST(html_says_where_functions_are)
{
	static const char want[] =
		"\"files\":[\"root.c\",\"outer.c\",\"middle.c\",\"inner.c\"],"
		"\"lines\":[1,0,1,2,1,10,3,2,20,4,3,30]";
	/* rows: app root outer middle inner */
	static const char marks[] = "\"marks\":[3,1,1,1]";
	static const char none[] = "\"files\":[],\"lines\":[]";
	struct buffer out = { 0 };
	struct batch b;
	void *mem = inlined_batch(&b);

	CHECK_EQ(html_encode(&b, &info, &out), 0);
	CHECK_EQ(occurrences((char *)out.data, out.len, want), 1);
	CHECK_EQ(occurrences((char *)out.data, out.len, marks), 1);
	free(mem);
	out.len = 0;
	mem = sample_batch(&b);
	CHECK_EQ(html_encode(&b, &info, &out), 0);
	CHECK_EQ(occurrences((char *)out.data, out.len, none), 1);
	free(out.data);
	free(mem);
}

static void *empty_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	size_t len;
	void *mem;

	CHECK(b);
	CHECK_EQ(batch_builder_finish(b, 0, 0, &mem, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(mem, len, ret), 0);
	return mem;
}

/* Nothing ran: the time is that of the account, and not that of the epoch. */
TEST(html_of_no_samples_says_when_it_was)
{
	static const char want[] = "\"start_ms\":1700000000000,"
				   "\"duration_ms\":10000,";
	struct profile_info nothing = {
		.host = "host", .account = {
			.known = 1, .start_ns = 1700000000000000000,
			.end_ns = 1700000010000000000,
		},
	};
	struct buffer out = { 0 };
	struct batch b;
	void *mem = empty_batch(&b);

	CHECK_EQ(html_encode(&b, &nothing, &out), 0);
	CHECK(memmem(out.data, out.len, want, strlen(want)));
	free(out.data);
	free(mem);
}

TEST(html_adds_no_markup_to_the_page)
{
	static const char *const marks[] = { "</script", "<script", "<img",
					     "<!--", "@DATA@" };
	struct buffer out = { 0 };
	struct batch b;
	void *mem = sample_batch(&b);

	CHECK_EQ(html_encode(&b, &info, &out), 0);
	CHECK_EQ(occurrences((const char *)page_html, page_html_len, "@DATA@"),
		 1);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(occurrences((char *)out.data, out.len, marks[i]),
			 i == 4 ? 0 : occurrences((const char *)page_html,
						  page_html_len, marks[i]));
	free(out.data);
	free(mem);
}
