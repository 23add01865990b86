// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/trace.h"
#include "tests/unit/harness.h"

#include <string.h>

#include "common/clock.h"

#define WORDS	45

#define HEADER	(sizeof(struct trace_rec) / 8)

union one {
	struct trace_rec rec;
	uint64_t all[HEADER + WORDS];
};

static const struct trace_rec *make(uint64_t seed)
{
	static union one o;

	o.rec = (struct trace_rec){ .n_kernel = 5, .n_user = WORDS - 5 };
	for (int i = 0; i < WORDS; i++)
		o.all[HEADER + (size_t)i] = FRAME_WORD(i < 5 ? FRAME_KERNEL : FRAME_NATIVE, 2,
				    seed * 1000 + (uint64_t)i);
	return &o.rec;
}

TEST(trace_is_known_again)
{
	struct traces t;
	uint32_t index[1000];
	int first;

	traces_init(&t, 42);
	for (uint32_t i = 0; i < 1000; i++) {
		index[i] = traces_add(&t, make(i), 0, 1, &first);
		CHECK(index[i] != TRACE_NONE && first);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK_EQ(traces_add(&t, make(i), 0, 1, &first), index[i]);
		CHECK(!first);
		CHECK_EQ(traces_add(&t, make(i), 0, 2, &first), index[i]);
		CHECK(first);		/* in this interval */
		CHECK(!memcmp(traces_get(&t, index[i])->words,
			      make(i)->words, WORDS * 8));
	}
	CHECK_EQ(t.n, 1000);
	traces_fini(&t);
}

TEST(trace_differs_by_where_the_kernel_ends)
{
	struct trace_rec *rec = (struct trace_rec *)make(1);
	struct traces t;
	uint32_t a, b;
	int first;

	traces_init(&t, 42);
	a = traces_add(&t, rec, 0, 1, &first);
	rec->n_kernel--;
	rec->n_user++;
	b = traces_add(&t, rec, 0, 1, &first);
	CHECK(first && a != b);
	traces_fini(&t);
}

TEST(trace_without_words_is_one)
{
	struct trace_rec rec = { 0 };
	struct traces t;
	int first;

	traces_init(&t, 42);
	CHECK_EQ(traces_add(&t, &rec, 0, 1, &first), 0);
	CHECK_EQ(traces_add(&t, &rec, 0, 1, &first), 0);
	CHECK(!first);
	traces_fini(&t);
}

TEST(traces_unused_are_forgotten_and_indices_reused)
{
	uint32_t end = 1 + TRACE_IDLE_INTERVALS, kept;
	struct traces t;
	int first;

	traces_init(&t, 42);
	for (uint32_t i = 0; i < 500; i++)
		traces_add(&t, make(i), 0, 1, &first);
	for (uint32_t i = 0; i < 10; i++)
		traces_add(&t, make(i * 7), 0, end - 1, &first);
	traces_sweep(&t, end);
	CHECK_EQ(t.n, 10);
	kept = traces_add(&t, make(63), 0, end, &first);
	CHECK_EQ(kept, 63);
	CHECK(traces_add(&t, make(1), 0, end, &first) < 500);
	CHECK(first);
	CHECK_EQ(t.top, 500);
	traces_sweep(&t, end + 100);
	CHECK_EQ(t.n, 0);
	CHECK_EQ(t.bytes, 0);
	traces_fini(&t);
}

TEST(traces_stay_within_their_memory)
{
	struct traces t;
	uint32_t n = 0;
	int first;

	traces_init(&t, 42);
	t.bytes_max = 64 << 10;
	while (traces_add(&t, make(n), 0, 5, &first) != TRACE_NONE)
		n++;
	CHECK(t.bytes <= t.bytes_max && n > 100);
	/* those known go on */
	CHECK(traces_add(&t, make(0), 0, 5, &first) != TRACE_NONE);
	/* more than half full: what the last interval did not use, goes */
	CHECK(traces_add(&t, make(1), 0, 6, &first) != TRACE_NONE);
	traces_sweep(&t, 6);
	CHECK_EQ(t.n, 1);
	traces_fini(&t);
}

/* Not a benchmark (sanitizers are on), but it would show a wrong algorithm. */
TEST(trace_lookup_is_quick)
{
	const struct trace_rec *rec;
	struct traces t;
	uint64_t start;
	int first;

	traces_init(&t, 42);
	for (uint32_t i = 0; i < 20000; i++)
		traces_add(&t, make(i), 0, 1, &first);
	rec = make(77);
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 10000; i++)
		traces_add(&t, rec, 0, 1, &first);
	CHECK(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < 10000 * 20000ULL);
	traces_fini(&t);
}
