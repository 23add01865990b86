// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/batches.h"

#include <string.h>

#include "tests/unit/ledger_sums.h"

/* --- small, by hand ------------------------------------------------------- */

TEST(ledger_normal_life_loses_nothing)
{
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	ledger_exporter_first(&l, 0, &none);
	receive(&l, 10);
	ledger_bad(&l);
	ledger_own(&l, 2);
	word(&l, 12, 10);
	ledger_handed(&l, 7);
	check_sums(&l);
	ledger_outcome(&l, BATCH_DELIVERED, 7);
	ledger_loader_bye(&l);
	check_sums(&l);
	CHECK_EQ(totals(&l).lost_hub, 0);
	CHECK_EQ(account(&l).taken, 12);
	CHECK_EQ(account(&l).delivered, 7);
	CHECK_EQ(account(&l).own, 2);
	CHECK_EQ(account(&l).lost, 3);		/* 2 no_hub, 1 bad */
	CHECK_EQ(account(&l).under_way, 0);
	CHECK_EQ(account(&l).difference, 0);
}

static void says_time(struct ledger *l, uint64_t covered_ms, uint64_t missed_ms)
{
	ledger_loader_stats(l, &(struct loader_stats){
		.covered_ns = covered_ms * 1000000, .missed_ns = missed_ms * 1000000 });
}

/* Time goes on over loaderds that die, end, or take over without knowing all. */
TEST(ledger_has_the_time_of_all_loaders)
{
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	says_time(&l, 4000, 100);
	ledger_loader_gone(&l);
	CHECK_EQ(account(&l).covered_ns, 4000000000);
	CHECK_EQ(ledger_loader_hello(&l, &(struct hub_totals){ 0 }), HELLO_SAME);
	says_time(&l, 3000, 0);
	CHECK_EQ(account(&l).covered_ns, 4000000000);
	CHECK_EQ(account(&l).missed_ns, 100000000);
	says_time(&l, 5000, 150);
	ledger_loader_bye(&l);
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_ANOTHER);
	ledger_missed(&l, 2000000000);
	says_time(&l, 1000, 50);
	CHECK_EQ(account(&l).covered_ns, 6000000000);
	CHECK_EQ(account(&l).missed_ns, 2200000000);
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
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 25, true));
	CHECK(!ledger_inherited_done(&l, BATCH_DELIVERED, 1,
				     true));
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

TEST(ledger_counts_what_bpf_took_after_the_last_word)
{
	struct cpu_counts counts[2] = { { .n[BPF_TAKEN] = 10 },
					{ .n[BPF_TAKEN] = 7 } };
	struct ledger l = { 0 };

	counts[0].n[BPF_SENT] = 14;
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_FIRST);
	ledger_loader_counts(&l, counts, 2);
	receive(&l, 10);
	word(&l, 14, 10);
	counts[0].n[BPF_TAKEN] = 30;
	CHECK_EQ(account(&l).taken, 17);	/* at its word */
	ledger_loader_gone(&l);
	CHECK_EQ(totals(&l).former_taken, 37);
	CHECK_EQ(totals(&l).former_lost, 27);
	CHECK_EQ(account(&l).under_way, 10);	/* pending */
	counts[1].n[BPF_TAKEN]++;		/* a program was still running */
	CHECK_EQ(totals(&l).former_taken, 38);
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_ANOTHER);
	ledger_loader_counts(&l, NULL, 0);
	counts[1].n[BPF_TAKEN]++;
	CHECK_EQ(totals(&l).former_taken, 38);
	CHECK_EQ(totals(&l).former_lost, 28);
	CHECK_EQ(account(&l).difference, 0);
}

/* It had no time to tell the second hub what the first one got. */
TEST(ledger_loader_dies_soon_after_a_hub)
{
	struct cpu_counts counts = {
		.n = { [BPF_TAKEN] = 120, [BPF_SENT] = 120 },
	};
	struct hub_totals t = a_dead_hub();
	struct ledger l = { 0 };

	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_FIRST);
	ledger_loader_counts(&l, &counts, 1);
	receive(&l, 5);
	ledger_loader_gone(&l);
	CHECK_EQ(totals(&l).former_taken, 120);
	CHECK_EQ(totals(&l).former_forwarded, 95);
	CHECK_EQ(totals(&l).former_lost, 25);
	CHECK_EQ(totals(&l).lost_hub, 30);
	CHECK_EQ(account(&l).difference, 0);
	/* more was handed than the checkpoint knew */
	ledger_exporter_first(&l, 90, &none);
	check_sums(&l);
	CHECK_EQ(totals(&l).former_forwarded, 115);
	CHECK_EQ(totals(&l).former_lost, 5);
	CHECK_EQ(totals(&l).lost_hub, 0);
	CHECK_EQ(ledger_loader_hello(&l, NULL), HELLO_ANOTHER);
	CHECK_EQ(account(&l).taken, 120);
	CHECK_EQ(account(&l).difference, 0);
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
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 50, true));
	CHECK_EQ(l.t.handed, 0);
	CHECK_EQ(outcomes_sum(&l.t.outcomes), 0);
	CHECK_EQ(account(&l).difference, 0);
}

/* --- batches --------------------------------------------------------------- */

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

/* --- an exporterd with a spool ---------------------------------------------- */

TEST(batches_in_the_spool_of_a_killed_exporter_are_not_sent_again)
{
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 100);
	batches_hello(&b, 7, &none);		/* of yesterday */
	for (int i = 0; i < 3; i++)
		add(&b, 4);
	CHECK_EQ(send_all(&b), 3);
	/* killed: two of three are in the spool, the last in the socket */
	batches_hello(&b, 7 + 8, &none);
	CHECK_EQ(l.t.requeued, 4);
	CHECK_EQ(send_all(&b), 1);
	/* and again, when all three are */
	batches_hello(&b, 7 + 12, &none);
	CHECK_EQ(l.t.requeued, 4);
	CHECK_EQ(send_all(&b), 0);
	CHECK(batches_done(&b, 42, BATCH_DELIVERED, 7));
	CHECK_EQ(outcomes_sum(&l.t.outcomes), 0);
	CHECK_EQ(ledger_outstanding(&l), 12);
	for (uint64_t id = 100; id < 103; id++)
		CHECK(batches_done(&b, id, BATCH_DELIVERED, 4));
	CHECK(!batches_done(&b, 102, BATCH_DELIVERED, 1));
	CHECK_EQ(l.t.outcomes.samples[BATCH_DELIVERED], 12);
	CHECK_EQ(ledger_outstanding(&l), 0);
	check_sums(&l);
	batches_fini(&b);
}

TEST(batches_that_the_spool_lost_are_given_up)
{
	struct ledger l = { 0 };
	struct batches b;

	batches_init(&b, &l, 1);
	batches_hello(&b, 0, &none);
	for (int i = 0; i < BATCHES_HELD + 2; i++) {
		add(&b, 5);
		CHECK_EQ(send_all(&b), 1);
	}
	batches_hello(&b, 5 * (BATCHES_HELD + 2), &none);
	CHECK_EQ(b.n, 0);
	/* one file is gone, and the hub has no copy of it */
	batches_hello(&b, 5 * (BATCHES_HELD + 1), &none);
	CHECK_EQ(l.t.outcomes.samples[BATCH_GAVE_UP], 5);
	CHECK_EQ(ledger_outstanding(&l), 5 * (BATCHES_HELD + 1));
	check_sums(&l);
	batches_fini(&b);
}

TEST(ledger_successor_takes_over_no_more_than_its_own)
{
	struct hub_totals t = a_dead_hub();
	struct ledger l = { .spools = true };

	CHECK_EQ(ledger_loader_hello(&l, &t), HELLO_FIRST);
	/* 40 are of the dead hub, 60 of another time */
	ledger_exporter_first(&l, 100, &none);
	CHECK_EQ(ledger_outstanding(&l), 40);
	check_sums(&l);
	/* the older ones come first, and a batch may be of both */
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 55, true));
	CHECK_EQ(ledger_outstanding(&l), 40);
	CHECK(ledger_inherited_done(&l, BATCH_DELIVERED, 45, true));
	CHECK_EQ(ledger_outstanding(&l), 0);
	CHECK(!ledger_inherited_done(&l, BATCH_DELIVERED, 1, true));
	check_sums(&l);
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
