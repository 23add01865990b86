// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of `trifold top` from made-up batches: counting, windows, narrowing,
 * sorting, filtering.
 */
#include "cli/top/model.h"
#include "cli/top/rows.h"
#include "cli/top/state.h"
#include "common/clock.h"
#include "tests/unit/cli_batch.h"

#include <errno.h>

#define S	NSEC_PER_SEC
#define REAL	(1000 * S)	/* when the first batch starts */

/* A batch of n samples of process pid: main;work, from..to (s after REAL). */
static void *make(uint32_t pid, uint32_t n, uint64_t from, uint64_t to,
		  size_t *len)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t frames[2], p = process(b, pid, "app", "app");
	void *data;

	frames[0] = frame(b, BATCH_FRAME_NATIVE, "work", 0, 0x10);
	frames[1] = frame(b, BATCH_FRAME_NATIVE, "main", 0, 0x20);
	for (uint32_t i = 0; i < n; i++)
		event(b, p, pid, "app", STOP_COMPLETE, frames, 2,
		      REAL + from * S + i);
	CHECK_EQ(batch_builder_finish(b, REAL + from * S, REAL + to * S,
				      &data, len), 0);
	batch_builder_free(b);
	return data;
}

static void feed(struct top_model *m, uint32_t pid, uint32_t n, uint64_t from,
		 uint64_t to)
{
	size_t len;
	void *data = make(pid, n, from, to, &len);

	CHECK_EQ(top_model_add(m, data, len, n), 0);
	free(data);
}

static bool is(struct top_str s, const char *want)
{
	return s.len == strlen(want) && !memcmp(s.s, want, s.len);
}

static const struct top_row *find(const struct top_table *t, const char *name,
				  uint32_t role)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (is(t->rows[i].name, name) && t->rows[i].role == role)
			return &t->rows[i];
	}
	return NULL;
}

static const struct top_row *of_pid(const struct top_table *t, uint32_t pid)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->rows[i].pid == pid)
			return &t->rows[i];
	}
	return NULL;
}

static void take_sample_batch(struct top_model *m)
{
	struct batch b;
	void *data = sample_batch(&b);

	top_model_init(m, TOP_SPAN_NS);
	CHECK_EQ(top_model_add(m, data, b.hdr->bytes, 7), 0);
	free(data);
}

/* --- counting ---------------------------------------------------------------- */

TEST(functions_are_counted_by_self_and_total)
{
	const struct top_query q = { .view = TOP_FUNCTIONS };
	struct top_table t = { 0 };
	const struct top_row *r;
	struct top_model m;

	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.events, 7);
	CHECK_EQ(t.frequency, 20);
	CHECK_EQ(t.n, 6);
	r = find(&t, "main", 0);
	CHECK(r && r->self == 0 && r->total == 5);
	CHECK(is(r->file, "/usr/bin/app"));
	r = find(&t, "do_read", 0);
	CHECK(r && r->self == 3 && r->total == 3);
	CHECK_EQ(r->kind, BATCH_FRAME_KERNEL);
	r = find(&t, EVIL, 0);
	CHECK(r && r->self == 0 && r->total == 3);
	r = find(&t, "", 0);
	CHECK(r && r->self == 2 && is(r->file, "/usr/lib/libfoo.so"));
	CHECK(!t.cut && t.cpu_s > 0.349 && t.cpu_s < 0.351);
	CHECK(t.seconds > 4.99 && t.seconds < 5.01);
	top_table_fini(&t);
	top_model_fini(&m);
}

TEST(inlined_functions_count_as_what_they_are)
{
	const struct top_query q = { .view = TOP_FUNCTIONS };
	struct top_table t = { 0 };
	struct top_model m;
	struct batch b;
	void *data = inlined_batch(&b);

	top_model_init(&m, TOP_SPAN_NS);
	CHECK_EQ(top_model_add(&m, data, b.hdr->bytes, 1), 0);
	free(data);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 4);
	CHECK(find(&t, "inner", 0)->self == 1);
	CHECK(find(&t, "outer", 0)->self == 0);
	CHECK(find(&t, "outer", 0)->total == 1);
	CHECK(find(&t, "root", 0)->total == 1);
	top_table_fini(&t);
	top_model_fini(&m);
}

/* Two lines of f, at one of which it is inlined. */
static void *lines_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 10, "app", "app"), v[3];
	struct batch_function fn = {
		.name = str(b, "f<...>"), .file = str(b, "/src/long/f.c"),
		.full_name = str(b, "f<int>(int)"), .system_name = str(b, "_Zf"),
		.start_line = 7,
	};
	struct batch_frame f = { .kind = BATCH_FRAME_NATIVE, .address = 1 };
	size_t len;
	void *data;

	v[0] = frame(b, BATCH_FRAME_NATIVE, "outer", 0, 1);
	f.function = batch_function(b, &fn);
	f.line = 8;
	v[1] = batch_frame(b, &f);
	f.line = 9;
	f.inlined = 1;
	f.into = v[0];
	v[2] = batch_frame(b, &f);
	event(b, p, 10, "app", STOP_COMPLETE, v + 1, 1, 100);
	event(b, p, 10, "app", STOP_COMPLETE, v + 2, 1, 100);
	event(b, p, 10, "app", STOP_COMPLETE, v + 2, 1, 100);
	CHECK_EQ(batch_builder_finish(b, 0, S, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

static bool cell_is(const struct top_table *t, const struct top_row *r,
		    enum top_col c, size_t cells, const char *want)
{
	char out[4 * 40 + 1];

	top_cell(t, r, c, true, cells, out, sizeof(out));
	return !strcmp(out, want);
}

TEST(lines_are_rows_of_their_own_and_inlined_ones_are_marked)
{
	struct top_query q = { .view = TOP_LINES };
	struct top_table t = { 0 };
	struct top_filter f = { .text = "f.c:9" };
	struct top_model m;
	struct batch b;
	void *data = lines_batch(&b);

	top_model_init(&m, TOP_SPAN_NS);
	m.names = NAMES_FULL;
	CHECK_EQ(top_model_add(&m, data, b.hdr->bytes, 3), 0);
	free(data);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 3);
	top_sort(&t, COL_SELF, false);
	CHECK(t.rows[0].self == 2 && t.rows[1].self == 1 && !t.rows[2].self);
	CHECK(cell_is(&t, &t.rows[0], COL_SOURCE, 40, "f.c:9"));
	CHECK(cell_is(&t, &t.rows[0], COL_NAME, 40, "f<int>(int) (inlined)"));
	CHECK(cell_is(&t, &t.rows[0], COL_NAME, 24, "f<int>(int) (inlined)"));
	CHECK(cell_is(&t, &t.rows[0], COL_NAME, 8, "f<int>(~"));
	CHECK(cell_is(&t, &t.rows[1], COL_SOURCE, 40, "f.c:8"));
	CHECK(cell_is(&t, &t.rows[1], COL_NAME, 40, "f<int>(int)"));
	CHECK(cell_is(&t, &t.rows[2], COL_SOURCE, 40, ""));
	top_filter_rows(&t, &f);
	CHECK_EQ(t.n, 1);
	/* of the whole function, where it begins; not all of it is inlined */
	q.view = TOP_FUNCTIONS;
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 2);
	top_sort(&t, COL_SELF, false);
	CHECK(cell_is(&t, &t.rows[0], COL_SOURCE, 40, "f.c:7"));
	CHECK(cell_is(&t, &t.rows[0], COL_NAME, 40, "f<int>(int)"));
	top_table_fini(&t);
	top_model_fini(&m);
}

TEST(recursion_counts_once_a_stack)
{
	const struct top_query q = { .view = TOP_FUNCTIONS };
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 10, "app", "app"), v[4];
	struct top_table t = { 0 };
	struct top_model m;
	void *data;
	size_t len;

	v[0] = v[2] = frame(b, BATCH_FRAME_NATIVE, "f", 0, 1);
	v[1] = frame(b, BATCH_FRAME_NATIVE, "f", 0, 2);
	v[3] = frame(b, BATCH_FRAME_NATIVE, "main", 0, 3);
	event(b, p, 10, "app", STOP_COMPLETE, v, 4, 100);
	event(b, p, 10, "app", STOP_COMPLETE, v + 1, 3, 100);
	CHECK_EQ(batch_builder_finish(b, 0, S, &data, &len), 0);
	batch_builder_free(b);
	top_model_init(&m, TOP_SPAN_NS);
	CHECK_EQ(top_model_add(&m, data, len, 2), 0);
	free(data);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 2);
	CHECK(find(&t, "f", 0)->self == 2 && find(&t, "f", 0)->total == 2);
	top_table_fini(&t);
	top_model_fini(&m);
}

TEST(processes_threads_and_containers)
{
	struct top_query q = { .view = TOP_PROCESSES };
	struct top_table t = { 0 };
	struct top_model m;

	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 4);
	CHECK_EQ(of_pid(&t, 10)->total, 2);
	CHECK(is(of_pid(&t, 10)->name, "app"));
	CHECK_EQ(of_pid(&t, 11)->total, 3);
	CHECK(is(of_pid(&t, 11)->container, "c0ffee"));
	CHECK(of_pid(&t, 11)->cpu_s > 0.149 && of_pid(&t, 11)->cpu_s < 0.151);
	CHECK(is(of_pid(&t, 13)->name, "kworker"));
	q.view = TOP_THREADS;
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 5);
	CHECK(find(&t, "thread-7", 0)->tid == 17);
	CHECK(find(&t, "thread-7", 0)->pid == 10);
	CHECK(is(find(&t, "thread-7", 0)->file, "app"));
	q.view = TOP_CONTAINERS;
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(find(&t, "c0ffee", 0)->total, 3);
	CHECK_EQ(find(&t, "", 0)->total, 4);
	top_table_fini(&t);
	top_model_fini(&m);
}

TEST(callers_and_callees)
{
	struct top_query q = { .view = TOP_AROUND, .kind = BATCH_FRAME_NATIVE };
	struct top_table t = { 0 };
	struct top_model m;

	q.name = (struct top_str){ EVIL, strlen(EVIL) };
	q.file = (struct top_str){ "/usr/bin/app", 12 };
	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 3);
	CHECK_EQ(find(&t, "main", TOP_CALLER)->total, 3);
	CHECK_EQ(find(&t, EVIL, TOP_ITSELF)->total, 3);
	CHECK_EQ(find(&t, EVIL, TOP_ITSELF)->self, 0);
	CHECK_EQ(find(&t, "do_read", TOP_CALLEE)->total, 3);
	q.kind = BATCH_FRAME_GO;
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.n, 0);
	top_table_fini(&t);
	top_model_fini(&m);
}

TEST(narrowed_to_a_process_or_a_container)
{
	struct top_query q = {
		.view = TOP_FUNCTIONS, .of_process = true, .pid = 10,
	};
	struct top_table t = { 0 };
	struct top_model m;

	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.events, 2);
	CHECK_EQ(t.n, 3);
	q.start_ns = S;		/* another of the same number */
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.events, 0);
	q = (struct top_query){
		.view = TOP_PROCESSES, .of_container = true,
		.container = { "c0ffee", 6 },
	};
	top_model_table(&m, &q, &t);
	CHECK(t.n == 1 && t.rows[0].pid == 11);
	top_table_fini(&t);
	top_model_fini(&m);
}

/* The same process, as two batches tell its start; and its successor. */
TEST(a_start_is_told_differently_each_time)
{
	static const uint64_t starts[] = { 5 * S, 5 * S + 700, 5 * S - 800, 7 * S };
	struct top_query q = { .view = TOP_PROCESSES };
	struct top_table t = { 0 };
	struct top_model m;

	top_model_init(&m, TOP_SPAN_NS);
	for (int i = 0; i < 4; i++) {
		struct batch_builder *b = batch_builder_new(20);
		struct batch_resource r = { .pid = 10, .start_ns = starts[i] };
		uint32_t f = frame(b, BATCH_FRAME_NATIVE, "f", 0, 1);
		void *data;
		size_t len;

		event(b, batch_resource(b, &r), 10, "app", STOP_COMPLETE, &f,
		      1, REAL);
		CHECK_EQ(batch_builder_finish(b, REAL, REAL + S, &data, &len),
			 0);
		batch_builder_free(b);
		CHECK_EQ(top_model_add(&m, data, len, 1), 0);
		free(data);
	}
	top_model_table(&m, &q, &t);
	top_sort(&t, COL_CPU, false);
	CHECK(t.n == 2 && t.rows[0].total == 3 && t.rows[1].total == 1);
	q = (struct top_query){
		.view = TOP_FUNCTIONS, .of_process = true, .pid = 10,
		.start_ns = 5 * S,
	};
	top_model_table(&m, &q, &t);
	CHECK_EQ(t.events, 3);
	top_table_fini(&t);
	top_model_fini(&m);
}

/* --- time -------------------------------------------------------------------- */

static uint64_t in_window(const struct top_model *m, uint64_t seconds,
			  uint64_t now, double *covered)
{
	const struct top_query q = {
		.view = TOP_PROCESSES, .window_ns = seconds * S,
		.now_ns = now ? REAL + now * S : 0,
	};
	struct top_table t = { 0 };
	uint64_t n;

	top_model_table(m, &q, &t);
	n = t.events;
	*covered = t.seconds;
	top_table_fini(&t);
	return n;
}

TEST(a_window_takes_whole_intervals)
{
	struct top_model m;
	double s;

	top_model_init(&m, TOP_SPAN_NS);
	CHECK_EQ(in_window(&m, 5, 0, &s), 0);
	for (uint64_t i = 0; i < 20; i++)
		feed(&m, 10, 10, i, i + 1);
	CHECK_EQ(in_window(&m, 5, 0, &s), 50);
	CHECK(s > 4.9 && s < 5.1);
	CHECK_EQ(in_window(&m, 15, 20, &s), 150);
	CHECK_EQ(in_window(&m, 60, 0, &s), 200);
	CHECK_EQ(in_window(&m, 0, 0, &s), 200);
	/* a long one, rather than nothing */
	feed(&m, 10, 10, 20, 40);
	CHECK_EQ(in_window(&m, 5, 0, &s), 10);
	CHECK(s > 19.9 && s < 20.1);
	/* one of which just half would be inside is outside */
	feed(&m, 10, 10, 40, 44);
	feed(&m, 10, 10, 44, 46);
	feed(&m, 10, 10, 46, 49);
	CHECK_EQ(in_window(&m, 7, 0, &s), 20);
	CHECK(s > 4.9 && s < 5.1);
	top_model_fini(&m);
}

TEST(batches_of_one_interval_stay_together)
{
	struct top_model m;
	double s;

	top_model_init(&m, TOP_SPAN_NS);
	for (uint64_t i = 0; i < 10; i++) {
		feed(&m, 10, 10, i, i + 1);
		feed(&m, 11, 1, i, i + 1);
		feed(&m, 12, 1, i, i + 1);
	}
	CHECK_EQ(top_model_span(&m), 10 * S);
	CHECK_EQ(in_window(&m, 5, 0, &s), 60);
	CHECK(s > 4.9 && s < 5.1);
	top_model_fini(&m);
}

TEST(time_without_samples_counts)
{
	struct top_model m;
	double s;

	top_model_init(&m, TOP_SPAN_NS);
	feed(&m, 10, 10, 0, 1);
	/* idle for a second: no batch */
	feed(&m, 10, 10, 2, 3);
	CHECK_EQ(top_model_span(&m), 3 * S);
	/* but what was missed is not idle time */
	top_model_gap(&m);
	feed(&m, 10, 10, 9, 10);
	CHECK_EQ(top_model_span(&m), 4 * S);
	/* and idle since: it ages and goes */
	CHECK_EQ(in_window(&m, 5, 11, &s), 30);
	CHECK_EQ(in_window(&m, 15, 20, &s), 30);
	CHECK(s > 13.9 && s < 14.1);
	CHECK_EQ(in_window(&m, 5, 20, &s), 0);
	top_model_fini(&m);
}

TEST(old_batches_go)
{
	struct top_model m;
	double s;

	top_model_init(&m, TOP_SPAN_NS);
	for (uint64_t i = 0; i < 200; i++)
		feed(&m, 10, 1, i, i + 1);
	CHECK(top_model_span(&m) >= TOP_SPAN_NS);
	CHECK(top_model_span(&m) <= TOP_SPAN_NS + 2 * S);
	CHECK_EQ(in_window(&m, 60, 0, &s), 60);
	CHECK_EQ(m.dropped, 0);
	/* a clock that was set back */
	feed(&m, 10, 5, 3, 4);
	feed(&m, 10, 5, 4, 5);
	CHECK(in_window(&m, 5, 0, &s) >= 10);
	top_model_fini(&m);
	top_model_init(&m, 0);
	for (uint64_t i = 0; i < TOP_SLICES_MAX + 10; i++)
		feed(&m, 10, 1, i, i + 1);
	CHECK_EQ(m.n, TOP_SLICES_MAX);
	CHECK_EQ(m.dropped, 10);
	top_model_fini(&m);
}

/* What batch_open() lets through of a hub that lies, in any order. */
TEST(times_at_the_ends_make_no_table_of_nonsense)
{
	static const uint64_t at[][2] = {
		{ 0, 1 }, { 0, UINT64_MAX }, { UINT64_MAX - 1, UINT64_MAX },
		{ 1, 1ULL << 63 }, { INT64_MAX, (1ULL << 63) + 1000 }, { REAL, REAL + S },
	};
	const size_t n = sizeof(at) / sizeof(*at);

	for (size_t i = 0; i < n * n * n; i++) {
		const size_t order[] = { i % n, i / n % n, i / n / n };
		struct top_model m;

		top_model_init(&m, TOP_SPAN_NS);
		for (size_t k = 0; k < 3; k++) {
			struct batch_builder *b = batch_builder_new(k ? 1 : UINT32_MAX);
			uint32_t p = process(b, 10, "app", "app");
			uint32_t f = frame(b, BATCH_FRAME_NATIVE, "work", 0, 0x10);
			size_t len;
			void *data;

			event(b, p, 10, "app", STOP_COMPLETE, &f, 1, at[order[k]][0]);
			CHECK_EQ(batch_builder_finish(b, at[order[k]][0], at[order[k]][1],
						      &data, &len), 0);
			batch_builder_free(b);
			CHECK_EQ(top_model_add(&m, data, len, 1), 0);
			free(data);
		}
		for (uint64_t window = 0; window < 61; window += 20) {
			struct top_table t = { 0 };
			struct top_query q = { .view = TOP_PROCESSES, .window_ns = window * S,
					       .now_ns = at[order[0]][1] };

			top_model_table(&m, &q, &t);
			CHECK(t.n <= 1 && t.events <= 3);
			/* no NaN, nothing below 0, no more than all time there is */
			CHECK(t.seconds >= 0 && t.seconds < 1e12);
			CHECK(t.busy_s >= 0 && t.busy_s <= 3);
			top_table_fini(&t);
		}
		top_model_fini(&m);
	}
}

TEST(what_is_no_batch_is_refused)
{
	struct top_model m;
	size_t len;
	char *data = make(10, 3, 0, 1, &len);

	top_model_init(&m, TOP_SPAN_NS);
	CHECK_EQ(top_model_add(&m, data, len, 4), -EPROTO);
	CHECK_EQ(top_model_add(&m, data, len - 8, 3), -EPROTO);
	CHECK_EQ(top_model_add(&m, data, BATCH_BYTES_MAX + 1, 3), -EPROTO);
	data[0] ^= 1;
	CHECK_EQ(top_model_add(&m, data, len, 3), -EPROTO);
	CHECK_EQ(m.n, 0);
	CHECK_EQ(m.bytes, 0);
	free(data);
	top_model_fini(&m);
}

/* --- order and filter ---------------------------------------------------------- */

static void check_order(struct top_table *t, enum top_col by, bool reverse,
			uint32_t first, uint32_t last)
{
	top_sort(t, by, reverse);
	CHECK_EQ(t->rows[0].pid, first);
	CHECK_EQ(t->rows[t->n - 1].pid, last);
}

TEST(rows_are_sorted_by_any_column)
{
	const struct top_query q = { .view = TOP_PROCESSES };
	struct top_table t = { 0 };
	struct top_model m;

	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	check_order(&t, COL_CPU, false, 11, 12);
	check_order(&t, COL_CPU, true, 13, 11);
	check_order(&t, COL_PID, false, 10, 13);
	check_order(&t, COL_PID, true, 13, 10);
	check_order(&t, COL_NAME, false, 11, 12);
	check_order(&t, COL_CONTAINER, true, 11, 12);
	top_table_fini(&t);
	top_model_fini(&m);
}

static uint32_t filtered(const struct top_model *m, const char *text)
{
	const struct top_query q = { .view = TOP_PROCESSES };
	struct top_filter f = { .text = "" };
	struct top_table t = { 0 };
	char err[100];
	uint32_t n;

	top_model_table(m, &q, &t);
	CHECK(top_filter_set(&f, text, err, sizeof(err)) == NULL);
	top_filter_rows(&t, &f);
	n = t.n;
	top_filter_clear(&f);
	top_table_fini(&t);
	return n;
}

TEST(filters_by_part_and_by_regex)
{
	struct top_filter f = { .text = "" };
	struct top_model m;
	char err[100], long_one[TOP_FILTER_MAX + 1];

	take_sample_batch(&m);
	CHECK_EQ(filtered(&m, ""), 4);
	CHECK_EQ(filtered(&m, "APP"), 2);
	CHECK_EQ(filtered(&m, "worker"), 2);
	CHECK_EQ(filtered(&m, "/^worker/"), 1);
	CHECK_EQ(filtered(&m, "/^WORKER$|app/"), 3);
	CHECK_EQ(filtered(&m, "/^k"), 1);
	CHECK_EQ(filtered(&m, "^k"), 0);
	CHECK_EQ(filtered(&m, "c0ff"), 1);
	CHECK_EQ(filtered(&m, "/^1[23]$/"), 2);
	CHECK_EQ(filtered(&m, "/"), 4);
	CHECK_EQ(filtered(&m, "//"), 4);
	CHECK(top_filter_set(&f, "app", err, sizeof(err)) == NULL);
	CHECK(top_filter_set(&f, "/(/", err, sizeof(err)) != NULL);
	memset(long_one, 'a', TOP_FILTER_MAX);
	long_one[TOP_FILTER_MAX] = '\0';
	CHECK(top_filter_set(&f, long_one, err, sizeof(err)) != NULL);
	CHECK(!strcmp(f.text, "app") && !f.is_regex);
	top_filter_clear(&f);
	top_model_fini(&m);
}

TEST(cells_say_shares_and_names)
{
	const struct top_query q = { .view = TOP_FUNCTIONS };
	struct top_table t = { 0 };
	char out[4 * 40 + 1];
	struct top_model m;

	take_sample_batch(&m);
	top_model_table(&m, &q, &t);
	top_sort(&t, COL_SELF, false);
	top_cell(&t, &t.rows[0], COL_SELF, true, 40, out, sizeof(out));
	CHECK(!strcmp(out, "42.9"));
	top_cell(&t, &t.rows[0], COL_MODULE, true, 40, out, sizeof(out));
	CHECK(!strcmp(out, "kernel"));
	top_cell(&t, &t.rows[1], COL_NAME, true, 40, out, sizeof(out));
	CHECK(!strcmp(out, "libfoo.so+0x..."));
	top_cell(&t, &t.rows[1], COL_MODULE, true, 40, out, sizeof(out));
	CHECK(!strcmp(out, "libfoo.so"));
	top_table_fini(&t);
	top_model_fini(&m);
	CHECK_EQ(top_view_named("containers"), TOP_CONTAINERS);
	CHECK_EQ(top_view_named("lines"), TOP_LINES);
	CHECK_EQ(top_view_named("around"), TOP__VIEWS);
}

/* Has a row this text in the column? */
static bool has_cell(const struct top_table *t, enum top_col c, const char *want)
{
	char out[4 * 40 + 1];

	for (uint32_t i = 0; i < t->n; i++) {
		top_cell(t, &t->rows[i], c, true, 40, out, sizeof(out));
		if (!strcmp(out, want))
			return true;
	}
	return false;
}

/* docs/SUPPORT.md; code of a file without symbols is one row. */
TEST(cells_say_what_has_no_name)
{
	static const char *const functions[] = {
		"[kernel]", "libfoo.so+0x...", "[unknown file]",
		"[JIT code, no names]",
	};
	struct top_query q = { .view = TOP_FUNCTIONS };
	struct top_table t = { 0 };
	struct top_filter f = { .text = "libfoo.so+0x" };
	struct top_model m;
	struct batch b;
	void *data = nameless_batch(&b);

	top_model_init(&m, TOP_SPAN_NS);
	CHECK_EQ(top_model_add(&m, data, b.hdr->bytes, 1), 0);
	free(data);
	top_model_table(&m, &q, &t);
	top_sort(&t, COL_NAME, false);
	CHECK_EQ(t.n, 4);
	for (int i = 0; i < 4; i++)
		CHECK(has_cell(&t, COL_NAME, functions[i]));
	top_filter_rows(&t, &f);
	CHECK_EQ(t.n, 1);
	q.view = TOP_PROCESSES;
	top_model_table(&m, &q, &t);
	CHECK(t.n == 1 && has_cell(&t, COL_NAME, "[unknown process]"));
	q.view = TOP_THREADS;
	top_model_table(&m, &q, &t);
	CHECK(t.n == 1 && has_cell(&t, COL_NAME, "[unknown thread]"));
	CHECK(has_cell(&t, COL_PROCESS, "[unknown process]"));
	q.view = TOP_CONTAINERS;
	top_model_table(&m, &q, &t);
	CHECK(t.n == 1 && has_cell(&t, COL_NAME, "[host]"));
	top_table_fini(&t);
	top_model_fini(&m);
}

/* A batch of 5 s (20 Hz, `cpus` CPUs that are busy all the time) after REAL + from
 * seconds, and `carried` samples of the interval before it. */
static void feed_busy(struct top_model *m, uint32_t cpus, uint32_t carried, uint64_t from)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t p = process(b, 10, "app", "app"), n = 100 * cpus + carried;
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "work", 0, 0x10);
	uint64_t start = REAL + from * S;
	size_t len;
	void *data;

	for (uint32_t i = 0; i < carried; i++)
		event(b, p, 10, "app", STOP_COMPLETE, &f, 1, start - S / 20 * (i + 1));
	for (uint32_t i = 0; i < 100 * cpus; i++)
		event(b, p, 10, "app", STOP_COMPLETE, &f, 1, start + S / 20 * (i / cpus));
	CHECK_EQ(batch_builder_finish(b, start, start + 5 * S, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(top_model_add(m, data, len, n), 0);
	free(data);
}

static void check_busy(const struct top_model *m, uint64_t window_s, uint64_t events)
{
	const struct top_query q = { .view = TOP_FUNCTIONS, .window_ns = window_s * S };
	struct top_table t = { 0 };
	char text[64];

	top_model_table(m, &q, &t);
	CHECK_EQ(t.events, events);
	top_busy(&t, 2, text, sizeof(text));
	CHECK_STR(text, "2.00 of 2 CPUs busy (100 %)");
	top_table_fini(&t);
}

/* A sample whose names were not there yet comes with a later interval. */
TEST(samples_of_an_earlier_interval_do_not_make_cpus_busier)
{
	struct top_model m;

	top_model_init(&m, TOP_SPAN_NS);
	feed_busy(&m, 2, 0, 0);
	feed_busy(&m, 2, 16, 5);
	check_busy(&m, 5, 216);
	top_model_fini(&m);
	top_model_init(&m, 0);
	feed_busy(&m, 2, 0, 0);
	check_busy(&m, 0, 200);
	top_model_clear(&m);
	feed_busy(&m, 2, 16, 5);
	check_busy(&m, 0, 216);
	top_model_fini(&m);
}

/* 100 samples fit into 5 s at 20 Hz, or one more. */
TEST(a_sample_more_does_not_make_cpus_busier)
{
	struct top_model m;

	top_model_init(&m, TOP_SPAN_NS);
	feed_busy(&m, 2, 0, 0);
	feed(&m, 10, 2, 5, 5);
	check_busy(&m, 5, 202);
	top_model_fini(&m);
}

TEST(what_follows_a_cleared_table_reaches_back_to_it)
{
	struct top_model m;

	top_model_init(&m, 0);
	feed(&m, 1, 2, 0, 5);
	top_model_clear(&m);
	CHECK(m.n == 0 && m.bytes == 0 && top_model_span(&m) == 0);
	/* an interval without a sample has no batch */
	feed(&m, 1, 2, 10, 15);
	CHECK_EQ(top_model_span(&m), 10 * S);
	feed(&m, 2, 2, 10, 15);
	CHECK_EQ(top_model_span(&m), 10 * S);
	top_model_fini(&m);
}
