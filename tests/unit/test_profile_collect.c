// SPDX-License-Identifier: Apache-2.0
#include "profile/collect.h"

#include "tests/unit/cli_batch.h"

/* A batch of one stack with n events from time t on. */
static void *make(uint64_t t, uint32_t n, uint32_t pid, size_t *len)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "main", 0, pid);
	uint32_t p = process(b, pid, "app", "app");
	void *data;

	for (uint32_t i = 0; i < n; i++)
		event(b, p, pid, "app", STOP_COMPLETE, &f, 1, t + i);
	CHECK_EQ(batch_builder_finish(b, t, t + n, &data, len), 0);
	batch_builder_free(b);
	return data;
}

TEST(collect_merges_and_keeps_the_span)
{
	size_t la, lb, len;
	void *a = make(1000, 3, 1, &la), *b = make(500, 2, 1, &lb), *data;
	struct collect c;
	struct batch all;

	CHECK_EQ(collect_init(&c, 20), 0);
	CHECK_EQ(collect_add(&c, a, la, 3), BATCH_DELIVERED);
	CHECK_EQ(collect_add(&c, b, lb, 2), BATCH_DELIVERED);
	CHECK_EQ(collect_finish(&c, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &all), 0);
	CHECK_EQ(batch_n(&all, BATCH_TIMES), 5);
	CHECK_EQ(batch_n(&all, BATCH_SAMPLES), 1);
	CHECK_EQ(all.hdr->start_ns, 500);
	CHECK_EQ(all.hdr->end_ns, 1003);
	collect_fini(&c);
	free(data);
	free(a);
	free(b);
}

TEST(collect_takes_a_repeated_batch_once)
{
	struct collect c;
	size_t len;
	void *a = make(1000, 3, 1, &len);

	CHECK_EQ(collect_init(&c, 20), 0);
	CHECK_EQ(collect_add(&c, a, len, 3), BATCH_DELIVERED);
	CHECK_EQ(collect_add(&c, a, len, 3), BATCH_DELIVERED);
	CHECK_EQ(c.events, 3);
	CHECK_EQ(batch_events(c.builder), 3);
	collect_fini(&c);
	free(a);
}

TEST(collect_refuses_what_does_not_add_up)
{
	struct collect c;
	size_t len;
	char *a = make(1000, 3, 1, &len);

	CHECK_EQ(collect_init(&c, 20), 0);
	CHECK_EQ(collect_add(&c, a, len, 4), BATCH_INVALID);
	CHECK_EQ(collect_add(&c, a, len - 8, 3), BATCH_INVALID);
	a[0] ^= 1;
	CHECK_EQ(collect_add(&c, a, len, 3), BATCH_INVALID);
	CHECK_EQ(c.events, 0);
	collect_fini(&c);
	free(a);
}

TEST(collect_writes_an_empty_profile)
{
	struct collect c;
	struct batch b;
	size_t len;
	void *data;

	CHECK_EQ(collect_init(&c, 20), 0);
	CHECK_EQ(collect_finish(&c, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_SAMPLES), 0);
	collect_fini(&c);
	free(data);
}

/* Full: what is there stays whole, what comes is refused and counted. */
TEST(collect_stops_at_the_largest_batch)
{
	uint64_t taken = 0, refused = 0;
	struct collect c;
	struct batch b;
	size_t len;
	void *data;

	CHECK_EQ(collect_init(&c, 20), 0);
	for (uint32_t i = 0; i < 40 && refused < 600000; i++) {
		void *a = make(1 + i * 1000000ULL, 300000, i, &len);

		if (collect_add(&c, a, len, 300000) == BATCH_DELIVERED)
			taken += 300000;
		else
			refused += 300000;
		free(a);
	}
	CHECK(taken >= 3000000 && refused == 600000);
	CHECK_EQ(c.events, taken);
	CHECK_EQ(c.refused, refused);
	CHECK_EQ(collect_finish(&c, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &b), 0);
	CHECK_EQ(batch_n(&b, BATCH_TIMES), taken);
	collect_fini(&c);
	free(data);
}
