// SPDX-License-Identifier: Apache-2.0
#include "profile/collect.h"

#define XXH_INLINE_ALL		/* for XXH3_kSecret */
#include <xxhash.h>

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

/*
 * Two different batches of equal XXH3_64bits().  A block of 1024 bytes adds
 * each word to a sum, and the product of its halves (after XOR with a secret
 * that is in xxhash.h) to another.  Where the lower half is that of the secret
 * the product is 0: then a word may grow when the one 64 bytes behind it, of
 * the same sums, shrinks as much.
 */
static void *make_twin(const void *data, size_t len, void **first)
{
	size_t at = ((const struct batch_hdr *)data)->table[BATCH_TIMES].off;
	uint64_t *one = malloc(len), *two = malloc(len), word;

	CHECK(one && two);
	while (at / 1024 != (at + 64) / 1024)
		at += 8;
	CHECK(at + 64 + 8 <= len - 64);
	memcpy(one, data, len);
	for (size_t i = at; i <= at + 64; i += 64) {
		memcpy(&word, XXH3_kSecret + i / 64 % 16 * 8 + i % 64, 8);
		one[i / 8] = (uint32_t)word | 7ULL << 32;
	}
	memcpy(two, one, len);
	two[at / 8] += 1ULL << 32;
	two[at / 8 + 8] -= 1ULL << 32;
	*first = one;
	return two;
}

TEST(collect_takes_a_batch_that_was_made_to_look_repeated)
{
	struct batch_builder *builder = batch_builder_new(20);
	uint32_t f = frame(builder, BATCH_FRAME_NATIVE, "main", 0, 1);
	void *data, *a, *b;
	struct collect c;
	size_t len;

	for (uint32_t i = 0; i < 64; i++)
		event(builder, 0, 1, "app", STOP_COMPLETE, &f, 1, i);
	CHECK_EQ(batch_builder_finish(builder, 0, UINT64_MAX, &data, &len), 0);
	batch_builder_free(builder);
	b = make_twin(data, len, &a);
	CHECK(memcmp(a, b, len) != 0);
	CHECK_EQ(XXH3_64bits(a, len), XXH3_64bits(b, len));
	CHECK_EQ(collect_init(&c, 20), 0);
	CHECK_EQ(collect_add(&c, a, len, 64), BATCH_DELIVERED);
	CHECK_EQ(collect_add(&c, b, len, 64), BATCH_DELIVERED);
	CHECK_EQ(c.events, 128);
	collect_fini(&c);
	free(data);
	free(a);
	free(b);
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

	CHECK_EQ(collect_init(&c, 19), 0);
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

/* Full, of a rate that has halves: half of all is kept, at half of the rate. */
TEST(collect_keeps_one_of_two_of_what_has_no_room)
{
	uint64_t taken = 0, n, seconds;
	struct collect c;
	struct batch all;
	size_t len;
	void *data;

	CHECK_EQ(collect_init(&c, 992), 0);
	for (uint32_t i = 0; i < 40; i++) {
		void *a = make(1000 + 1000000ull * i, 300000, i, &len);

		CHECK_EQ(collect_add(&c, a, len, 300000), BATCH_DELIVERED);
		taken += 300000;
		free(a);
	}
	CHECK_EQ(c.events, taken);
	CHECK_EQ(c.refused, 0);
	CHECK(c.thin >= 1 && c.thin <= 3);
	CHECK_EQ(collect_finish(&c, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &all), 0);
	CHECK_EQ(all.hdr->frequency, 992 >> c.thin);
	n = batch_n(&all, BATCH_TIMES);
	/* what stands for each process is the same time as before, by 2 % */
	seconds = taken / 992;
	CHECK(n / all.hdr->frequency > seconds * 98 / 100 &&
	      n / all.hdr->frequency < seconds * 102 / 100);
	for (uint32_t i = 0; i < batch_n(&all, BATCH_SAMPLES); i++)
		CHECK(all.samples[i].n > (300000u >> c.thin) * 98 / 100 &&
		      all.samples[i].n < (300000u >> c.thin) * 102 / 100);
	collect_fini(&c);
	free(data);
}
