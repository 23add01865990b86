// SPDX-License-Identifier: Apache-2.0
/*
 * What hostile recordings and requests cost: the time of each reader grows at
 * most as n log n.
 */
#include <errno.h>

#include "cli/convert/folded_read.h"
#include "tests/unit/complexity.h"
#include "tests/unit/viewer_request.h"
#include "viewer/server/decode_frames.h"
#include "viewer/server/lanes.h"

/* --- folded stacks ------------------------------------------------------------------- */

static uint64_t folded(struct buffer *text)
{
	uint64_t begin = complexity_ns();
	struct folded_mistake m;
	struct folded_tree t;

	CHECK(!text->failed);
	CHECK_EQ(folded_init(&t), 0);
	CHECK_EQ(folded_read(&t, 0, (char *)text->data, text->len, &m), 0);
	CHECK_EQ(folded_sort(&t), 0);
	folded_fini(&t);
	begin = complexity_ns() - begin;
	free(text->data);
	return begin;
}

/* Many children of one frame, in the order that is worst for a list. */
static uint64_t folded_wide(size_t n)
{
	struct buffer text = { 0 };

	for (size_t i = n; i; i--)
		buffer_printf(&text, "a;%08zu 1\n", i);
	return folded(&text);
}

/* Stacks as deep as there may be, that share all but their ends. */
static uint64_t folded_deep(size_t n)
{
	struct buffer text = { 0 };

	for (size_t i = 0; i < n / 500; i++) {
		for (size_t k = 0; k < 500; k++)
			buffer_str(&text, "f;");
		buffer_printf(&text, "%zu 1\n", i);
	}
	return folded(&text);
}

TEST(folded_stacks)
{
	CHECK(complexity_growth(folded_wide, 4000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(folded_deep, 20000) < COMPLEXITY_MAX);
}

/* --- batches ------------------------------------------------------------------------- */

static uint64_t merge(struct batch_builder *from)
{
	struct batch_builder *b = batch_builder_new(20);
	uint64_t begin;
	struct batch in;
	void *data, *out;
	size_t len;

	CHECK_EQ(batch_builder_finish(from, 0, 5000000000, &data, &len), 0);
	begin = complexity_ns();
	CHECK_EQ(batch_open(data, len, &in), 0);
	batch_merge(b, &in);
	batch_merge(b, &in);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000, &out, &len), 0);
	begin = complexity_ns() - begin;
	batch_builder_free(from);
	batch_builder_free(b);
	free(data);
	free(out);
	return begin;
}

/* Stacks that differ in their last frame, events in the worst order. */
static uint64_t batch_of_stacks(size_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 1, "app", "app"), v[100];

	for (size_t k = 0; k < 100; k++)
		v[k] = frame(b, BATCH_FRAME_KERNEL, "f", 0, k);
	for (size_t i = 0; i < n; i++) {
		v[0] = frame(b, BATCH_FRAME_KERNEL, "f", 0, 1000 + i);
		event(b, p, 1, "t", STOP_COMPLETE, v, 100, 1 + n - i);
	}
	return merge(b);
}

/* One stack, many events. */
static uint64_t batch_of_events(size_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 1, "app", "app");
	uint32_t v = frame(b, BATCH_FRAME_KERNEL, "f", 0, 1);

	for (size_t i = 0; i < n; i++)
		event(b, p, 1, "t", STOP_COMPLETE, &v, 1, 1 + (i * 7919) % n);
	return merge(b);
}

TEST(batches)
{
	CHECK(complexity_growth(batch_of_stacks, 1000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(batch_of_events, 5000) < COMPLEXITY_MAX);
}

/* --- OTLP ---------------------------------------------------------------------------- */

static uint64_t decode(struct buffer *w)
{
	static struct viewer_names names;
	struct decode_in in = {
		.data = w->data, .len = w->len, .newest_ns = UINT64_MAX / 2,
		.names = &names, .limits = DECODE_LIMITS,
	};
	uint64_t begin = complexity_ns();
	struct decoded d;
	int r;

	CHECK(!w->failed);
	r = decode_request(&in, &d);
	begin = complexity_ns() - begin;
	CHECK(r == 0 || r == -EPROTO || r == -E2BIG);
	free(d.data);
	free(w->data);
	return begin;
}

/* Samples of one stack, each of another time. */
static uint64_t otlp_samples(size_t n)
{
	struct sample_spec *v = calloc(n, sizeof(*v));
	struct buffer w = { 0 };

	put_dictionary(&w);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct sample_spec){
			.stack = 1, .attrs = { 3 + i % 3 }, .n_attrs = 1,
			.times = { 1 + (i * 7919) % n }, .n_times = 1,
		};
	put_profile_of(&w, v, n, 8, 0, 0, 1);
	free(v);
	return decode(&w);
}

/* One dictionary in n pieces, each with a string: a reader has to join them. */
static uint64_t otlp_pieces(size_t n)
{
	struct buffer w = { 0 };

	for (size_t i = 0; i < n; i++) {
		size_t d = pb_begin(&w, 2);

		put_text(&w, 5, "s");
		pb_end(&w, d);
	}
	return decode(&w);
}

/* A mapping with n attributes whose value is as long as may be. */
static uint64_t otlp_attributes(size_t n)
{
	char *text = calloc(1, FRAMES_TEXT_MAX + 1);
	uint32_t *v = calloc(n, sizeof(*v)), one = 1;
	struct buffer w = { 0 };
	size_t d = pb_begin(&w, 2), at;

	memset(text, 'x', FRAMES_TEXT_MAX);
	put_text(&w, 5, "");
	put_text(&w, 5, "process.executable.build_id.gnu");
	put_attr(&w, 1, text, 0);
	for (int i = 0; i < 2; i++) {
		at = pb_begin(&w, 1);
		pb_packed(&w, 5, v, n);
		pb_end(&w, at);
		at = pb_begin(&w, 2);
		pb_uint(&w, 1, i);
		pb_end(&w, at);
		at = pb_begin(&w, 7);
		pb_packed(&w, 1, &one, i);
		pb_end(&w, at);
	}
	pb_end(&w, d);
	put_profile_of(&w, &(struct sample_spec){ .stack = 1, .times = { 5 },
						  .n_times = 1 }, 1, 0, 0, 0, 1);
	free(text);
	free(v);
	return decode(&w);
}

TEST(otlp_requests)
{
	CHECK(complexity_growth(otlp_samples, 2000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(otlp_attributes, 2000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(otlp_pieces, 4000) < COMPLEXITY_MAX);
}

/* --- lanes --------------------------------------------------------------------------- */

static uint64_t lanes(struct batch_builder *b)
{
	const struct query q = { .from_ns = 0, .to_ns = 5000000000 };
	struct buffer out = { 0 };
	struct store s;
	uint64_t begin;
	void *data;
	size_t len;

	CHECK_EQ(batch_builder_finish(b, 0, 5000000000, &data, &len), 0);
	batch_builder_free(b);
	store_init(&s, 1 << 30, 3600000000000);
	CHECK_EQ(store_add(&s, data, len, 5000000000), 0);
	begin = complexity_ns();
	CHECK_EQ(lanes_encode(&s, &q, 500, 100, &out), 0);
	begin = complexity_ns() - begin;
	free(out.data);
	store_fini(&s);
	return begin;
}

/* A thread for each event, and each runs something else. */
static uint64_t lanes_of_threads(size_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 1, "app", "app");

	for (size_t i = 0; i < n; i++) {
		uint32_t v = frame(b, BATCH_FRAME_KERNEL, "f", 0, i);

		event(b, p, (uint32_t)(n - i), "t", STOP_COMPLETE, &v, 1,
		      1 + i * 7919 % n);
	}
	return lanes(b);
}

/* One thread with functions without end, all in one stretch of time. */
static uint64_t lanes_of_functions(size_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 1, "app", "app");
	char name[32];

	for (size_t i = 0; i < n; i++) {
		uint32_t v;

		snprintf(name, sizeof(name), "f%zu", i);
		v = frame(b, BATCH_FRAME_NATIVE, name, 0, i);
		event(b, p, 1, "t", STOP_COMPLETE, &v, 1, 1 + i);
	}
	return lanes(b);
}

TEST(lanes_of_a_range)
{
	CHECK(complexity_growth(lanes_of_threads, 4000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(lanes_of_functions, 4000) < COMPLEXITY_MAX);
}

/* --- time ---------------------------------------------------------------------------- */

static void at_minute(struct store *s, uint64_t minute)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 1, "app", "app"), v = frame(b, BATCH_FRAME_KERNEL, "f", 0, 1);
	uint64_t ns = minute * 60000000000;
	void *data;
	size_t len;

	event(b, p, 1, "t", STOP_COMPLETE, &v, 1, ns);
	CHECK_EQ(batch_builder_finish(b, ns, ns + 1, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(store_add(s, data, len, ns + 1), 0);
}

/* Nothing came for so many minutes, or the clock was set. */
static uint64_t store_after_minutes(size_t n)
{
	struct store s;
	uint64_t begin;

	store_init(&s, 1 << 30, UINT64_MAX);
	at_minute(&s, 1000);
	begin = complexity_ns();
	at_minute(&s, 1000 + n);
	begin = complexity_ns() - begin;
	store_fini(&s);
	return begin;
}

TEST(minutes_without_samples_cost_nothing)
{
	CHECK(complexity_growth(store_after_minutes, 1000000) < 4);
}
