// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/store.h"

#include <errno.h>
#include <string.h>

#include "profile/tree.h"
#include "tests/unit/cli_batch.h"
#include "viewer/server/api.h"
#include "viewer/server/facets.h"
#include "viewer/server/select.h"

#define SECOND	1000000000ULL
#define START	(1700000000ULL / 60 * 60 * SECOND)	/* a whole minute */
#define HOUR	(3600 * SECOND)

/* Five seconds from `start` on, n samples of processes p0 to p3 (pids 1 to 4,
 * two threads each), in stacks that are not the same in every batch. */
static void *batch_at(uint64_t start, uint32_t n, uint32_t salt, size_t *len)
{
	struct batch_builder *b = batch_builder_new(19);
	char name[32];
	void *data;

	CHECK(b != NULL);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = (i + salt) % 4, v[3];
		struct batch_resource r = { .pid = p + 1 };

		snprintf(name, sizeof(name), "p%u", p);
		r.comm = str(b, name);
		r.container_id = p == 3 ? str(b, "c0ffee") : 0;
		r.exe_path = str(b, "/usr/bin/prog");
		snprintf(name, sizeof(name), "f%u", (i * 7 + salt) % 50);
		v[0] = frame(b, i % 2 ? BATCH_FRAME_KERNEL : BATCH_FRAME_NATIVE,
			     name, 0, i * 16);
		v[1] = frame(b, p == 2 ? BATCH_FRAME_GO : BATCH_FRAME_NATIVE,
			     "main", 0, 100);
		snprintf(name, sizeof(name), "t%u", i % 2);
		event(b, batch_resource(b, &r), 100 + i % 2, name,
		      STOP_COMPLETE, v, 2,
		      start + (uint64_t)i * 5 * SECOND / n);
	}
	CHECK_EQ(batch_builder_finish(b, start, start + 5 * SECOND, &data, len),
		 0);
	batch_builder_free(b);
	return data;
}

static void add(struct store *s, uint64_t start, uint32_t n, uint32_t salt)
{
	size_t len;
	void *data = batch_at(start, n, salt, &len);

	CHECK_EQ(store_add(s, data, len, start + 5 * SECOND), 0);
}

/* What must hold at any time. */
static void check(const struct store *s)
{
	uint64_t bytes = 0, samples = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct segment *g = s->v[i];
		uint64_t sum = 0;

		CHECK(!i || s->v[i - 1]->start_ns <= g->start_ns);
		CHECK((g->state == SEGMENT_EXACT) == !g->counts);
		for (uint32_t k = 0; k < batch_n(&g->b, BATCH_SAMPLES); k++)
			sum += segment_count(g, k);
		CHECK_EQ(sum, g->samples);
		bytes += g->bytes;
		samples += sum;
	}
	CHECK_EQ(bytes, s->bytes);
	CHECK_EQ(samples, s->samples);
	CHECK(s->bytes <= s->budget);
}

/* An hour and more under this budget; every sample is held or accounted for. */
static void fill(struct store *s, uint64_t budget, uint64_t seconds, uint32_t n)
{
	uint64_t added = 0;

	store_init(s, budget, HOUR);
	for (uint64_t t = 0; t < seconds; t += 5) {
		add(s, START + t * SECOND, n, (uint32_t)t);
		added += n;
		check(s);
		CHECK_EQ(s->samples + s->dropped + s->expired, added);
	}
}

static size_t count_state(const struct store *s, enum segment_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i]->state == state;
	return n;
}

TEST(store_merges_what_is_exact_and_loses_nothing)
{
	struct store s;

	fill(&s, 1 << 30, 1800, 20);
	CHECK_EQ(s.samples, 1800 / 5 * 20);
	CHECK_EQ(s.dropped + s.expired, 0);
	CHECK(s.n <= 30 + 12);
	CHECK_EQ(store_coarse_ns(&s, SEGMENT_MINUTE), 0);
	CHECK_EQ(s.batches, 360);
	store_fini(&s);
}

TEST(store_forgets_what_is_too_old)
{
	struct store s;

	fill(&s, 1 << 30, 2 * 3600, 20);
	CHECK_EQ(s.dropped, 0);
	CHECK(s.samples >= 3600 / 5 * 20);
	CHECK(s.samples <= (3600 + 60) / 5 * 20);
	store_expire(&s, START + 4 * HOUR);
	CHECK_EQ(s.n, 0);
	CHECK_EQ(s.bytes, 0);
	CHECK_EQ(s.expired, 2 * 3600 / 5 * 20);
	/* its end is no time of it */
	add(&s, START, 20, 0);
	store_expire(&s, START + HOUR + 5 * SECOND - 1);
	CHECK_EQ(s.n, 1);
	store_expire(&s, START + HOUR + 5 * SECOND);
	CHECK_EQ(s.n, 0);
	store_fini(&s);
}

TEST(store_keeps_its_budget_and_the_newest_exact)
{
	struct store s;
	uint64_t now = START + HOUR;

	fill(&s, 600000, 3600, 100);
	CHECK(count_state(&s, SEGMENT_LONG) > 0);
	CHECK(count_state(&s, SEGMENT_MINUTE) > 0);
	CHECK(count_state(&s, SEGMENT_EXACT) > 0);
	CHECK(store_coarse_ns(&s, SEGMENT_LONG) <=
	      store_coarse_ns(&s, SEGMENT_MINUTE));
	CHECK(store_coarse_ns(&s, SEGMENT_MINUTE) <= now - STORE_FRESH_NS);
	CHECK_EQ(s.dropped, 0);
	/* coarser the older */
	for (size_t i = 1; i < s.n; i++)
		CHECK(s.v[i]->state <= s.v[i - 1]->state);
	store_fini(&s);
	/* hardly anything fits */
	fill(&s, 30000, 600, 100);
	CHECK(s.dropped > 0);
	store_fini(&s);
	/* not even one batch */
	fill(&s, 100, 100, 100);
	CHECK_EQ(s.n, 0);
	store_fini(&s);
}

TEST(store_takes_what_comes_late_and_often)
{
	struct store s;

	store_init(&s, 1 << 30, HOUR);
	for (uint32_t i = 0; i < 500; i++)
		add(&s, START + i % 60 * SECOND, 4, i);
	for (uint32_t i = 0; i < 500; i++)
		add(&s, START + 600 * SECOND - i * SECOND, 4, i);
	check(&s);
	CHECK_EQ(s.samples, 4000);
	CHECK(s.n < 150);
	store_fini(&s);
}

TEST(store_refuses_what_is_no_batch)
{
	struct store s;
	void *data = calloc(1, 4096);

	store_init(&s, 1 << 20, HOUR);
	CHECK_EQ(store_add(&s, data, 4096, START), -EPROTO);
	CHECK_EQ(store_add(&s, NULL, 0, START), 0);
	CHECK_EQ(s.batches, 2);
	CHECK_EQ(s.n, 0);
	store_fini(&s);
}

/* Counts are 32 bits in a segment: they end there, and do not begin at 0 again. */
TEST(counts_have_an_end)
{
	struct query q = { .from_ns = START, .to_ns = START + 60 * SECOND };
	struct segment *exact[2], *coarse[2], *one;
	struct selection sel;
	struct store s;

	for (int i = 0; i < 2; i++) {
		size_t len;
		void *data = batch_at(START, 1, 0, &len);

		CHECK_EQ(segment_new(data, len, &exact[i]), 0);
		CHECK_EQ(segment_merge(&exact[i], 1, SEGMENT_MINUTE, &coarse[i]), 0);
		CHECK_EQ(coarse[i]->counts[0], 1);
		coarse[i]->counts[0] = UINT32_MAX - 1;
	}
	CHECK_EQ(segment_merge(coarse, 2, SEGMENT_MINUTE, &one), 0);
	CHECK_EQ(one->counts[0], UINT32_MAX);
	CHECK_EQ(one->samples, UINT32_MAX);
	/* nor in an answer */
	s = (struct store){ .v = coarse, .n = 2 };
	CHECK_EQ(select_batch(&s, &q, NULL, 0, &sel), 0);
	CHECK_EQ(batch_n(&sel.b, BATCH_SAMPLES), 1);
	CHECK_EQ(sel.b.samples[0].n, UINT32_MAX);
	selection_fini(&sel);
	segment_free(one);
	for (int i = 0; i < 2; i++) {
		segment_free(exact[i]);
		segment_free(coarse[i]);
	}
}

/* --- questions -------------------------------------------------------------------- */

static void by_text(struct query *q, enum select_key k, const char *s)
{
	q->key[k].text[q->key[k].n++] = (struct select_text){ s, strlen(s) };
}

static uint64_t timeline(const struct store *s, const struct query *q,
			 uint64_t bin_ns)
{
	size_t n = (size_t)((q->to_ns - q->from_ns + bin_ns - 1) / bin_ns);
	uint64_t *bins = calloc(n, sizeof(*bins)), sum = 0;

	CHECK(bins != NULL);
	for (size_t i = 0; i < s->n; i++) {
		struct match m;

		if (!select_overlaps(s->v[i], q))
			continue;
		CHECK_EQ(match_init(&m, s->v[i], q), 0);
		match_timeline(&m, bin_ns, bins, n);
		match_fini(&m);
	}
	for (size_t i = 0; i < n; i++) {
		CHECK(bins[i] < 1u << 31);
		sum += bins[i];
	}
	free(bins);
	return sum;
}

static uint64_t in_tree(const struct selection *sel, bool reversed,
			bool base)
{
	struct tree t;
	uint64_t sum = 0;

	CHECK_EQ(tree_build_as(&t, &sel->b, &(struct tree_how){
			 .reversed = reversed, .base = sel->base }), 0);
	for (uint32_t i = 0; i < t.n_rows; i++)
		sum += base ? t.rows[i].base : t.rows[i].self;
	tree_fini(&t);
	return sum;
}

/* With times there is one for each event, within the range. */
static uint64_t timed(const struct store *s, const struct query *q)
{
	struct selection sel;
	uint64_t sum = 0;

	CHECK_EQ(select_batch(s, q, NULL, SELECT_TIMES | SELECT_THREADS, &sel),
		 0);
	for (uint32_t i = 0; i < batch_n(&sel.b, BATCH_SAMPLES); i++)
		sum += sel.b.samples[i].n;
	CHECK_EQ(sum, batch_n(&sel.b, BATCH_TIMES));
	for (uint32_t i = 0; i < sum; i++)
		CHECK(sel.b.times[i] >= q->from_ns && sel.b.times[i] < q->to_ns);
	selection_fini(&sel);
	return sum;
}

/* All ways to count agree on this query; returns the count. */
static uint64_t agree(const struct store *s, const struct query *q)
{
	struct selection sel;
	uint64_t n;

	CHECK_EQ(select_batch(s, q, NULL, 0, &sel), 0);
	n = sel.samples;
	CHECK_EQ(in_tree(&sel, false, false), n);
	CHECK_EQ(in_tree(&sel, true, false), n);
	selection_fini(&sel);
	CHECK_EQ(select_batch(s, q, q, SELECT_THREADS, &sel), 0);
	CHECK_EQ(in_tree(&sel, false, true), n);
	CHECK_EQ(in_tree(&sel, true, false), n);
	selection_fini(&sel);
	CHECK_EQ(timed(s, q), n);
	CHECK_EQ(timeline(s, q, 7 * SECOND), n);
	CHECK_EQ(timeline(s, q, 1000 * SECOND), n);
	return n;
}

TEST(questions_of_any_range_agree)
{
	struct store s;
	struct query q = { .from_ns = 0, .to_ns = UINT64_MAX / 2 };
	uint32_t random = 1;

	fill(&s, 600000, 3600, 100);
	CHECK_EQ(s.dropped, 0);
	CHECK_EQ(s.samples, 72000);
	q.from_ns = START - HOUR;
	q.to_ns = START + 2 * HOUR;
	CHECK_EQ(agree(&s, &q), 72000);
	for (int i = 0; i < 30; i++) {
		random = random * 1664525 + 1013904223;
		q.from_ns = START + random % 3600 * SECOND + random;
		q.to_ns = q.from_ns + 1 + (random >> 8) % 1000 * SECOND;
		agree(&s, &q);
	}
	/* two halves are the whole, wherever it is cut */
	for (uint64_t cut = 1; cut < 3600; cut += 379) {
		uint64_t n;

		q.from_ns = START;
		q.to_ns = START + cut * SECOND + cut;
		n = agree(&s, &q);
		q.from_ns = q.to_ns;
		q.to_ns = START + HOUR;
		CHECK_EQ(n + agree(&s, &q), 72000);
	}
	store_fini(&s);
}

TEST(filters_choose)
{
	struct query q = { .from_ns = START, .to_ns = START + 60 * SECOND }, f;
	struct store s;
	uint64_t threads;

	store_init(&s, 1 << 30, HOUR);
	for (uint64_t t = 0; t < 60; t += 5)
		add(&s, START + t * SECOND, 100, 0);
	CHECK_EQ(agree(&s, &q), 1200);
	f = q;
	by_text(&f, KEY_PROCESS, "p1");
	CHECK_EQ(agree(&s, &f), 300);
	by_text(&f, KEY_PROCESS, "p2");
	CHECK_EQ(agree(&s, &f), 600);
	by_text(&f, KEY_PROCESS, "p");
	CHECK_EQ(agree(&s, &f), 600);
	f.key[KEY_PID].n = 1;
	f.key[KEY_PID].number[0] = 3;
	CHECK_EQ(agree(&s, &f), 300);
	f = q;
	by_text(&f, KEY_CONTAINER, "");
	CHECK_EQ(agree(&s, &f), 900);
	f = q;
	by_text(&f, KEY_EXECUTABLE, "/usr/bin/prog");
	CHECK_EQ(agree(&s, &f), 1200);
	f = q;
	by_text(&f, KEY_THREAD, "t1");
	threads = agree(&s, &f);
	CHECK_EQ(threads, 600);
	f = q;
	f.kinds = 1u << BATCH_FRAME_GO;
	CHECK_EQ(agree(&s, &f), 300);
	f.kinds = 1u << BATCH_FRAME_KERNEL;
	CHECK_EQ(agree(&s, &f), 600);
	store_fini(&s);
}

/* What remains of a stack are the frames of the kinds that were asked for. */
TEST(kinds_leave_only_their_frames)
{
	struct query q = { .from_ns = START, .to_ns = START + 5 * SECOND,
			   .kinds = 1u << BATCH_FRAME_KERNEL };
	struct selection sel;
	struct store s;
	struct tree t;

	store_init(&s, 1 << 30, HOUR);
	add(&s, START, 100, 0);
	CHECK_EQ(select_batch(&s, &q, NULL, 0, &sel), 0);
	CHECK_EQ(tree_build(&t, &sel.b), 0);
	for (uint32_t i = 0; i < t.n_labels; i++)
		CHECK(t.labels[i].kind == BATCH_FRAME_KERNEL ||
		      t.labels[i].kind == KIND_PROCESS);
	CHECK_EQ(t.levels, 2);
	tree_fini(&t);
	selection_fini(&sel);
	store_fini(&s);
}

/* One sample: a kernel frame in a cut stack of the process that ended early. */
static void add_ended(struct store *s, enum stop_reason stop)
{
	struct batch_builder *b = batch_builder_new(19);
	struct batch_resource r = { .pid = 7, .comm = str(b, "early") };
	uint32_t v[] = {
		frame(b, BATCH_FRAME_KERNEL, "in_kernel", 0, 1),
		frame(b, BATCH_FRAME_NATIVE, "in_process", 0, 2),
		frame(b, BATCH_FRAME_CUT, "", 0, 0),
	};
	size_t len;
	void *data;

	event(b, batch_resource(b, &r), 7, "early", stop, v, 3, START);
	CHECK_EQ(batch_builder_finish(b, START, START + 5 * SECOND, &data, &len),
		 0);
	batch_builder_free(b);
	CHECK_EQ(store_add(s, data, len, START + 5 * SECOND), 0);
}

static int count_markers(const struct store *s, uint32_t kinds)
{
	struct query q = { .from_ns = START, .to_ns = START + 5 * SECOND,
			   .kinds = kinds };
	struct selection sel;
	struct tree t;
	int n = 0;

	CHECK_EQ(select_batch(s, &q, NULL, 0, &sel), 0);
	CHECK_EQ(sel.samples, 1);
	CHECK_EQ(tree_build(&t, &sel.b), 0);
	for (uint32_t i = 0; i < t.n_labels; i++)
		n += t.labels[i].kind == KIND_MARKER;
	tree_fini(&t);
	selection_fini(&sel);
	return n;
}

/* What a mark stands for are frames of the process: with the kernel's alone
 * nothing is missing. */
TEST(marks_of_missing_frames_stay_with_user_frames)
{
	struct store s;

	store_init(&s, 1 << 30, HOUR);
	add_ended(&s, STOP_NO_TABLE);
	CHECK_EQ(count_markers(&s, 0), 2);
	CHECK_EQ(count_markers(&s, 1u << BATCH_FRAME_NATIVE), 2);
	CHECK_EQ(count_markers(&s, 1u << BATCH_FRAME_NATIVE |
				   1u << BATCH_FRAME_KERNEL), 2);
	CHECK_EQ(count_markers(&s, 1u << BATCH_FRAME_KERNEL), 0);
	store_fini(&s);
}

TEST(reversed_trees_begin_with_leaves)
{
	struct batch b;
	void *data = sample_batch(&b);
	const struct tree_how how = { .reversed = true };
	const char *last = "";
	struct tree t;
	size_t len = 0;

	CHECK_EQ(tree_build_as(&t, &b, &how), 0);
	for (uint32_t i = 0; i < t.n_rows; i++) {
		const struct tree_label *l = &t.labels[t.rows[i].label];

		CHECK((l->kind == KIND_PROCESS) == (t.rows[i].self > 0));
		if (t.rows[i].depth)
			continue;
		CHECK(l->kind != KIND_PROCESS);
		/* by name */
		CHECK(!len || memcmp(last, t.text + l->name, 1) <= 0);
		last = t.text + l->name;
		len = l->name_len;
	}
	tree_fini(&t);
	free(data);
}

/* --- the API as a whole --------------------------------------------------------------- */

static struct viewer_answer get(struct api *a, const char *path,
				const char *name, const char *value)
{
	struct params p = { .n = 0 };
	struct viewer_answer r;

	p.v[p.n++] = (struct param){ "last", "3600", 4, 4 };
	if (name)
		p.v[p.n++] = (struct param){ name, value, strlen(name),
					     strlen(value) };
	api_get(a, path, &p, START + HOUR, &r);
	buffer_add(&r.body, "", 1);
	return r;
}

static bool says(struct viewer_answer *r, const char *text)
{
	bool found = strstr((char *)r->body.data, text);

	free(r->body.data);
	return found;
}

TEST(facets_ignore_their_own_filter)
{
	struct viewer_answer r;
	struct store s;
	struct api a;

	fill(&s, 1 << 30, 3600, 20);
	api_init(&a, &s, NULL);
	r = get(&a, "/api/v1/facets", "process", "p1");
	CHECK_EQ(r.status, 200);
	CHECK(strstr((char *)r.body.data, "[\"p0\",\"p0\",3600]"));
	CHECK(strstr((char *)r.body.data, "\"pid\":[\n[\"2\",\"2 p1\",3600]]"));
	CHECK(says(&r, "\"kind\":[\n[\"native\",\"native\",3600]"));
	r = get(&a, "/api/v1/facets", "limit", "1");
	CHECK(says(&r, "\"others\":{\"process\":10800,\"pid\":10800,"));
	store_fini(&s);
}

/* Stacks by the time of their first sample: exact, in a part of the range, and
 * of what is coarse. */
TEST(profiles_say_what_was_seen_first)
{
	struct query q = { .from_ns = START, .to_ns = START + HOUR };
	struct viewer_answer r;
	struct selection sel;
	struct store s;
	struct api a;

	fill(&s, 1 << 30, 3600, 20);
	api_init(&a, &s, NULL);
	r = get(&a, "/api/v1/profile", NULL, NULL);
	CHECK(!says(&r, "\"first\""));
	r = get(&a, "/api/v1/profile", "first", "2");
	CHECK(r.status == 400 && says(&r, "first: 0 or 1"));
	r = get(&a, "/api/v1/profile", "first", "1");
	CHECK_EQ(r.status, 200);
	CHECK(says(&r, "\"first\":["));
	for (int i = 0; i < 40; i++) {
		struct selection all;

		q.from_ns = START + (uint64_t)i * 97 * SECOND + 1;
		CHECK_EQ(select_batch(&s, &q, NULL, SELECT_FIRST, &sel), 0);
		CHECK_EQ(select_batch(&s, &q, NULL, SELECT_TIMES, &all), 0);
		CHECK_EQ(batch_n(&sel.b, BATCH_SAMPLES),
			 batch_n(&all.b, BATCH_SAMPLES));
		for (uint32_t k = 0; k < batch_n(&sel.b, BATCH_SAMPLES); k++) {
			const struct batch_sample *v = &all.b.samples[k];
			uint64_t least = UINT64_MAX;

			for (uint32_t e = 0; e < v->n; e++)
				least = all.b.times[v->first + e] < least ?
					all.b.times[v->first + e] : least;
			CHECK_EQ(sel.b.times[sel.b.samples[k].first], least);
		}
		selection_fini(&sel);
		selection_fini(&all);
	}
	store_fini(&s);
}

/* Samples of `leaf` in a thread of process p, at these seconds. */
static void lane_events(struct batch_builder *b, uint32_t pid, uint32_t tid,
			const char *leaf, uint64_t from, uint64_t to)
{
	uint32_t v[2] = {
		frame(b, BATCH_FRAME_NATIVE, leaf, 0, 16),
		frame(b, BATCH_FRAME_NATIVE, "main", 0, 100),
	};
	struct batch_resource r = { .pid = pid, .comm = str(b, "app") };

	for (uint64_t t = from; t < to; t++)
		event(b, batch_resource(b, &r), tid, tid == pid ? "app" : "w\"",
		      STOP_COMPLETE, v, 2, START + t * SECOND / 10);
}

/* In ten seconds thread 7 runs f, then mostly g; 8 runs f in the last two; 9 is
 * one too many. */
static void fill_lanes(struct store *s)
{
	struct batch_builder *b = batch_builder_new(10);
	size_t len;
	void *data;

	store_init(s, 1 << 30, HOUR);
	lane_events(b, 7, 7, "f", 0, 50);
	lane_events(b, 7, 7, "f", 50, 54);
	lane_events(b, 7, 7, "g", 54, 60);
	lane_events(b, 7, 8, "f", 80, 100);
	lane_events(b, 9, 9, "f", 99, 100);
	CHECK_EQ(batch_builder_finish(b, START, START + 10 * SECOND, &data,
				      &len), 0);
	batch_builder_free(b);
	CHECK_EQ(store_add(s, data, len, START + 10 * SECOND), 0);
}

static struct viewer_answer get_lanes(struct api *a, const char *bins,
				      const char *limit, const char *kind)
{
	struct params p = { .n = 0 };
	const char *const all[][2] = {
		{ "from", "1699999980000" }, { "to", "1699999990000" },
		{ "bins", bins }, { "limit", limit }, { "kind", kind },
	};
	struct viewer_answer r;

	for (int i = 0; i < (kind ? 5 : 4); i++)
		p.v[p.n++] = (struct param){ all[i][0], all[i][1],
					     strlen(all[i][0]),
					     strlen(all[i][1]) };
	api_get(a, "/api/v1/lanes", &p, START + 10 * SECOND, &r);
	buffer_add(&r.body, "", 1);
	return r;
}

TEST(lanes_say_what_each_thread_ran)
{
	struct viewer_answer r;
	struct store s;
	struct api a;

	fill_lanes(&s);
	api_init(&a, &s, NULL);
	r = get_lanes(&a, "5", "2", NULL);
	CHECK_EQ(r.status, 200);
	CHECK(strstr((char *)r.body.data, "{\"from\":1699999980000,"
		     "\"to\":1699999990000,\"bin_ms\":2000,\"threads\":[\n"
		     "[0,7,7,\"app\",60,[0,1,20,20,1,1,20,20,2,1,14,20]],\n"
		     "[0,7,8,\"w\\u0022\",20,[4,1,20,20]]],"
		     "\"others\":{\"threads\":1,\"samples\":1},\n"
		     "\"labels\":[[\"app\",\"\",0],[\"f\",\"\",2]]}"));
	free(r.body.data);
	/* the second half of the sixth second is g's */
	r = get_lanes(&a, "10", "1", NULL);
	CHECK(says(&r, "5,2,6,10]]],\"others\":{\"threads\":2,\"samples\":21}"));
	/* from 5.2 s to 5.6 s both have two: f, which is first by name */
	r = get_lanes(&a, "25", "1", NULL);
	CHECK(says(&r, ",12,1,4,4,13,1,2,4,14,2,4,4]]]"));
	/* frames of other kinds do not count as what ran */
	r = get_lanes(&a, "5", "2", "kernel");
	CHECK(says(&r, "\"threads\":[],\"others\":{\"threads\":0,\"samples\":0},\n"
		   "\"labels\":[]}"));
	store_fini(&s);
}

/* The cost of an answer is bounded, whatever is asked and whoever runs. */
TEST(lanes_are_bounded)
{
	struct viewer_answer r;
	struct store s;
	struct api a;
	size_t len;

	store_init(&s, 1 << 30, HOUR);
	for (uint32_t k = 0; k < 20; k++) {
		struct batch_builder *b = batch_builder_new(10);
		void *data;

		for (uint32_t i = 0; i < 1000; i++)
			lane_events(b, 7, 1000 * k + i + 8, "f", i % 100,
				    i % 100 + 1);
		CHECK_EQ(batch_builder_finish(b, START, START + 10 * SECOND,
					      &data, &len), 0);
		batch_builder_free(b);
		CHECK_EQ(store_add(&s, data, len, START + 10 * SECOND), 0);
	}
	api_init(&a, &s, NULL);
	for (int i = 0; i < 3; i++) {
		static const char *const v[][2] = {
			{ "10000", "11" }, { "11", "10000" }, { "10000", "10000" },
		};

		r = get_lanes(&a, v[i][0], v[i][1], NULL);
		CHECK_EQ(r.status, 400);
		CHECK(says(&r, "bins times limit: at most 100000"));
	}
	r = get_lanes(&a, "10000", "10", NULL);
	CHECK_EQ(r.status, 200);
	CHECK(r.body.len < 2000);
	CHECK(says(&r, "\"others\":{\"threads\":19990,\"samples\":19990}"));
	r = get_lanes(&a, "10", "10000", NULL);
	CHECK_EQ(r.status, 200);
	CHECK(r.body.len < 1000000);
	free(r.body.data);
	store_fini(&s);
}

TEST(api_answers_and_refuses)
{
	struct viewer_answer r;
	struct store s;
	struct api a;

	fill(&s, 1 << 30, 60, 20);
	api_init(&a, &s, NULL);
	CHECK(api_knows("/api/v1/info") && !api_knows("/api/v1/infos"));
	r = get(&a, "/api/v1/info", NULL, NULL);
	CHECK(r.status == 200 && says(&r, "\"samples\":240,"));
	r = get(&a, "/api/v1/timeline", "bins", "2");
	CHECK(r.status == 200 && says(&r, "\"counts\":[240,0]"));
	r = get(&a, "/api/v1/profile", "process", "p3");
	CHECK(r.status == 200 && says(&r, "\"samples\":60,"));
	r = get(&a, "/api/v1/profile", "colour", "red");
	CHECK(r.status == 400 && says(&r, "\"error\":"));
	r = get(&a, "/api/v1/diff", NULL, NULL);
	CHECK(r.status == 400 && says(&r, "base_from"));
	r = get(&a, "/api/v1/download", "format", "doc");
	CHECK(r.status == 400 && says(&r, "format"));
	r = get(&a, "/api/v1/download", "format", "folded");
	CHECK(r.status == 200 && strstr(r.file, ".folded"));
	CHECK(says(&r, "p0;main;f"));
	store_fini(&s);
}
