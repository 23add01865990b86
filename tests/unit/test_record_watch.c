// SPDX-License-Identifier: Apache-2.0
#include "cli/record/record_watch.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/cli_batch.h"

#define END	100000000000ULL

struct made {
	struct record_watch w;
	struct collect c;
	int peer;		/* of the supervisor */
};

static void make(struct made *m)
{
	const struct cut all = { .start_ns = 0, .end_ns = END };
	int fds[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	CHECK_EQ(collect_init(&m->c, 20), 0);
	record_watch_init(&m->w, &m->c, 20, fds[1]);
	m->w.hub.status.interval_ms = 5000;
	record_watch_range(&m->w, &all);
	m->peer = fds[0];
}

static void unmake(struct made *m)
{
	collect_fini(&m->c);
	close(m->w.control);
	close(m->peer);
}

/* A status that came at this time, when so much waited. */
static bool covered(struct made *m, uint64_t now, uint64_t pending,
		    uint64_t waiting)
{
	struct status st = { .hub = { .pending = pending,
				      .exes_waiting = waiting } };

	m->w.hub.statuses++;
	record_watch_status(&m->w, &st, now);
	return m->w.state.covered;
}

TEST(watch_waits_for_a_batch_and_a_status)
{
	struct made m;

	make(&m);
	CHECK(!covered(&m, END - 1, 0, 0));
	CHECK(!covered(&m, END + SETTLE_NS - 1, 0, 0));
	/* a batch before all had its names */
	record_watch_batch_end(&m.w, END + 2 * SETTLE_NS);
	CHECK(!covered(&m, END + 2 * SETTLE_NS, 5, 1));
	CHECK(!covered(&m, END + 3 * SETTLE_NS, 5, 0));
	/* one that does not go far enough */
	record_watch_batch_end(&m.w, END + SETTLE_NS - 1);
	CHECK(!covered(&m, END + 4 * SETTLE_NS, 5, 0));
	record_watch_batch_end(&m.w, END + 5 * SETTLE_NS);
	CHECK(!m.w.state.covered);
	CHECK(covered(&m, END + 6 * SETTLE_NS, 5, 3));
	unmake(&m);
}

/* On a busy host a new executable always waits for its names: not of the range. */
TEST(watch_ends_when_none_can_wait_any_longer)
{
	uint64_t wait = record_watch_wait_ns(5000);
	struct made m;

	CHECK_EQ(wait, SETTLE_NS + BATCH_CARRY_NS);
	CHECK_EQ(record_watch_wait_ns(1000), 4 * SETTLE_NS);
	make(&m);
	record_watch_batch_end(&m.w, END + wait - 1);
	CHECK(!covered(&m, END + wait, 5, 1));
	CHECK(!covered(&m, END + wait + 1, 5, 1));
	record_watch_batch_end(&m.w, END + wait);
	CHECK(!m.w.state.covered);
	CHECK(covered(&m, END + wait + 2, 5, 1));
	unmake(&m);
}

TEST(watch_ends_when_nothing_waits)
{
	struct made m;

	make(&m);
	CHECK(!covered(&m, END + SETTLE_NS, 0, 1));
	CHECK(covered(&m, END + SETTLE_NS, 0, 0));
	unmake(&m);
}

TEST(watch_cuts_nothing_that_it_has)
{
	struct cut c = { .start_ns = 50, .end_ns = 300 };
	struct made m;
	struct batch b;
	void *mem = sample_batch(&b);

	make(&m);
	CHECK_EQ(m.w.hub.ops->batch(m.w.hub.arg, b.hdr, b.hdr->bytes, 7), 0);
	CHECK_EQ(m.c.events, 7);
	record_watch_range(&m.w, &c);
	CHECK_EQ(m.w.cut.end_ns, m.c.end_ns);
	free(mem);
	unmake(&m);
}

TEST(watch_takes_the_range_only)
{
	struct cut c = { .start_ns = 200, .end_ns = 500 };
	struct profile_account a;
	struct record_state s;
	struct made m;
	struct batch b;
	void *mem = sample_batch(&b);

	make(&m);
	record_watch_range(&m.w, &c);
	CHECK_EQ(m.w.hub.ops->batch(m.w.hub.arg, b.hdr, b.hdr->bytes, 7), 0);
	/* what does not add up, or is of another frequency, is refused */
	CHECK_EQ(m.w.hub.ops->batch(m.w.hub.arg, b.hdr, b.hdr->bytes, 6), -EPROTO);
	CHECK_EQ(m.w.hub.ops->batch(m.w.hub.arg, b.hdr, b.hdr->bytes - 8, 7), -EPROTO);
	m.w.frequency = 21;
	CHECK_EQ(m.w.hub.ops->batch(m.w.hub.arg, b.hdr, b.hdr->bytes, 7), -EPROTO);
	CHECK_EQ(m.c.events, 3);
	m.w.hub.missed = 14;
	record_watch_say(&m.w);
	record_watch_say(&m.w);		/* no news */
	CHECK_EQ(recv(m.peer, &s, sizeof(s), MSG_DONTWAIT), sizeof(s));
	CHECK_EQ(s.samples, 3);
	CHECK_EQ(s.missed, 14);
	CHECK(!s.connected && !s.subscribed && !s.covered && !s.lost);
	CHECK_EQ(recv(m.peer, &s, sizeof(s), MSG_DONTWAIT), -1);
	record_watch_account(&m.w, &a);
	CHECK_EQ(a.start_ns, 200);
	CHECK_EQ(a.end_ns, 500);
	CHECK_EQ(a.taken, 17);
	CHECK_EQ(a.delivered, 3);
	CHECK_EQ(a.lost, 14);
	CHECK(!strcmp(a.reasons, "taken by the running trifold, missed 14"));
	free(mem);
	unmake(&m);
}

/* The range has no end yet, or one in the future. */
TEST(watch_of_a_trifold_that_ended_first)
{
	static const uint64_t ends[] = { UINT64_MAX, 90 * END };
	struct status st = { .loader = { .cpus = 4 }, .hub = { .pending = 3 } };
	struct profile_account a;
	struct made m;

	for (size_t i = 0; i < 2; i++) {
		struct cut c = { .start_ns = END, .end_ns = ends[i] };

		make(&m);
		record_watch_range(&m.w, &c);
		record_watch_account(&m.w, &a);
		CHECK_EQ(a.end_ns, END);
		CHECK_EQ(a.covered_ns, 0);
		record_watch_batch_end(&m.w, END + 10);
		record_watch_status(&m.w, &st, END + 20);
		record_watch_account(&m.w, &a);
		CHECK_EQ(a.end_ns, END + 10);
		CHECK_EQ(a.covered_ns, 4 * 10);
		/* nothing waits: there were no samples since */
		st.hub.pending = 0;
		record_watch_status(&m.w, &st, END + 30);
		st.hub.pending = 3;
		record_watch_account(&m.w, &a);
		CHECK_EQ(a.end_ns, END + 30);
		CHECK_EQ(a.covered_ns, 4 * 30);
		unmake(&m);
	}
}
