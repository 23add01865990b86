// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the real symbolizerd: are batches shown to those that subscribe, and is
 * nobody else's account any different for it?
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/hub/status.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

static struct place place;

static void ask(struct conn *c, uint32_t version, uint32_t batches)
{
	struct msg_subscribe m = {
		.batch_version = version, .batches = batches,
	};

	NEED(conn_send(c, MSG_SUBSCRIBE, 0, &m, sizeof(m), NULL, 0, NULL,
		       0) == 0);
}

static void subscribe(struct conn *c, uint32_t batches)
{
	status_connect(c, &place);
	ask(c, BATCH_VERSION, batches);
}

static bool has_batches(const struct status *st, uint64_t n)
{
	return st->hub.batches >= n;
}

/* One batch of two samples: wait until the hub has made so many. */
static void make_batch(struct fake_loader *l, struct conn *status, uint64_t n)
{
	struct status st;

	two_samples(l);
	status_until(status, &st, has_batches, n);
}

static void begin(struct fake_loader *l, struct conn *status)
{
	hub_begin(&place);
	status_connect(status, &place);
	loader_connect(l, &place);
	loader_hello(l);
}

static void end(struct fake_loader *l, struct conn *status, struct status *st)
{
	loader_bye(l);
	hub_end(&place, status, st);
	NEED(account_now(st).difference == 0);
	NEED(account_now(st).under_way == 0);
	loader_drop(l);
}

TEST(subscriber_sees_what_exporterd_gets)
{
	struct conn exporter, status, sub;
	struct fake_loader l = { 0 };
	struct fake_batch a, b;
	struct status st;

	begin(&l, &status);
	exporter_connect(&exporter, &place, 0, NULL);
	subscribe(&sub, 2);
	for (int i = 0; i < 2; i++) {
		two_samples(&l);
		exporter_batch(&exporter, &a);
		exporter_batch(&sub, &b);
		NEED(a.id == b.id && a.len == b.len && a.msg.samples == 2);
		NEED(!memcmp(a.map, b.map, a.len));
		exporter_done(&exporter, a.id, 2, BATCH_DELIVERED);
		batch_release(&a);
		batch_release(&b);
	}
	conn_close(&sub);
	end(&l, &status, &st);
	NEED(st.totals.outcomes.samples[BATCH_DELIVERED] == 4);
	NEED(st.totals.handed == 4 && st.hub.offences == 0);
}

TEST(slow_subscriber_is_told_what_it_missed)
{
	struct fake_loader l = { 0 };
	struct msg_missed missed;
	struct conn status, sub;
	struct fake_batch b;
	struct status st;
	struct msg m;

	begin(&l, &status);
	subscribe(&sub, 1);
	for (uint64_t i = 1; i <= 3; i++)
		make_batch(&l, &status, i);
	ask(&sub, BATCH_VERSION, 1);
	exporter_batch(&sub, &b);
	batch_release(&b);
	expect(&sub, MSG_MISSED, &m);
	memcpy(&missed, m.buf, sizeof(missed));
	NEED(missed.batches == 2 && missed.samples == 4);
	make_batch(&l, &status, 4);
	exporter_batch(&sub, &b);
	batch_release(&b);
	conn_close(&sub);
	end(&l, &status, &st);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 8);
}

TEST(subscriber_that_reads_nothing_holds_four_batches)
{
	struct conn status, sub, dead;
	struct fake_loader l = { 0 };
	struct status st;
	int batches = 0;
	struct msg m;

	begin(&l, &status);
	subscribe(&sub, SUBSCRIBE_MAX);
	subscribe(&dead, SUBSCRIBE_MAX);
	make_batch(&l, &status, 1);
	conn_close(&dead);
	for (uint64_t i = 2; i <= SUBSCRIBE_MAX + 1; i++)
		make_batch(&l, &status, i);
	while (conn_recv(&sub, &m) == 0) {
		batches += m.hdr.type == MSG_BATCH;
		msg_close_fds(&m);
	}
	NEED(batches == SUBSCRIBE_MAX);
	conn_close(&sub);
	end(&l, &status, &st);
	NEED(st.hub.offences == 0);
}

TEST(one_subscriber_more_is_not_served)
{
	struct conn sub[SUBSCRIBERS], more, status;
	struct fake_loader l = { 0 };
	struct fake_batch b;
	struct status st;

	begin(&l, &status);
	for (int i = 0; i < SUBSCRIBERS; i++)
		subscribe(&sub[i], 1);
	/* its own place again */
	conn_close(&sub[0]);
	status_connect(&more, &place);
	make_batch(&l, &status, 1);
	ask(&more, BATCH_VERSION, 1);
	make_batch(&l, &status, 2);
	exporter_batch(&more, &b);
	batch_release(&b);
	subscribe(&sub[0], 1);
	expect_closed(&sub[0]);
	for (int i = 1; i < SUBSCRIBERS; i++) {
		exporter_batch(&sub[i], &b);
		batch_release(&b);
		conn_close(&sub[i]);
	}
	conn_close(&more);
	end(&l, &status, &st);
	NEED(st.hub.offences == 0 && st.hub.clients_refused == 1);
}

TEST(hub_refuses_senseless_subscriptions)
{
	static const struct {
		uint32_t version, first, then;
	} wrong[] = {
		{ BATCH_VERSION + 1, 1, 0 },
		{ 0, 1, 0 },
		{ BATCH_VERSION, 0, 0 },
		{ BATCH_VERSION, SUBSCRIBE_MAX + 1, 0 },
		{ BATCH_VERSION, UINT32_MAX, 0 },
		{ BATCH_VERSION, SUBSCRIBE_MAX, 1 },
		{ BATCH_VERSION, 1, SUBSCRIBE_MAX },
		{ BATCH_VERSION, 1, UINT32_MAX },
	};
	const size_t n = sizeof(wrong) / sizeof(wrong[0]);
	struct conn status, c;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t i = 0; i < n; i++) {
		printf("# %zu\n", i);
		status_connect(&c, &place);
		ask(&c, wrong[i].version, wrong[i].first);
		if (wrong[i].then)
			ask(&c, wrong[i].version, wrong[i].then);
		expect_closed(&c);
	}
	status_until(&status, &st, has_offences, n);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == n);
}

/* --- the viewer ---------------------------------------------------------------- */

static void subscribe_as(uid_t uid, struct conn *c, uint32_t batches)
{
	NEED(seteuid(uid) == 0);
	subscribe(c, batches);
	NEED(seteuid(0) == 0);
}

TEST(viewer_subscribes_without_being_root)
{
	struct fake_loader l = { 0 };
	struct conn status, viewer;
	struct fake_batch b;
	struct status st;

	if (getuid() != 0)
		exit(TEST_SKIP);
	begin(&l, &status);
	subscribe_as(VIEWER_ID, &viewer, 1);
	make_batch(&l, &status, 1);
	exporter_batch(&viewer, &b);
	batch_release(&b);
	conn_close(&viewer);
	end(&l, &status, &st);
	/* it was shown to somebody, and delivered to nobody */
	NEED(st.totals.outcomes.samples[BATCH_DELIVERED] == 0);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 2);
	NEED(st.hub.offences == 0);
}

TEST(viewer_has_one_connection)
{
	struct conn status, viewer[STATUS_CLIENTS], others[STATUS_CLIENTS];
	struct fake_loader l = { 0 };
	struct fake_batch b;
	struct status st;

	if (getuid() != 0)
		exit(TEST_SKIP);
	begin(&l, &status);
	for (int i = 0; i < STATUS_CLIENTS; i++) {
		subscribe_as(VIEWER_ID, &viewer[i], 1);
		if (i)
			expect_closed(&viewer[i - 1]);
	}
	/* so there is room for all the others */
	for (int i = 0; i < STATUS_CLIENTS - 2; i++)
		status_connect(&others[i], &place);
	make_batch(&l, &status, 1);
	exporter_batch(&viewer[STATUS_CLIENTS - 1], &b);
	batch_release(&b);
	for (int i = 0; i < STATUS_CLIENTS - 2; i++)
		conn_close(&others[i]);
	conn_close(&viewer[STATUS_CLIENTS - 1]);
	end(&l, &status, &st);
	NEED(st.hub.offences == 0);
}

/* --- readers ------------------------------------------------------------------- */

enum { ANNA = 60021, BEN, CARL };

static void watch_as(uid_t uid, struct conn *c)
{
	NEED(seteuid(uid) == 0);
	status_connect(c, &place);
	NEED(seteuid(0) == 0);
}

static void begin_readers(struct fake_loader *l, struct conn *status)
{
	if (getuid() != 0)
		exit(TEST_SKIP);
	place.readers = true;
	begin(l, status);
	place.readers = false;
}

/* To a hub without a free place, which closes it. */
static void refused_as(uid_t uid)
{
	struct conn c;

	NEED(seteuid(uid) == 0);
	NEED(conn_connect(&c, place_path(&place, "status"), PEER_HUB,
			  hub_uid()) == 0);
	NEED(seteuid(0) == 0);
	expect_closed(&c);
}

TEST(reader_keeps_no_other_reader_out)
{
	struct conn status, anna[READERS], ben;
	struct fake_loader l = { 0 };
	struct fake_batch b;
	struct status st;

	begin_readers(&l, &status);
	/* all that there is: two of them with batches */
	for (int i = 0; i < READERS; i++)
		watch_as(ANNA, &anna[i]);
	for (int i = 0; i < READERS_SUBSCRIBED; i++)
		ask(&anna[i], BATCH_VERSION, 2);
	refused_as(ANNA);
	watch_as(BEN, &ben);
	expect_closed(&anna[READERS - 1]);	/* the latest without batches */
	ask(&ben, BATCH_VERSION, 2);
	expect_closed(&anna[1]);		/* the later one with */
	make_batch(&l, &status, 1);
	exporter_batch(&ben, &b);
	batch_release(&b);
	exporter_batch(&anna[0], &b);
	batch_release(&b);
	/* the same again takes nothing from Ben */
	watch_as(ANNA, &anna[1]);
	ask(&anna[1], BATCH_VERSION, 1);
	expect_closed(&anna[1]);
	make_batch(&l, &status, 2);
	exporter_batch(&ben, &b);
	batch_release(&b);
	conn_close(&ben);
	conn_close(&anna[0]);
	conn_close(&anna[2]);
	end(&l, &status, &st);
	/* two of Anna's gave way, two were refused */
	NEED(st.hub.offences == 0 && st.hub.clients_refused == 4);
}

TEST(reader_does_not_end_what_another_needs)
{
	struct conn status, anna[2], ben[2], more;
	struct fake_loader l = { 0 };
	struct fake_batch b;
	struct status st;

	begin_readers(&l, &status);
	for (int i = 0; i < 2; i++) {
		watch_as(ANNA, &anna[i]);
		watch_as(BEN, &ben[i]);
	}
	ask(&anna[0], BATCH_VERSION, 1);
	ask(&ben[0], BATCH_VERSION, 1);
	refused_as(ANNA);
	refused_as(BEN);
	/* one of the two that have two each; no batches, for those have one each */
	watch_as(CARL, &more);
	expect_closed(&ben[1]);
	ask(&more, BATCH_VERSION, 1);
	expect_closed(&more);
	make_batch(&l, &status, 1);
	exporter_batch(&anna[0], &b);
	batch_release(&b);
	exporter_batch(&ben[0], &b);
	batch_release(&b);
	conn_close(&anna[0]);
	conn_close(&anna[1]);
	conn_close(&ben[0]);
	end(&l, &status, &st);
	NEED(st.hub.offences == 0);
}

static bool has_cpus(const struct status *st, uint64_t n)
{
	return st->loader.cpus == n;
}

/* Nanoseconds from what loaderd says right after a second's status to the status
 * that has it. */
static uint64_t until_told(struct fake_loader *l, struct conn *status)
{
	struct status st;
	uint64_t begin;

	l->stats.cpus = 0;
	loader_say_stats(l);
	status_until(status, &st, has_cpus, 0);
	begin = now_ns();
	l->stats.cpus = 1;
	loader_say_stats(l);
	status_until(status, &st, has_cpus, 1);
	return now_ns() - begin;
}

TEST(clients_hear_at_once_that_sampling_began)
{
	struct fake_loader l = { 0 };
	uint64_t least = UINT64_MAX;
	struct conn status;
	struct status st;

	begin(&l, &status);
	/* on a busy machine not each time */
	for (int i = 0; i < 5 && least > NSEC_PER_SEC / 4; i++) {
		uint64_t ns = until_told(&l, &status);

		if (ns < least)
			least = ns;
	}
	end(&l, &status, &st);
	NEED(least <= NSEC_PER_SEC / 4);
}

TEST(a_batch_begins_when_sampling_began)
{
	struct fake_loader l = { 0 };
	struct conn status, sub;
	struct fake_batch b;
	struct status st;
	uint64_t t;

	begin(&l, &status);
	subscribe(&sub, 1);
	/* tables are made meanwhile */
	usleep(200000);
	t = clock_ns(CLOCK_REALTIME);
	l.stats.cpus = 1;
	loader_say_stats(&l);
	status_until(&status, &st, has_cpus, 1);
	two_samples(&l);
	exporter_batch(&sub, &b);
	NEED(((const struct batch_hdr *)b.map)->start_ns >= t);
	batch_release(&b);
	conn_close(&sub);
	end(&l, &status, &st);
}
