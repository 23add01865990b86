// SPDX-License-Identifier: Apache-2.0
/* The ledger and the batches in a world in which anybody may die at any time. */
#include "symbolizerd/knowledge/batches.h"

#include <string.h>

#include "tests/unit/ledger_sums.h"

#define QUEUE_MAX	4096

struct parcel {
	uint64_t id, n;
	uint32_t outcome;
};

struct pipe_of {
	struct parcel v[QUEUE_MAX];
	size_t n;
};

#define CPUS	2

static struct world {
	uint64_t taken;			/* of all loaderds that a hub knew */
	struct cpu_counts counts[2][CPUS];	/* of this loaderd, and of
						 * the one before it */
	int life;			/* index of it */
	uint64_t stray;			/* samples of an account that died */
	uint64_t delivered;		/* by all exporterds, first time */
	struct loader_stats loader;
	bool kept_valid;
	struct hub_totals kept;		/* with loaderd */
	uint64_t ring;
	bool loader_on, exporter_on;	/* connected */
	struct ledger l;
	struct batches b;
	struct pipe_of to_exporter, to_hub, queue;
	struct export_outcomes unreported;
	uint64_t ids;
	bool spool;			/* queue outlives exporterd */
	bool offended, away, settling;
	uint64_t finished[QUEUE_MAX];	/* ids */
	size_t n_finished;
} w;

static uint32_t rng_state;

static uint32_t rnd(uint32_t n)
{
	rng_state = rng_state * 1664525u + 1013904223u;
	return (rng_state >> 8) % n;
}

static void put(struct pipe_of *p, struct parcel parcel)
{
	CHECK(p->n < QUEUE_MAX);
	p->v[p->n++] = parcel;
}

static struct parcel take(struct pipe_of *p, size_t i)
{
	struct parcel parcel = p->v[i];

	memmove(&p->v[i], &p->v[i + 1], (--p->n - i) * sizeof(p->v[0]));
	return parcel;
}

static struct parcel take_first(struct pipe_of *p)
{
	return take(p, 0);
}

static void checkpoint(void)
{
	if (w.loader_on) {
		w.kept = totals(&w.l);
		w.kept_valid = true;
	}
}

static void drain(void)
{
	for (; w.ring; w.ring--) {
		ledger_received(&w.l);
		if (rnd(50) == 0)
			ledger_bad(&w.l);
		else if (rnd(50) == 0)
			ledger_dropped(&w.l, 1);
		else if (rnd(50) == 0)
			ledger_own(&w.l, 1);
	}
}

static void bpf_takes(uint32_t n)
{
	struct cpu_counts *c = &w.counts[w.life][rnd(CPUS)];

	w.taken += n;
	c->n[BPF_TAKEN] += n;
	c->n[BPF_SENT] += n;
}

static void sample(void)
{
	uint32_t n = rnd(20);

	bpf_takes(n);
	w.loader.drained += n;
	if (!w.loader_on) {
		w.loader.no_hub += n;
		return;
	}
	w.loader.forwarded += n;
	w.ring += n;
}

static void say_stats(void)
{
	if (!w.loader_on)
		return;
	drain();
	ledger_loader_stats(&w.l, &w.loader);
}

static void send_batches(void)
{
	struct sent_batch *s;

	while (w.exporter_on && (s = batches_unsent(&w.b))) {
		s->sent = true;
		put(&w.to_exporter, (struct parcel){ s->id, s->events, 0 });
	}
}

static void make_batch(void)
{
	if (w.l.pending > 0) {
		batches_add(&w.b, some_fd(), 8, w.l.pending);
		send_batches();
		checkpoint();
	}
}

static void exporter_tells(struct parcel p, uint32_t outcome)
{
	p.outcome = outcome;
	if (w.exporter_on)
		put(&w.to_hub, p);
	else
		w.unreported.samples[outcome] += p.n;
}

/* What its spool has already, the hub's books have once too often. */
static void exporter_takes(void)
{
	struct parcel p = take_first(&w.to_exporter);

	for (size_t i = 0; w.spool && i < w.queue.n; i++) {
		if (w.queue.v[i].id == p.id) {
			exporter_tells(p, BATCH_GAVE_UP);
			return;
		}
	}
	put(&w.queue, p);
}

/* With a spool a receiver gets no batch twice, unless its outcome was lost with
 * a connection. */
static void exporter_finishes(uint64_t id)
{
	for (size_t i = 0; w.spool && !w.offended && i < w.n_finished; i++)
		CHECK(w.finished[i] != id);
	CHECK(w.n_finished < QUEUE_MAX);
	w.finished[w.n_finished++] = id;
}

static void exporter_works(void)
{
	struct parcel p;

	while (w.to_exporter.n && rnd(3))
		exporter_takes();
	/* a receiver that is away fills the spool */
	if (!w.queue.n || (w.away && !w.settling))
		return;
	p = take_first(&w.queue);
	exporter_finishes(p.id);
	exporter_tells(p, rnd(4) ? BATCH_DELIVERED : BATCH_REJECTED);
}

static void hub_hears(void)
{
	while (w.to_hub.n) {
		struct parcel p = take_first(&w.to_hub);

		CHECK(batches_done(&w.b, p.id, p.outcome, p.n));
		checkpoint();
	}
}

static void exporter_hello(void)
{
	uint64_t queued = 0;

	if (w.exporter_on)
		return;
	for (size_t i = 0; i < w.queue.n; i++)
		queued += w.queue.v[i].n;
	w.l.spools = w.spool;
	batches_hello(&w.b, queued, &w.unreported);
	w.unreported = none;
	w.exporter_on = true;
	send_batches();
	checkpoint();
}

static void loader_hello(void)
{
	if (w.loader_on)
		return;
	CHECK(ledger_loader_hello(&w.l, w.kept_valid ? &w.kept : NULL) !=
	      HELLO_BAD);
	ledger_loader_counts(&w.l, w.counts[w.life], CPUS);
	w.loader_on = true;
	checkpoint();
}

/* Both ends still find in their sockets what was sent before. */
static void exporter_offends(void)
{
	hub_hears();
	w.exporter_on = false;
	w.offended = true;
	w.to_exporter.n = rnd(2) ? w.to_exporter.n : 0;
	while (w.to_exporter.n)
		exporter_takes();
}

static void exporter_dies(void)
{
	hub_hears();
	w.exporter_on = false;
	w.to_exporter.n = 0;
	w.unreported = none;
	if (!w.spool)
		w.queue.n = 0;
	else if (w.queue.n && rnd(4) == 0)	/* somebody removed a file */
		take(&w.queue, rnd((uint32_t)w.queue.n));
}

/* Hub and loaderd are dead, but exporterd may be not. */
static void account_dies(void)
{
	w.taken = 0;
	w.stray += outcomes_sum(&w.unreported);
	for (size_t i = 0; i < w.queue.n; i++)
		w.stray += w.queue.v[i].n;
}

static void loader_dies(void)
{
	drain();
	bpf_takes(rnd(20));		/* and these are in BPF's ring */
	if (w.loader_on)
		ledger_loader_gone(&w.l);
	else
		account_dies();
	w.loader_on = false;
	w.kept_valid = false;
	w.life = !w.life;
	memset(w.counts[w.life], 0, sizeof(w.counts[w.life]));
	w.loader = (struct loader_stats){ 0 };
	/* its successor comes at once: who comes first is the next one */
	loader_hello();
}

static void hub_dies(void)
{
	w.ring = 0;
	while (w.exporter_on && w.to_exporter.n && rnd(4))
		exporter_takes();
	w.to_hub.n = 0;
	w.to_exporter.n = 0;
	w.loader_on = w.exporter_on = false;
	batches_fini(&w.b);
	w.l = (struct ledger){ 0 };
	w.ids += 1000000;
	batches_init(&w.b, &w.l, w.ids);
}

static void anything(bool deaths)
{
	switch (rnd(deaths ? 22 : 16)) {
	case 0 ... 3:
		sample();
		break;
	case 4 ... 6:
		drain();
		break;
	case 7:
		say_stats();
		break;
	case 8 ... 9:
		make_batch();
		break;
	case 10 ... 11:
		exporter_works();
		break;
	case 12:
		hub_hears();
		break;
	case 13:
		loader_hello();
		break;
	case 14:
		exporter_hello();
		break;
	case 15:
		if (rnd(4) == 0)
			ledger_presume_no_more(&w.l);
		break;
	case 16 ... 17:
		hub_dies();
		break;
	case 18 ... 19:
		exporter_dies();
		break;
	case 20:
		exporter_offends();
		break;
	default:
		loader_dies();
		break;
	}
}

static void settle(void)
{
	w.settling = true;
	loader_hello();
	exporter_hello();
	say_stats();
	make_batch();
	while (w.to_exporter.n || w.queue.n)
		exporter_works();
	hub_hears();
	ledger_loader_bye(&w.l);
}

static void live(uint32_t seed, bool deaths, bool spool)
{
	rng_state = seed;
	batches_fini(&w.b);
	memset(&w, 0, sizeof(w));
	w.spool = spool;
	w.away = spool && rnd(2);
	for (w.ids = 1; spool && rnd(4); w.ids++)	/* of yesterday */
		put(&w.queue, (struct parcel){ w.ids, 1 + rnd(50), 0 });
	batches_init(&w.b, &w.l, w.ids);
	loader_hello();
	exporter_hello();
	for (int i = 0; i < 300; i++) {
		anything(deaths);
		check_sums(&w.l);
	}
	settle();
	check_sums(&w.l);
	CHECK_EQ(account(&w.l).under_way, 0);
	CHECK_EQ((uint64_t)account(&w.l).difference, 0);
	CHECK_EQ(ledger_outstanding(&w.l), 0);
}

TEST(ledger_balances_without_deaths)
{
	for (uint32_t seed = 1; seed < 300; seed++) {
		live(seed, false, false);
		CHECK_EQ(account(&w.l).taken, w.taken);
		CHECK_EQ(totals(&w.l).lost_hub, 0);
	}
}

TEST(ledger_balances_whoever_dies)
{
	int exact = 0;

	for (uint32_t seed = 1; seed < 3000; seed++) {
		live(seed, true, false);
		CHECK(account(&w.l).taken >= w.taken);
		CHECK(account(&w.l).taken - w.taken <= w.stray);
		exact += !w.stray;
	}
	CHECK(exact > 1000);
}

TEST(ledger_balances_with_a_spool)
{
	for (uint32_t seed = 1; seed < 3000; seed++)
		live(seed, true, true);
}
