// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/batches.h"
#include "tests/unit/harness.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ipc/counters.h"

/* --- small, by hand ------------------------------------------------------- */

static const struct export_outcomes none;

static void receive(struct ledger *l, int n)
{
	for (int i = 0; i < n; i++)
		ledger_received(l);
}

static void word(struct ledger *l, uint64_t taken, uint64_t forwarded)
{
	struct loader_stats s = { .drained = taken, .forwarded = forwarded,
				  .no_hub = taken - forwarded };

	s.bpf[BPF_TAKEN] = taken;
	s.bpf[BPF_SENT] = taken;
	ledger_loader_stats(l, &s);
}

static struct hub_totals totals(const struct ledger *l)
{
	struct loader_stats s;
	struct hub_totals t;

	ledger_view(l, &t, &s);
	return t;
}

static struct account account(const struct ledger *l)
{
	struct status st = { 0 };
	struct account a;

	ledger_view(l, &st.totals, &st.loader);
	st.hub.pending = l->pending;
	st.hub.outstanding = ledger_outstanding(l);
	account_sum(&st, &a);
	return a;
}

static void check_sums(const struct ledger *l)
{
	CHECK_EQ(l->t.received, l->pending + l->t.handed + l->t.hub_bad +
				l->t.hub_dropped);
	CHECK_EQ(l->t.handed, ledger_outstanding(l) +
			      outcomes_sum(&l->t.outcomes));
}

TEST(ledger_normal_life_loses_nothing)
{
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	ledger_exporter_first(&l, 0, &none);
	receive(&l, 10);
	ledger_bad(&l);
	word(&l, 12, 10);
	ledger_handed(&l, 9);
	check_sums(&l);
	ledger_outcome(&l, BATCH_DELIVERED, 9);
	ledger_loader_bye(&l);
	check_sums(&l);
	CHECK_EQ(totals(&l).lost_hub, 0);
	CHECK_EQ(account(&l).taken, 12);
	CHECK_EQ(account(&l).delivered, 9);
	CHECK_EQ(account(&l).lost, 3);		/* 2 no_hub, 1 bad */
	CHECK_EQ(account(&l).under_way, 0);
	CHECK_EQ(account(&l).difference, 0);
}

/* 100 forwarded; 60 handed, of them 20 finished; 30 pending; 10 in the ring */
static struct hub_totals a_dead_hub(void)
{
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	ledger_exporter_first(&l, 0, &none);
	receive(&l, 90);
	ledger_handed(&l, 60);
	ledger_outcome(&l, BATCH_DELIVERED, 20);
	return totals(&l);
}

TEST(ledger_successor_takes_over_what_exporter_has)
{
	struct hub_totals t = a_dead_hub();
	struct export_outcomes done = { { [BATCH_DELIVERED] = 15 } };
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_FIRST);
	CHECK_EQ(l.t.hub_deaths, 1);
	check_sums(&l);
	CHECK_EQ(ledger_outstanding(&l), 40);	/* presumed */
	ledger_exporter_first(&l, 25, &done);
	receive(&l, 5);
	word(&l, 105, 105);
	check_sums(&l);
	CHECK_EQ(totals(&l).lost_hub, 40);	/* 30 pending, 10 in the ring */
	CHECK_EQ(ledger_outstanding(&l), 25);
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 25));
	CHECK(!ledger_inherited_done(&l, BATCH_DELIVERED, 1));
	ledger_handed(&l, 5);
	ledger_outcome(&l, BATCH_DELIVERED, 5);
	ledger_loader_bye(&l);
	CHECK_EQ(account(&l).delivered, 65);
	CHECK_EQ(account(&l).under_way, 0);
	CHECK_EQ(account(&l).difference, 0);
}

TEST(ledger_order_of_hellos_does_not_matter)
{
	struct hub_totals t = a_dead_hub(), one, other;
	struct ledger a = { 0 }, b = { 0 };

	CHECK_EQ(ledger_loader_hello(&a, &t), HELLO_FIRST);
	ledger_exporter_first(&a, 40, &none);
	ledger_exporter_first(&b, 40, &none);
	CHECK_EQ(ledger_loader_hello(&b, &t), HELLO_FIRST);
	word(&a, 100, 100);
	word(&b, 100, 100);
	one = totals(&a);
	other = totals(&b);
	CHECK(!memcmp(&one, &other, sizeof(one)));
	CHECK_EQ(one.lost_hub, 40);
}

TEST(ledger_hub_and_exporter_dead_lose_what_is_unfinished)
{
	struct hub_totals t = a_dead_hub();
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_FIRST);
	word(&l, 100, 100);
	CHECK_EQ(totals(&l).lost_hub, 40);
	ledger_presume_no_more(&l);
	check_sums(&l);
	CHECK_EQ(totals(&l).lost_hub, 80);
	/* it was only slow */
	ledger_exporter_first(&l, 40, &none);
	check_sums(&l);
	CHECK_EQ(totals(&l).lost_hub, 40);
}

TEST(ledger_folds_a_dead_loader_whose_last_word_is_old)
{
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	receive(&l, 10);
	word(&l, 14, 10);
	receive(&l, 5);
	ledger_loader_gone(&l);
	CHECK_EQ(totals(&l).former_forwarded, 15);
	CHECK_EQ(totals(&l).former_taken, 19);	/* 4 no_hub, then 5 more */
	CHECK_EQ(totals(&l).former_lost, 4);
	CHECK_EQ(totals(&l).loader_deaths, 1);
	CHECK_EQ(account(&l).difference, 0);
	CHECK_EQ(account(&l).under_way, 15);	/* pending */
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_ANOTHER);
	receive(&l, 3);
	word(&l, 3, 3);
	CHECK_EQ(totals(&l).loader_deaths, 1);
	CHECK_EQ(account(&l).taken, 22);
	CHECK_EQ(account(&l).difference, 0);
	CHECK_EQ(totals(&l).lost_hub, 0);
}

TEST(ledger_same_loader_comes_back)
{
	struct ledger l = { 0 };
	struct hub_totals t;

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	receive(&l, 10);
	t = totals(&l);
	ledger_loader_gone(&l);
	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_SAME);
	receive(&l, 2);
	word(&l, 12, 12);
	CHECK_EQ(totals(&l).former_taken, 0);
	CHECK_EQ(totals(&l).loader_deaths, 0);
	CHECK_EQ(totals(&l).hub_deaths, 0);
	CHECK_EQ(account(&l).taken, 12);
	CHECK_EQ(account(&l).difference, 0);
}

TEST(ledger_refuses_a_senseless_checkpoint)
{
	struct hub_totals t = { .received = UINT64_MAX };
	struct ledger l = { 0 }, empty = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_BAD);
	t = (struct hub_totals){ .outcomes = { { 2 } }, .handed = 1 };
	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_BAD);
	CHECK(!memcmp(&l, &empty, sizeof(l)));
}

TEST(ledger_ignores_batches_of_an_unknown_time)
{
	struct ledger l = { 0 };

	/* hub and loaderd are new, exporterd is not */
	ledger_exporter_first(&l, 50, &none);
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 50));
	CHECK_EQ(l.t.handed, 0);
	CHECK_EQ(outcomes_sum(&l.t.outcomes), 0);
	CHECK_EQ(account(&l).difference, 0);
}

/* --- batches --------------------------------------------------------------- */

static int some_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static void add(struct batches *b, int n)
{
	receive(b->ledger, n);
	CHECK_EQ(batches_add(b, some_fd(), 8, (uint64_t)n), 0);
	check_sums(b->ledger);
}

static int send_all(struct batches *b)
{
	struct sent_batch *s;
	int n = 0;

	while ((s = batches_unsent(b))) {
		s->sent = true;
		n++;
	}
	return n;
}

TEST(batches_are_sent_again_to_another_exporter)
{
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 100);
	batches_hello(&b, 0, &none);
	add(&b, 3);
	add(&b, 4);
	CHECK_EQ(send_all(&b), 2);
	CHECK(batches_done(&b, 100, BATCH_DELIVERED, 3));
	batches_hello(&b, 0, &none);
	CHECK_EQ(l.t.requeued, 4);
	CHECK_EQ(send_all(&b), 1);
	CHECK(batches_done(&b, 101, BATCH_REJECTED, 4));
	check_sums(&l);
	CHECK_EQ(ledger_outstanding(&l), 0);
	CHECK_EQ(l.t.outcomes.samples[BATCH_DELIVERED], 3);
	CHECK_EQ(l.t.outcomes.samples[BATCH_REJECTED], 4);
	batches_fini(&b);
}

TEST(batches_same_exporter_gets_only_what_it_missed)
{
	struct export_outcomes done = { { [BATCH_DELIVERED] = 3 } };
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 1);
	batches_hello(&b, 0, &none);
	add(&b, 3);
	add(&b, 4);
	add(&b, 5);
	CHECK_EQ(send_all(&b), 3);
	/* the connection broke: 3 finished, 4 queued, 5 never arrived */
	batches_hello(&b, 4, &done);
	check_sums(&l);
	CHECK_EQ(l.t.requeued, 5);
	CHECK_EQ(b.n, 1);
	CHECK_EQ(send_all(&b), 1);
	CHECK(batches_done(&b, 3, BATCH_DELIVERED, 5));
	CHECK(batches_done(&b, 2, BATCH_DELIVERED, 4));
	CHECK(!batches_done(&b, 1, BATCH_DELIVERED, 3));
	CHECK_EQ(ledger_outstanding(&l), 0);
	check_sums(&l);
	batches_fini(&b);
}

TEST(batches_beyond_the_bound_are_counted)
{
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 1);
	for (int i = 0; i < BATCHES_HELD + 3; i++)
		add(&b, 2);
	CHECK_EQ(b.n, BATCHES_HELD);
	CHECK_EQ(l.t.outcomes.samples[BATCH_QUEUE_FULL], 6);
	CHECK_EQ(send_all(&b), BATCHES_HELD);
	add(&b, 2);
	/* exporterd has the oldest: only its copy is gone */
	CHECK_EQ(b.n, BATCHES_HELD + 1);
	CHECK_EQ(b.v[0].fd, -1);
	CHECK_EQ(l.t.outcomes.samples[BATCH_QUEUE_FULL], 6);
	batches_hello(&b, 0, &none);	/* the first hello: nothing happens */
	batches_hello(&b, 0, &none);
	CHECK_EQ(l.t.outcomes.samples[BATCH_QUEUE_FULL], 8);
	CHECK_EQ(b.n, BATCHES_HELD);
	check_sums(&l);
	batches_fini(&b);
}

TEST(batches_refuse_impossible_outcomes)
{
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 1);
	batches_hello(&b, 0, &none);
	add(&b, 3);
	CHECK(!batches_done(&b, 1, BATCH_DELIVERED, 3));	/* not sent */
	CHECK_EQ(send_all(&b), 1);
	CHECK(!batches_done(&b, 1, BATCH_DELIVERED, 4));
	CHECK(!batches_done(&b, 1, BATCH__OUTCOMES, 3));
	CHECK(!batches_done(&b, 2, BATCH_DELIVERED, 1));
	CHECK(batches_done(&b, 1, BATCH_DELIVERED, 3));
	CHECK(!batches_done(&b, 1, BATCH_DELIVERED, 3));
	check_sums(&l);
	batches_fini(&b);
}

/* --- a world in which anybody may die at any time ---------------------------- */

#define QUEUE_MAX	4096

struct parcel {
	uint64_t id, n;
	uint32_t outcome;
};

struct pipe_of {
	struct parcel v[QUEUE_MAX];
	size_t n;
};

static struct world {
	uint64_t taken;			/* of all loaderds, the truth */
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

static struct parcel take_first(struct pipe_of *p)
{
	struct parcel parcel = p->v[0];

	memmove(p->v, p->v + 1, --p->n * sizeof(p->v[0]));
	return parcel;
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
	}
}

static void sample(void)
{
	uint32_t n = rnd(20);

	w.taken += n;
	w.loader.bpf[BPF_TAKEN] += n;
	w.loader.bpf[BPF_SENT] += n;
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

static void exporter_works(void)
{
	struct parcel p;

	while (w.to_exporter.n && rnd(3))
		put(&w.queue, take_first(&w.to_exporter));
	if (!w.queue.n)
		return;
	p = take_first(&w.queue);
	p.outcome = rnd(4) ? BATCH_DELIVERED : BATCH_REJECTED;
	if (w.exporter_on)
		put(&w.to_hub, p);
	else
		w.unreported.samples[p.outcome] += p.n;
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
	w.loader_on = true;
	checkpoint();
}

/* Both ends still find in their sockets what was sent before. */
static void exporter_offends(void)
{
	hub_hears();
	w.exporter_on = false;
	w.to_exporter.n = rnd(2) ? w.to_exporter.n : 0;
	while (w.to_exporter.n)
		put(&w.queue, take_first(&w.to_exporter));
}

static void exporter_dies(void)
{
	hub_hears();
	w.exporter_on = false;
	w.to_exporter.n = 0;
	w.queue.n = 0;
	w.unreported = none;
}

static void loader_dies(void)
{
	drain();
	if (w.loader_on)
		ledger_loader_gone(&w.l);
	w.loader_on = false;
	w.kept_valid = false;
	w.loader = (struct loader_stats){ 0 };
	/* its successor comes at once: who comes first is the next one */
	loader_hello();
}

static void hub_dies(void)
{
	w.ring = 0;
	w.to_hub.n = 0;
	while (w.exporter_on && w.to_exporter.n && rnd(4))
		put(&w.queue, take_first(&w.to_exporter));
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
	loader_hello();
	exporter_hello();
	say_stats();
	make_batch();
	while (w.to_exporter.n || w.queue.n)
		exporter_works();
	hub_hears();
	ledger_loader_bye(&w.l);
}

static void live(uint32_t seed, bool deaths)
{
	rng_state = seed;
	batches_fini(&w.b);
	memset(&w, 0, sizeof(w));
	w.ids = 1;
	batches_init(&w.b, &w.l, 1);
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
		live(seed, false);
		CHECK_EQ(account(&w.l).taken, w.taken);
		CHECK_EQ(totals(&w.l).lost_hub, 0);
	}
}

TEST(ledger_balances_whoever_dies)
{
	for (uint32_t seed = 1; seed < 3000; seed++)
		live(seed, true);
}
