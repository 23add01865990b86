// SPDX-License-Identifier: Apache-2.0
/* Batches of the hub, whole and not, into the viewer's store. */
#include "viewer/server/take.h"

#include <errno.h>

#include "tests/unit/cli_batch.h"

#define SECOND	1000000000ULL
#define HOUR	(3600 * SECOND)
#define EVENTS	7	/* in sample_batch() */

static void begin(struct store *s)
{
	store_init(s, 1 << 20, HOUR);
}

static size_t n_of(const struct store *s, enum batch_table t)
{
	return s->n ? batch_n(&s->v[0]->b, t) : 0;
}

/* The name of the process with this pid, in the first segment. */
static const char *name_of(const struct store *s, uint32_t pid)
{
	const struct batch *b = &s->v[0]->b;
	static char text[64];

	for (uint32_t i = 0; i < batch_n(b, BATCH_RESOURCES); i++) {
		size_t len;
		const char *name = batch_str(b, b->resources[i].comm, &len);

		if (b->resources[i].pid != pid)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)len, name);
		return text;
	}
	return NULL;
}

/* One sample of this process, by a thread, on each of two CPUs. */
static void *two_cpus(uint32_t pid, uint32_t tid, const char *thread,
		      uint64_t time, size_t *len)
{
	struct batch_builder *b = batch_builder_new(97);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "main", 0, 16), stack;
	uint32_t of = process(b, pid, "exe", NULL);
	void *data;

	stack = batch_stack(b, &f, 1);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct batch_attr a = {
			.tid = tid, .thread_name = str(b, thread), .cpu = cpu,
		};

		batch_event(b, stack, batch_attr(b, &a), of, cpu ?
			    STOP_NO_USER : STOP_COMPLETE, time + cpu);
	}
	CHECK_EQ(batch_builder_finish(b, time, time + 2, &data, len), 0);
	batch_builder_free(b);
	return data;
}

TEST(take_keeps_all_that_is_shown)
{
	struct store s;
	struct batch b;
	void *data = sample_batch(&b);

	begin(&s);
	CHECK_EQ(take_batch(&s, data, b.hdr->bytes, EVENTS, 5 * SECOND), 0);
	CHECK_EQ(s.samples, EVENTS);
	CHECK_EQ(s.batches, 1);
	CHECK_EQ(s.frequency, 20);
	CHECK_EQ(n_of(&s, BATCH_RESOURCES), batch_n(&b, BATCH_RESOURCES));
	CHECK_EQ(n_of(&s, BATCH_FRAMES), batch_n(&b, BATCH_FRAMES));
	CHECK_EQ(n_of(&s, BATCH_STACKS), batch_n(&b, BATCH_STACKS));
	/* by its leader, its executable, or whatever there is */
	CHECK_STR(name_of(&s, 10), "app");
	CHECK_STR(name_of(&s, 11), "app");
	CHECK_STR(name_of(&s, 12), "worker");
	CHECK_STR(name_of(&s, 13), "kworker");
	CHECK_EQ(s.v[0]->start_ns, 100);
	CHECK_EQ(s.v[0]->end_ns, 701);
	free(data);
	store_fini(&s);
}

TEST(take_makes_one_of_what_is_shown_as_one)
{
	struct store s;
	size_t len;
	void *data = two_cpus(5, 6, "worker", 9 * SECOND, &len);

	begin(&s);
	CHECK_EQ(take_batch(&s, data, len, 2, 10 * SECOND), 0);
	CHECK_EQ(n_of(&s, BATCH_SAMPLES), 1);
	CHECK_EQ(s.samples, 2);
	CHECK_EQ(s.frequency, 97);
	free(data);
	store_fini(&s);
}

TEST(take_knows_a_process_by_its_leader_later)
{
	struct store s;
	size_t len;
	void *data = two_cpus(5, 5, "leader", 9 * SECOND, &len);

	begin(&s);
	CHECK_EQ(take_batch(&s, data, len, 2, 10 * SECOND), 0);
	CHECK_STR(name_of(&s, 5), "leader");
	free(data);
	store_fini(&s);
	/* a batch without it; another process of that number is another */
	store_init(&s, 1 << 20, HOUR);
	names_put(&s.names, 5, 0, "leader", 6);
	names_put(&s.names, 6, 1, "before", 6);
	data = two_cpus(5, 7, "worker", 9 * SECOND, &len);
	CHECK_EQ(take_batch(&s, data, len, 2, 10 * SECOND), 0);
	CHECK_STR(name_of(&s, 5), "leader");
	free(data);
	store_fini(&s);
	store_init(&s, 1 << 20, HOUR);
	names_put(&s.names, 6, 1, "before", 6);
	data = two_cpus(6, 7, "worker", 9 * SECOND, &len);
	CHECK_EQ(take_batch(&s, data, len, 2, 10 * SECOND), 0);
	CHECK_STR(name_of(&s, 6), "exe");
	free(data);
	store_fini(&s);
}

TEST(names_are_kept_up_to_a_length)
{
	static const char name[] = "0123456789012345678901234567890123456789012345678";
	static struct viewer_names n;
	size_t len;

	names_put(&n, 5, 1, name, NAMES_LEN);
	CHECK(names_get(&n, 5, 1, &len) && len == NAMES_LEN);
	names_put(&n, 6, 1, name, NAMES_LEN + 1);
	CHECK(!names_get(&n, 6, 1, &len));
	/* one that has none any more keeps the last */
	names_put(&n, 5, 1, "", 0);
	CHECK(names_get(&n, 5, 1, &len) && len == NAMES_LEN);
	CHECK(!names_get(&n, 5, 2, &len));
}

TEST(take_leaves_out_other_times)
{
	struct store s;
	size_t len;
	void *data = two_cpus(5, 5, "leader", HOUR, &len);

	begin(&s);
	/* one event an hour old, one a nanosecond less */
	CHECK_EQ(take_batch(&s, data, len, 2, 2 * HOUR + 1), 0);
	CHECK_EQ(s.samples, 1);
	CHECK_EQ(take_batch(&s, data, len, 2, 3 * HOUR), 0);
	/* ... and a minute in the future, and one more */
	CHECK_EQ(take_batch(&s, data, len, 2, HOUR + 1 - TAKE_FUTURE_NS), 0);
	CHECK_EQ(s.samples, 2);
	CHECK_EQ(s.batches, 3);
	free(data);
	store_fini(&s);
}

TEST(take_refuses_what_is_no_batch)
{
	struct store s;
	struct batch b;
	void *data = sample_batch(&b);
	uint8_t *copy = malloc(b.hdr->bytes);
	size_t len = b.hdr->bytes;

	begin(&s);
	CHECK_EQ(take_batch(&s, data, len, EVENTS - 1, SECOND), -EPROTO);
	CHECK_EQ(take_batch(&s, data, len, EVENTS + 1, SECOND), -EPROTO);
	for (size_t n = 0; n < len; n++)
		CHECK_EQ(take_batch(&s, data, n, EVENTS, SECOND), -EPROTO);
	CHECK_EQ(s.n + s.samples + s.batches, 0);
	for (size_t i = 0; i < 8 * len; i++) {
		memcpy(copy, data, len);
		copy[i / 8] ^= (uint8_t)(1 << i % 8);
		(void)take_batch(&s, copy, len, EVENTS, SECOND);
	}
	free(copy);
	free(data);
	store_fini(&s);
}
