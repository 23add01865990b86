// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/decode.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "profile/formats/folded.h"
#include "tests/unit/harness.h"
#include "tests/unit/viewer_request.h"

static struct viewer_names names;

static int decode_within(const void *data, size_t len,
			 struct decode_limits limits, struct decoded *ret)
{
	const struct decode_in in = {
		.data = data, .len = len, .oldest_ns = 10, .newest_ns = 1000,
		.names = &names, .limits = limits,
	};

	return decode_request(&in, ret);
}

static int decode(const void *data, size_t len, struct decoded *ret)
{
	return decode_within(data, len, (struct decode_limits)DECODE_LIMITS,
			     ret);
}

/* As folded stacks; frees what was decoded. */
static void check_folded(struct decoded *d, const char *want)
{
	struct buffer w = { 0 };
	struct batch b;

	CHECK(d->data != NULL);
	CHECK_EQ(batch_open(d->data, d->len, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_TIMES), d->events);
	CHECK_EQ(folded_encode(&b, NULL, &w), 0);
	buffer_add(&w, "", 1);
	if (strcmp((char *)w.data, want))
		printf("# got:\n%s# want:\n%s", w.data, want);
	CHECK(!strcmp((char *)w.data, want));
	free(w.data);
	free(d->data);
}

TEST(viewer_decodes_what_exporterd_encodes)
{
	struct decoded d;
	struct batch b;
	size_t len;
	uint8_t *q = sample_request(&len);

	memset(&names, 0, sizeof(names));
	CHECK_EQ(decode(q, len, &d), 0);
	CHECK_EQ(d.events, 7);
	CHECK_EQ(d.rejected, 0);
	CHECK_EQ(d.frequency, 20);
	CHECK_EQ(batch_open(d.data, d.len, &b), 0);
	CHECK_EQ(b.hdr->start_ns, 100);
	CHECK_EQ(b.hdr->end_ns, 701);
	check_folded(&d,
		"app;main;</script><img src=x onerror=alert(1)>:\"\\??&;do_read_[k] 3\n"
		"app;main;libfoo.so+0x... 2\n"
		"kworker;kthread_[k] 1\n"
		"worker;[stack ends: no_table];goexit 1\n");
	free(q);
}

TEST(viewer_knows_how_stacks_ended)
{
	const struct sample_spec v[] = {
		{ .stack = 1, .attrs = { 6 }, .n_attrs = 1, .values = { 2 },
		  .n_values = 1 },
		{ .stack = 1, .attrs = { 7 }, .n_attrs = 1, .values = { 3 },
		  .n_values = 1 },
		{ .stack = 1, .values = { 4 }, .n_values = 1 },
	};
	struct buffer w = { 0 };
	struct decoded d;

	put_profile_of(&w, v, 3, 8, 0, 100, 300);
	put_dictionary(&w);
	CHECK_EQ(decode(w.data, w.len, &d), 0);
	check_folded(&d, "[unknown process];[stack ends: no_row];outer;inner 2\n"
		     "[unknown process];outer;inner 7\n");
	free(w.data);
}

/* What a file says of its host goes into pages and pprof. */
TEST(viewer_keeps_host_and_kernel)
{
	char host[80];
	const char *pairs[] = { "host.name", host, "os.version", "6.1\xff.2", NULL };
	const struct otlp_how extra = { .pairs = pairs };
	struct decoded d;
	struct batch b;
	void *data = sample_batch(&b);
	uint8_t *q;
	size_t len;

	memset(host, 'h', 63);
	memcpy(host + 63, "\xc3\xa4x", 4);	/* a character is not cut in two */
	memset(&names, 0, sizeof(names));
	CHECK_EQ(otlp_encode(&b, &extra, &q, &len), 0);
	CHECK_EQ(decode(q, len, &d), 0);
	CHECK_EQ(strlen(d.host), 63);
	CHECK_EQ(strspn(d.host, "h"), 63);
	CHECK_STR(d.kernel, "6.1" UTF8_REPLACEMENT ".2");
	free(d.data);
	free(q);
	free(data);
}

TEST(viewer_decodes_inlined_calls)
{
	struct batch b;
	void *data = inlined_batch(&b);
	struct decoded d;
	size_t len;
	uint8_t *q = request_of(&b, &len);

	memset(&names, 0, sizeof(names));
	CHECK_EQ(decode(q, len, &d), 0);
	check_folded(&d, "app;root;outer;middle;inner 1\n");
	free(q);
	free(data);
}

/* What stands for code without a name is no name of it. */
TEST(viewer_knows_placeholders)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t exe = batch_exe(b, &(struct batch_exe){
		.path = str(b, "/lib/x"), .build_id = str(b, "abcd") });
	uint32_t range = batch_function(b, &(struct batch_function){
		.name = str(b, "x!0x1f0"), .unnamed = 1 });
	uint32_t other = batch_function(b, &(struct batch_function){
		.name = str(b, "x!0xyz") });
	uint32_t stack[] = {
		batch_frame(b, &(struct batch_frame){ .kind = BATCH_FRAME_NATIVE,
			.exe = exe, .address = 16, .function = range }),
		frame(b, BATCH_FRAME_NATIVE, NULL, exe, 32),
		batch_frame(b, &(struct batch_frame){ .kind = BATCH_FRAME_NATIVE,
			.exe = exe, .address = 48, .function = other }),
		frame(b, BATCH_FRAME_UNKNOWN, NULL, 0, 64),
		frame(b, BATCH_FRAME_CUT, NULL, 0, 0),
	};
	struct batch made, got;
	struct decoded d;
	size_t len;
	uint8_t *q;
	void *data;

	event(b, process(b, 9, "x", NULL), 10, "x", STOP_COMPLETE, stack, 5, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 5000, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, &made), 0);
	q = request_of(&made, &len);
	memset(&names, 0, sizeof(names));
	CHECK_EQ(decode(q, len, &d), 0);
	CHECK_EQ(batch_open(d.data, d.len, &got), 0);
	for (uint32_t i = 0; i < 5; i++) {
		const struct batch_frame *f = &got.frames[got.stack_frames[i]];

		CHECK_EQ(f->function != 0, i == 0 || i == 2);
		CHECK_EQ(got.functions[f->function].unnamed, i == 0);
		CHECK_EQ(f->exe != 0, i < 3);
		CHECK_EQ(f->address, i < 4 ? 16 * (i + 1) : 0);
	}
	check_folded(&d, "x;[frames missing];[JIT code, no names];x!0xyz;x+0x...;x!0x1f0 1\n");
	free(q);
	free(data);
}

TEST(viewer_shows_short_names_and_keeps_the_others)
{
	static const char *const want[][3] = {
		{ "a::f<...>", "void a::f<int>(int)", "_Z1f" },
		{ "g", "g.cold", "g.cold" },
	};
	struct batch b, got;
	void *data = mangled_batch(&b);
	struct decoded d;
	size_t len;
	uint8_t *q = request_of(&b, &len);

	memset(&names, 0, sizeof(names));
	CHECK_EQ(decode(q, len, &d), 0);
	CHECK_EQ(batch_open(d.data, d.len, &got), 0);
	for (int i = 0; i < 2; i++) {
		const struct batch_function *f =
			&got.functions[got.frames[got.stack_frames[i]].function];
		uint32_t v[] = { f->name, batch_full_name(f),
				 batch_system_name(f) };

		for (int k = 0; k < 3; k++) {
			size_t n;
			const char *s = batch_str(&got, v[k], &n);

			CHECK(n == strlen(want[i][k]) &&
			      !memcmp(s, want[i][k], n));
		}
	}
	check_folded(&d, "app;g;a::f<...> 1\n");
	free(q);
	free(data);
}

/* One name in code of several kinds: each has a short form of its own. */
TEST(viewer_shortens_names_as_their_kinds_do)
{
	static const uint16_t kinds[] = {
		BATCH_FRAME_NATIVE, BATCH_FRAME_JIT, BATCH_FRAME_GO, BATCH_FRAME_JVM,
		BATCH_FRAME_PYTHON, BATCH_FRAME_KERNEL,
	};
	struct batch_builder *builder = batch_builder_new(20);
	struct batch_function fn = { .name = str(builder, "$Proxy9.cold") };
	uint32_t stack[6], function = batch_function(builder, &fn);
	struct decoded d;
	struct batch b;
	void *data;
	size_t len;
	uint8_t *q;

	for (uint32_t i = 0; i < 6; i++)
		stack[i] = batch_frame(builder, &(struct batch_frame){
			.kind = kinds[i], .address = 16 * i, .function = function });
	event(builder, process(builder, 10, "app", "app"), 10, "app", STOP_COMPLETE, stack, 6,
	      100);
	CHECK_EQ(batch_builder_finish(builder, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(builder);
	CHECK_EQ(batch_open(data, len, &b), 0);
	q = request_of(&b, &len);
	memset(&names, 0, sizeof(names));
	CHECK_EQ(decode(q, len, &d), 0);
	check_folded(&d, "app;$Proxy9_[k];$Proxy9.cold;$Proxy.cold;$Proxy9.cold;$Proxy9.cold;$Proxy9 1\n");
	free(q);
	free(data);
}

/* pid and thread on the sample, an interpreter's frames, no time stamps. */
TEST(viewer_decodes_other_profilers)
{
	const struct sample_spec v[] = {
		{ .stack = 1, .attrs = { 3, 4, 5 }, .n_attrs = 3,
		  .values = { 3 }, .n_values = 1 },
		{ .stack = 0, .attrs = { 3 }, .n_attrs = 1, .values = { 1 },
		  .n_values = 1 },
	};
	struct buffer w = { 0 };
	struct decoded d;
	struct batch b;

	memset(&names, 0, sizeof(names));
	put_profile_of(&w, v, 2, 8, 0, 100, 300);
	put_dictionary(&w);
	CHECK_EQ(decode(w.data, w.len, &d), 0);
	CHECK_EQ(batch_open(d.data, d.len, &b), 0);
	CHECK_EQ(b.hdr->start_ns, 100);
	CHECK_EQ(b.hdr->end_ns, 301);
	for (uint32_t i = 0; i < batch_n(&b, BATCH_FRAMES); i++) {
		size_t n;
		const char *s = batch_str(&b, b.functions[b.frames[i].function]
					      .name, &n);

		if (n == 5 && !memcmp(s, "inner", n))
			CHECK_EQ(b.frames[i].kind, BATCH_FRAME_JVM);
		if (n == 5 && !memcmp(s, "outer", n))
			CHECK_EQ(b.frames[i].kind, BATCH_FRAME_NATIVE);
	}
	check_folded(&d, "main-thread;[frames missing] 1\n"
		     "main-thread;outer;inner 3\n");
	free(w.data);
}

TEST(viewer_counts_values_in_nanoseconds_by_the_period)
{
	const struct sample_spec v[] = {
		{ .stack = 1, .values = { 40, 4 }, .n_values = 2 },
		{ .stack = 1, .values = { 34, 35 }, .n_values = 2 },	/* 3 and 4 */
	};
	struct buffer w = { 0 };
	struct decoded d;

	put_profile_of(&w, v, 2, 7, 10, 100, 300);
	put_dictionary(&w);
	CHECK_EQ(decode(w.data, w.len, &d), 0);
	check_folded(&d, "[unknown process];outer;inner 11\n");
	free(w.data);
}

TEST(viewer_rejects_times_out_of_its_range)
{
	const struct sample_spec v[] = {
		{ .stack = 1, .times = { 9, 10, 999, 1000 }, .n_times = 4 },
		{ .stack = 1, .times = { UINT64_MAX }, .n_times = 1 },
	};
	struct buffer w = { 0 };
	struct decoded d;

	put_profile_of(&w, v, 2, 8, 0, 0, 0);
	put_dictionary(&w);
	CHECK_EQ(decode(w.data, w.len, &d), 0);
	CHECK_EQ(d.rejected, 3);
	CHECK_EQ(d.events, 2);
	check_folded(&d, "[unknown process];outer;inner 2\n");
	free(w.data);
}

TEST(viewer_refuses_more_samples_than_it_stores)
{
	struct sample_spec v = { .stack = 1, .values = { 1u << 21 },
				 .n_values = 1 };
	struct buffer w = { 0 };
	struct decoded d;

	put_profile_of(&w, &v, 1, 8, 0, 100, 300);
	put_dictionary(&w);
	CHECK_EQ(decode(w.data, w.len, &d), -E2BIG);
	CHECK(!d.data);
	free(w.data);
}

/* A recording (cli/convert) has more than a request by HTTP. */
TEST(viewer_decodes_as_much_as_its_caller_wants)
{
	struct decode_limits l = DECODE_LIMITS;
	struct sample_spec v = { .stack = 1, .values = { 1u << 21 },
				 .n_values = 1 };
	struct buffer w = { 0 };
	struct decoded d;

	put_profile_of(&w, &v, 1, 8, 0, 100, 300);
	put_dictionary(&w);
	l.events = 1u << 21;
	CHECK_EQ(decode_within(w.data, w.len, l, &d), 0);
	CHECK_EQ(d.events, 1u << 21);
	free(d.data);
	l.events--;
	CHECK_EQ(decode_within(w.data, w.len, l, &d), -E2BIG);
	l.events++;
	l.body = w.len;
	CHECK_EQ(decode_within(w.data, w.len, l, &d), 0);
	free(d.data);
	l.body--;
	CHECK_EQ(decode_within(w.data, w.len, l, &d), -E2BIG);
	free(w.data);
}

TEST(viewer_knows_a_process_by_its_leader_of_before)
{
	struct sample_spec v = { .stack = 1, .attrs = { 3, 4, 5 }, .n_attrs = 3,
				 .times = { 100 }, .n_times = 1 };
	struct decoded d;

	memset(&names, 0, sizeof(names));
	for (int i = 0; i < 2; i++) {
		struct buffer w = { 0 };

		put_profile_of(&w, &v, 1, 8, 0, 0, 0);
		put_dictionary(&w);
		CHECK_EQ(decode(w.data, w.len, &d), 0);
		check_folded(&d, "main-thread;outer;inner 1\n");
		free(w.data);
		v.n_attrs = 1;		/* the process only */
	}
}

/* An index behind the end of each table. */
TEST(viewer_refuses_each_bad_index)
{
	static const struct sample_spec stack = {
		.stack = 2, .times = { 100 }, .n_times = 1 };
	static const struct sample_spec attr = {
		.stack = 1, .attrs = { 8 }, .n_attrs = 1, .times = { 100 },
		.n_times = 1 };
	const struct sample_spec *const bad[] = { &stack, &attr };
	struct decoded d;

	for (int i = 0; i < 2; i++) {
		struct buffer w = { 0 };

		put_profile_of(&w, bad[i], 1, 8, 0, 0, 0);
		put_dictionary(&w);
		CHECK_EQ(decode(w.data, w.len, &d), -EPROTO);
		free(w.data);
	}
}

/* Lists in lists, deeper than any stack of calls. */
TEST(viewer_is_not_led_into_the_depths)
{
	enum { DEPTH = 200000 };
	uint8_t *p = malloc(DEPTH * 12), *at = p + DEPTH * 12;
	struct decoded d;
	size_t len = 0;

	CHECK(p != NULL);
	/* from the innermost: { array_value (5) { values (1) { ... } } } */
	for (int i = 0; i < DEPTH; i++) {
		for (int field = 1; field <= 5; field += 4) {
			uint8_t head[6], n = 0;
			size_t v = len;

			head[n++] = (uint8_t)(field << 3 | 2);
			for (; v > 127; v >>= 7)
				head[n++] = (uint8_t)v | 0x80;
			head[n++] = (uint8_t)v;
			at -= n;
			memcpy(at, head, n);
			len += n;
		}
	}
	{
		struct buffer w = { 0 };
		size_t rp = pb_begin(&w, 1), r = pb_begin(&w, 1);
		size_t kv = pb_begin(&w, 1);

		pb_bytes(&w, 2, at, len);
		pb_end(&w, kv);
		pb_end(&w, r);
		pb_end(&w, rp);
		CHECK_EQ(decode(w.data, w.len, &d), 0);
		CHECK(!d.data);
		free(w.data);
	}
	free(p);
}

/* Many empty messages take more memory than bytes: up to the limit only. */
TEST(viewer_bounds_what_messages_take)
{
	enum { N = 1 << 20 };
	uint8_t *p = calloc(1, 2 * N);
	struct decoded d;

	CHECK(p != NULL);
	for (size_t i = 0; i < N; i++)
		p[2 * i] = 1 << 3 | 2;
	CHECK_EQ(decode_within(p, 2 * N, (struct decode_limits){
			       DECODE_BODY_MAX, 16 << 20, 1 << 20 }, &d), -E2BIG);
	CHECK_EQ(decode(p, 2 * N, &d), 0);
	free(p);
}

/* The least that a request may take. */
static size_t least_memory(const struct buffer *w)
{
	size_t low = 0, high = 16 << 20;
	struct decoded d;

	while (low < high) {
		size_t limit = (low + high) / 2;
		int r = decode_within(w->data, w->len, (struct decode_limits){
				      DECODE_BODY_MAX, limit, 1 << 20 }, &d);

		CHECK(r == 0 || r == -E2BIG);
		if (r)
			low = limit + 1;
		else
			high = limit;
	}
	return low;
}

/* What malloc() needs for itself counts: of N strings of a byte it is most.  As many
 * numbers have as many members, and no memory of their own. */
TEST(viewer_counts_what_small_pieces_cost)
{
	enum { N = 4096 };
	struct buffer strings = { 0 }, numbers = { 0 };
	size_t dictionary = pb_begin(&strings, 2), stack;

	for (int i = 0; i < N; i++)
		put_text(&strings, 5, "x");
	pb_end(&strings, dictionary);
	dictionary = pb_begin(&numbers, 2);
	stack = pb_begin(&numbers, 7);
	for (int i = 0; i < N; i++)
		pb_uint(&numbers, 1, 1);
	pb_end(&numbers, stack);
	pb_end(&numbers, dictionary);
	/* a string's place and byte, and 16; less a number's place */
	CHECK(least_memory(&strings) - least_memory(&numbers) >=
	      N * (sizeof(void *) + sizeof(size_t) + 1 + 16 - sizeof(int32_t)) - 200);
	free(strings.data);
	free(numbers.data);
}

TEST(viewer_survives_every_limit_of_memory)
{
	struct decoded d = { 0 };
	size_t len, memory = 0;
	uint8_t *q = sample_request(&len);
	int r;

	while ((r = decode_within(q, len, (struct decode_limits){
			DECODE_BODY_MAX, memory, 1 << 20 }, &d)) == -E2BIG)
		memory += 16;
	CHECK_EQ(r, 0);
	CHECK(memory > 1000);
	free(d.data);
	free(q);
}

/* Whatever comes, it is refused or becomes a batch that is valid. */
static int judge(const uint8_t *data, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);
	struct decoded d;
	struct batch b;
	int r;

	CHECK(exact != NULL);
	memcpy(exact, data, len);
	r = decode(exact, len, &d);
	free(exact);
	CHECK(r == 0 || r == -EPROTO || r == -E2BIG);
	if (d.data)
		CHECK_EQ(batch_open(d.data, d.len, &b), 0);
	CHECK(r == 0 || !d.data);
	free(d.data);
	return r;
}

TEST(viewer_survives_every_truncation)
{
	size_t len, refused = 0;
	uint8_t *q = sample_request(&len);

	for (size_t i = 0; i < len; i++)
		refused += judge(q, i) != 0;
	CHECK(refused > len / 2);
	free(q);
}

TEST(viewer_survives_every_flip_of_a_bit)
{
	size_t len, refused = 0;
	uint8_t *q = sample_request(&len);

	for (size_t i = 0; i < 8 * len; i++) {
		q[i / 8] ^= (uint8_t)(1 << i % 8);
		refused += judge(q, len) != 0;
		q[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	CHECK(refused > len);
	free(q);
}
