// SPDX-License-Identifier: Apache-2.0
/*
 * A sample is sent through the stages by hand; the accounts must hold after
 * every step, and must not once a stage forgets one.
 */
#include "ipc/counters.h"
#include "ipc/message_hub.h"
#include "tests/unit/harness.h"

static struct account sum(const struct status *st)
{
	struct account a;

	account_sum(st, &a);
	return a;
}

/* 1256 taken; each loss has a different size, so none can hide another. */
static struct status sample_status(void)
{
	struct status st = {
		.loader = {
			.bpf = { [BPF_TAKEN] = 1256, [BPF_SENT] = 1255,
				 [BPF_RING_FULL] = 1 },
			.drained = 1246,			/* 9 in the BPF ring */
			.no_hub = 2, .bad_record = 8,
			.forwarded = 1236,
		},
		.totals = {
			.former_taken = 500, .former_forwarded = 484,
			.former_lost = 16,
			.lost_hub = 32,
			.received = 1677,		/* 11 in the socket */
			.hub_bad = 64, .hub_dropped = 128,
			.own = 256,
			.handed = 1218,
			.requeued = 77,
			.outcomes.samples = {
				[BATCH_DELIVERED] = 600,
				[BATCH_NO_RECEIVER] = 101,
				[BATCH_QUEUE_FULL] = 103,
				[BATCH_REJECTED] = 107,
				[BATCH_GAVE_UP] = 109,
				[BATCH_INVALID] = 113,
			},
		},
		.hub = { .pending = 11, .outstanding = 85 },
	};

	return st;
}

TEST(account_holds_when_every_stage_does)
{
	struct status st = sample_status();
	struct account a = sum(&st);

	CHECK_EQ(a.taken, 1756);
	CHECK_EQ(a.own, 256);
	CHECK_EQ(a.delivered, 600);
	CHECK_EQ(a.lost, 1 + 2 + 8 + 16 + 32 + 64 + 128 + 101 + 103 + 107 +
			 109 + 113);
	CHECK_EQ(a.under_way, 9 + 11 + 11 + 85);
	CHECK_EQ(a.difference, 0);
}

TEST(account_of_nothing_is_nothing)
{
	struct status st = { 0 };
	struct account a = sum(&st);

	CHECK_EQ(a.taken + a.delivered + a.lost + a.under_way, 0);
	CHECK_EQ(a.difference, 0);
}

/* Each step of a sample's way changes what is where, never the difference. */
TEST(account_holds_after_every_step)
{
	struct status st = sample_status();

	st.loader.bpf[BPF_TAKEN]++;
	st.loader.bpf[BPF_SENT]++;
	CHECK_EQ(sum(&st).difference, 0);
	st.loader.drained++;
	st.loader.forwarded++;
	CHECK_EQ(sum(&st).difference, 0);
	st.totals.received++;
	st.hub.pending++;
	CHECK_EQ(sum(&st).difference, 0);
	CHECK_EQ(sum(&st).under_way, 9 + 11 + 11 + 85 + 1);
	st.hub.pending--;
	st.totals.handed++;
	st.hub.outstanding++;
	CHECK_EQ(sum(&st).difference, 0);
	st.hub.outstanding--;
	st.totals.outcomes.samples[BATCH_DELIVERED]++;
	CHECK_EQ(sum(&st).difference, 0);
	CHECK_EQ(sum(&st).delivered, 601);
	CHECK_EQ(sum(&st).under_way, 9 + 11 + 11 + 85);
}

/* Every way of leaving has a name, and leaving without one shows. */
TEST(account_shows_what_a_stage_forgets)
{
	struct status st;

	st = sample_status();
	st.loader.bpf[BPF_TAKEN]++;		/* BPF did not send it */
	CHECK_EQ(sum(&st).difference, 1);
	st.loader.bpf[BPF_RING_FULL]++;
	CHECK_EQ(sum(&st).difference, 0);

	st = sample_status();
	st.loader.drained++;			/* loaderd dropped it */
	CHECK_EQ(sum(&st).difference, 1);
	st.loader.bad_record++;
	CHECK_EQ(sum(&st).difference, 0);

	st = sample_status();
	st.totals.received++;			/* the hub dropped it */
	CHECK_EQ(sum(&st).difference, 1);
	st.totals.hub_bad++;
	CHECK_EQ(sum(&st).difference, 0);

	st = sample_status();
	st.totals.received++;			/* left out, not counted */
	CHECK_EQ(sum(&st).difference, 1);
	st.totals.own++;
	CHECK_EQ(sum(&st).difference, 0);

	st = sample_status();
	st.hub.pending--;			/* it never was in a batch */
	CHECK_EQ(sum(&st).difference, 1);

	st = sample_status();
	st.hub.outstanding--;			/* exporterd forgot it */
	CHECK_EQ(sum(&st).difference, 1);
	st.totals.outcomes.samples[BATCH_GAVE_UP]++;
	CHECK_EQ(sum(&st).difference, 0);

	st = sample_status();
	st.totals.former_taken++;		/* a dead loaderd's */
	CHECK_EQ(sum(&st).difference, 1);
	st.totals.former_lost++;
	CHECK_EQ(sum(&st).difference, 0);
}

TEST(account_shows_what_is_counted_twice)
{
	struct status st = sample_status();

	st.totals.outcomes.samples[BATCH_DELIVERED]++;
	CHECK(sum(&st).difference == -1);
}

/* The hub's numbers are newer than loaderd's last word: no false alarm. */
TEST(account_stands_a_stale_last_word)
{
	struct status st = { 0 };

	st.totals.received = 20;
	st.totals.handed = 20;
	st.totals.outcomes.samples[BATCH_DELIVERED] = 20;
	CHECK_EQ(sum(&st).difference, 0);
	CHECK_EQ(sum(&st).under_way, 0);
}
