// SPDX-License-Identifier: Apache-2.0
/* The hub's intervals when the clock on the wall is set, and after a suspend. */
#include "symbolizerd/hub/interval.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/batch.h"
#include "symbolizerd/hub/intake.h"
#include "symbolizerd/knowledge/knowledge.h"
#include "tests/unit/harness.h"

#define HOUR	(3600 * NSEC_PER_SEC)
#define START	(1000000 * NSEC_PER_SEC)	/* CLOCK_MONOTONIC */

static uint64_t mono_ns = START, asleep_ns;
static uint64_t wall_ns;	/* CLOCK_REALTIME, ahead of CLOCK_MONOTONIC */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t t = mono_ns + (id == CLOCK_REALTIME ? wall_ns + asleep_ns :
				id == CLOCK_BOOTTIME ? asleep_ns : 0);

	ts->tv_sec = (time_t)(t / NSEC_PER_SEC);
	ts->tv_nsec = (long)(t % NSEC_PER_SEC);
	return 0;
}

static struct batch_hdr hdr;
static uint64_t events, first, last, started;

/* What the batch says of times. */
static void on_batch(void *ctx, int fd, uint64_t id, const struct msg_batch *m)
{
	void *data = malloc(m->bytes);
	struct batch b;

	(void)ctx;
	(void)id;
	CHECK_EQ(pread(fd, data, m->bytes, 0), m->bytes);
	CHECK_EQ(batch_open(data, m->bytes, &b), 0);
	hdr = *b.hdr;
	events = batch_n(&b, BATCH_TIMES);
	first = last = b.times[0];
	for (uint64_t i = 0; i < events; i++) {
		first = b.times[i] < first ? b.times[i] : first;
		last = b.times[i] > last ? b.times[i] : last;
	}
	started = b.resources[b.samples[0].resource].start_ns;
	CHECK_EQ(m->samples, events);
	free(data);
}

static void on_end(void *ctx)
{
	(void)ctx;
}

static const struct knowledge_out out = {
	.batch = on_batch, .interval_ended = on_end,
};
static const struct tables_out tables;
static struct knowledge k;

static void begin(void)
{
	mono_ns = START;
	asleep_ns = 0;
	wall_ns = 1700000000 * NSEC_PER_SEC;
	CHECK_EQ(knowledge_init(&k, &out, NULL, &tables, NULL), 0);
	k.frequency = 19;
}

/* n samples in five seconds, of a process that began at START. */
static void interval(int n)
{
	for (int i = 0; i < n; i++) {
		struct trace_rec r = {
			.len = sizeof(r), .kind = REC_SAMPLE,
			.version = REC_VERSION, .stop = STOP_NO_USER,
			.exe = EXE_NONE, .process = { START, 10, 0 }, .tid = 10,
			.time_ns = mono_ns,
		};

		CHECK(intake_record(&k, &r, sizeof(r)));
		mono_ns += 5 * NSEC_PER_SEC / (uint64_t)n;
	}
}

/* All that came is in the batch, at the time that the wall shows now. */
static void check_batch(uint64_t n)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);

	interval_end(&k, true);
	CHECK_EQ(events, n);
	CHECK(first >= now - 5 * NSEC_PER_SEC && last <= now);
	CHECK(hdr.start_ns <= first && last < hdr.end_ns);
	CHECK_EQ(k.ledger.pending, 0);
	CHECK_EQ(k.ledger.t.hub_dropped + k.ledger.t.hub_bad, 0);
	CHECK_EQ(started, START + wall_ns);
}

TEST(clock_that_goes_on_is_believed)
{
	begin();
	for (int i = 0; i < 3; i++) {
		interval(20);
		check_batch(20);
		CHECK(hdr.end_ns - hdr.start_ns <= 5 * NSEC_PER_SEC + 1);
	}
	knowledge_fini(&k);
}

TEST(clock_set_back_loses_nothing)
{
	begin();
	interval(20);
	check_batch(20);
	interval(20);
	wall_ns -= HOUR;
	check_batch(20);
	interval(20);
	check_batch(20);
	CHECK(hdr.end_ns - hdr.start_ns <= 5 * NSEC_PER_SEC + 1);
	knowledge_fini(&k);
}

TEST(clock_set_forward_loses_nothing)
{
	begin();
	interval(20);
	wall_ns += HOUR;
	check_batch(20);
	interval(20);
	check_batch(20);
	CHECK(hdr.end_ns - hdr.start_ns <= 5 * NSEC_PER_SEC + 1);
	knowledge_fini(&k);
}

/* Neither CLOCK_MONOTONIC nor the samples go on meanwhile. */
TEST(suspend_loses_nothing)
{
	begin();
	interval(20);
	asleep_ns += HOUR;
	interval(20);
	interval_end(&k, true);
	CHECK_EQ(events, 40);
	CHECK_EQ(k.ledger.pending, 0);
	CHECK_EQ(started, START + wall_ns);
	interval(20);
	check_batch(20);
	knowledge_fini(&k);
}
