// SPDX-License-Identifier: Apache-2.0
#include "profile/cut.h"

#include "tests/unit/cli_batch.h"

#define ALL	{ .start_ns = 0, .end_ns = UINT64_MAX }

/* What c takes of the sample batch: how many events, and of which processes
 * (bit n: pid 10 + n). */
static uint64_t take(const struct cut *c, uint32_t *pids)
{
	uint64_t events, from = UINT64_MAX, until = 0;
	struct batch b, part;
	void *mem = sample_batch(&b), *data;
	size_t len;

	*pids = 0;
	CHECK_EQ(cut_batch(c, &b, &data, &len, &events), 0);
	free(mem);
	if (!events) {
		CHECK(!data);
		return 0;
	}
	CHECK_EQ(batch_open(data, len, &part), 0);
	CHECK_EQ(batch_n(&part, BATCH_TIMES), events);
	CHECK_EQ(part.hdr->frequency, 20);
	for (uint32_t i = 0; i < events; i++) {
		from = part.times[i] < from ? part.times[i] : from;
		until = part.times[i] > until ? part.times[i] : until;
	}
	CHECK(from >= c->start_ns && until < c->end_ns);
	CHECK(part.hdr->start_ns >= c->start_ns && part.hdr->end_ns <= c->end_ns);
	for (uint32_t i = 1; i < batch_n(&part, BATCH_RESOURCES); i++)
		*pids |= 1u << (part.resources[i].pid - 10);
	free(data);
	return events;
}

TEST(cut_takes_everything_of_an_open_range)
{
	const struct cut c = ALL;
	uint64_t events;
	struct batch b, part;
	void *mem = sample_batch(&b), *data;
	uint32_t pids;
	size_t len;

	CHECK_EQ(take(&c, &pids), 7);
	CHECK_EQ(pids, 0xf);
	CHECK(cut_takes_all(&c, &b));
	CHECK_EQ(cut_batch(&c, &b, &data, &len, &events), 0);
	CHECK_EQ(batch_open(data, len, &part), 0);
	for (int t = 0; t < BATCH__TABLES; t++)
		CHECK_EQ(batch_n(&part, t), batch_n(&b, t));
	free(data);
	free(mem);
}

/* Events are at 100, 200 ... 700. */
TEST(cut_keeps_to_the_time)
{
	static const struct {
		uint64_t start, end, events;
		uint32_t pids;
	} cases[] = {
		{ 0, 100, 0, 0 }, { 100, 100, 0, 0 }, { 100, 101, 1, 1 },
		{ 101, 201, 1, 1 }, { 200, 400, 2, 3 }, { 600, 700, 1, 4 },
		{ 700, 701, 1, 8 }, { 701, UINT64_MAX, 0, 0 },
		{ UINT64_MAX, UINT64_MAX, 0, 0 }, { 500, 100, 0, 0 },
	};
	uint32_t pids;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cut c = {
			.start_ns = cases[i].start,
			.end_ns = cases[i].end,
		};
		struct batch b;
		void *mem = sample_batch(&b);

		CHECK_EQ(take(&c, &pids), cases[i].events);
		CHECK_EQ(pids, cases[i].pids);
		CHECK(!cut_takes_all(&c, &b));
		free(mem);
	}
}

TEST(cut_keeps_to_processes)
{
	struct cut c = ALL;
	uint32_t pids;

	c.pids = (struct number_list){ .v = { 11, 13 }, .n = 2 };
	CHECK_EQ(take(&c, &pids), 4);
	CHECK_EQ(pids, 0xa);
	c.pids = (struct number_list){ .v = { 99 }, .n = 1 };
	CHECK_EQ(take(&c, &pids), 0);
	c.pids = (struct number_list){ .v = { 10 }, .n = 1 };
	c.start_ns = 150;
	CHECK_EQ(take(&c, &pids), 1);
}

TEST(cut_keeps_to_a_container)
{
	struct cut c = ALL;
	struct batch b;
	void *mem = sample_batch(&b);
	uint32_t pids;

	strcpy(c.container, "c0ff");
	CHECK(!cut_takes_all(&c, &b));
	CHECK_EQ(take(&c, &pids), 3);
	CHECK_EQ(pids, 2);
	strcpy(c.container, "c0ffee");
	CHECK_EQ(take(&c, &pids), 3);
	strcpy(c.container, "c0ffee0");
	CHECK_EQ(take(&c, &pids), 0);
	strcpy(c.container, "0ffee");
	CHECK_EQ(take(&c, &pids), 0);
	free(mem);
}

TEST(cut_keeps_to_a_service)
{
	struct cut c = ALL;
	struct batch b;
	void *mem = sample_batch(&b);
	uint32_t pids;

	strcpy(c.unit, "web");
	CHECK(!cut_takes_all(&c, &b));
	CHECK_EQ(take(&c, &pids), 1);
	CHECK_EQ(pids, 4);
	/* a container's of that name is another one */
	strcpy(c.container, "c0ffee");
	CHECK_EQ(take(&c, &pids), 3);
	CHECK_EQ(pids, 2);
	c.container[0] = '\0';
	strcpy(c.unit, "we");
	CHECK_EQ(take(&c, &pids), 0);
	strcpy(c.unit, "web2");
	CHECK_EQ(take(&c, &pids), 0);
	free(mem);
}

/* A number may come again, for a process that began later. */
TEST(cut_knows_a_process_by_its_begin)
{
	struct cut c = { .start_ns = 1000, .end_ns = 2000,
			 .pids = { .v = { 7 }, .n = 1 } };
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "main", 0, 0);
	struct batch_resource r = { .pid = 7, .start_ns = 1000 };
	uint64_t events;
	struct batch all;
	void *mem, *data;
	size_t len;

	event(b, batch_resource(b, &r), 7, "a", STOP_COMPLETE, &f, 1, 1100);
	r.start_ns = 1001;
	event(b, batch_resource(b, &r), 7, "b", STOP_COMPLETE, &f, 1, 1200);
	CHECK_EQ(batch_builder_finish(b, 0, 3000, &mem, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(mem, len, &all), 0);
	CHECK_EQ(cut_batch(&c, &all, &data, &len, &events), 0);
	CHECK_EQ(events, 1);
	free(data);
	free(mem);
}

/* Nothing that the samples do not need; inlined calls whole. */
TEST(cut_leaves_out_what_is_not_named)
{
	struct cut c = ALL;
	struct batch b, part;
	void *mem = sample_batch(&b), *data;
	uint64_t events;
	size_t len;

	c.pids = (struct number_list){ .v = { 13 }, .n = 1 };
	CHECK_EQ(cut_batch(&c, &b, &data, &len, &events), 0);
	CHECK_EQ(batch_open(data, len, &part), 0);
	CHECK_EQ(batch_n(&part, BATCH_STACKS), 1);
	CHECK_EQ(batch_n(&part, BATCH_FRAMES), 1);
	CHECK_EQ(batch_n(&part, BATCH_EXES), 1);
	CHECK_EQ(batch_n(&part, BATCH_FUNCTIONS), 2);
	CHECK_EQ(batch_n(&part, BATCH_STRINGS), 3);	/* "", kthread, kworker */
	free(data);
	free(mem);
	mem = inlined_batch(&b);
	c = (struct cut)ALL;
	CHECK_EQ(cut_batch(&c, &b, &data, &len, &events), 0);
	CHECK_EQ(batch_open(data, len, &part), 0);
	CHECK_EQ(batch_n(&part, BATCH_FRAMES), 4);
	CHECK_EQ(part.frames[part.stack_frames[0]].inlined, 2);
	CHECK_EQ(part.frames[part.stack_frames[0]].line, 30);
	free(data);
	free(mem);
}
