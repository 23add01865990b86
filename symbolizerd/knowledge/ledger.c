// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/ledger.h"

#include <stddef.h>
#include <string.h>

#include "common/clock.h"

uint64_t outcomes_sum(const struct export_outcomes *o)
{
	uint64_t sum = 0;

	for (int i = 0; i < BATCH__OUTCOMES; i++)
		sum += o->samples[i];
	return sum;
}

static uint64_t ledger_claim(struct ledger *l, uint64_t n)
{
	if (n > l->claim && l->spools)
		n = l->claim;
	l->claim -= n < l->claim ? n : l->claim;
	l->t.handed += n;
	l->t.received += n;
	return n;
}

/* Samples of former hubs that exporterd says it has, or has finished; of one
 * with a spool as many as the checkpoint knew of. */
static void ledger_inherit(struct ledger *l, uint64_t queued,
			   const struct export_outcomes *done)
{
	uint64_t n;

	for (int i = 0; i < BATCH__OUTCOMES; i++) {
		n = ledger_claim(l, done->samples[i]);
		l->t.outcomes.samples[i] += n;
		l->foreign_done.samples[i] += done->samples[i] - n;
	}
	n = ledger_claim(l, queued);
	l->inherited += n;
	l->foreign += queued - n;
}

static void ledger_drop_inherited(struct ledger *l)
{
	l->t.handed -= l->inherited;
	l->t.received -= l->inherited;
	if (l->presumed)
		l->claim += l->inherited;
	l->inherited = 0;
	l->presumed = false;
}

/* What this loaderd must have forwarded, by what is known now. */
static uint64_t ledger_seen(const struct ledger *l)
{
	uint64_t seen = l->life_before + l->life_received;
	uint64_t received = l->t.received;

	/* it may have ended before it said what a former hub got of it */
	if (received > l->t.former_forwarded &&
	    received - l->t.former_forwarded > seen)
		seen = received - l->t.former_forwarded;
	return seen;
}

/* Put in what BPF has counted by now. */
static void ledger_read_bpf(const struct ledger *l, struct loader_stats *s)
{
	for (int i = 0; i < BPF_COUNTS && l->cpus; i++) {
		s->bpf[i] = 0;
		for (uint32_t cpu = 0; cpu < l->cpus; cpu++)
			s->bpf[i] += l->counts[cpu].n[i];
	}
}

/* Raise the last statistics to n forwarded: loaderd ended before it could send
 * newer ones. */
static void ledger_raise_stats(struct loader_stats *s, uint64_t n)
{
	uint64_t more = n > s->forwarded ? n - s->forwarded : 0;

	s->forwarded += more;
	s->drained += more;
	if (s->bpf[BPF_SENT] < s->drained) {
		more = s->drained - s->bpf[BPF_SENT];
		s->bpf[BPF_SENT] += more;
		s->bpf[BPF_TAKEN] += more;
	}
}

static void ledger_fold(struct hub_totals *t, const struct loader_stats *s)
{
	uint64_t taken = s->bpf[BPF_TAKEN];

	t->former_taken += taken;
	t->former_forwarded += s->forwarded;
	t->former_covered_ms += s->covered_ns / NSEC_PER_MSEC;
	t->former_missed_ms += s->missed_ns / NSEC_PER_MSEC;
	if (taken > s->forwarded)
		t->former_lost += taken - s->forwarded;
}

static void ledger_fold_life(struct ledger *l)
{
	ledger_read_bpf(l, &l->last);
	ledger_raise_stats(&l->last, ledger_seen(l));
	ledger_fold(&l->t, &l->last);
	if (l->life != LIFE_BYE)
		l->t.loader_deaths++;
	l->last = (struct loader_stats){ 0 };
	l->life_before = 0;
	l->life_received = 0;
}

static bool ledger_checkpoint_ok(const struct hub_totals *c)
{
	const uint64_t *v = (const uint64_t *)c;

	for (size_t i = 0; i < sizeof(*c) / sizeof(*v); i++) {
		if (v[i] >= LEDGER_COUNT_MAX / 16)
			return false;
	}
	return outcomes_sum(&c->outcomes) <= c->handed;
}

static void ledger_take_over(struct ledger *l, const struct hub_totals *c)
{
	uint64_t finished = outcomes_sum(&c->outcomes);
	/* exporterd may have come and gone before loaderd came */
	uint64_t deaths = l->t.exporter_deaths;
	uint64_t forwarded = c->received + c->lost_hub;

	/* until its statistics say more */
	if (forwarded > c->former_forwarded)
		l->life_before = forwarded - c->former_forwarded;
	l->t = *c;
	l->t.hub_deaths++;
	l->t.exporter_deaths += deaths;
	l->t.lost_hub = 0;
	l->t.handed = finished;
	l->t.received = finished + c->own + c->hub_bad + c->hub_dropped;
	l->claim = c->handed - finished;
	if (l->exporter_spoke) {
		uint64_t queued = l->foreign;
		struct export_outcomes done = l->foreign_done;

		l->foreign = 0;
		l->foreign_done = (struct export_outcomes){ 0 };
		ledger_inherit(l, queued, &done);
		return;
	}
	ledger_inherit(l, l->claim, &(struct export_outcomes){ 0 });
	l->presumed = true;
}

enum ledger_hello ledger_loader_hello(struct ledger *l,
				      const struct hub_totals *checkpoint)
{
	bool first = l->life == LIFE_NONE;

	if (checkpoint && !ledger_checkpoint_ok(checkpoint))
		return HELLO_BAD;
	if (!first && checkpoint) {
		l->life = LIFE_UP;
		return HELLO_SAME;
	}
	if (!first)
		ledger_fold_life(l);
	else if (checkpoint)
		ledger_take_over(l, checkpoint);
	l->life = LIFE_UP;
	return first ? HELLO_FIRST : HELLO_ANOTHER;
}

void ledger_loader_counts(struct ledger *l,
			  const volatile struct cpu_counts *counts,
			  uint32_t cpus)
{
	l->counts = counts;
	l->cpus = cpus;
}

void ledger_loader_stats(struct ledger *l, const struct loader_stats *s)
{
	struct loader_stats before = l->last;

	l->last = *s;
	/* a loaderd that took over may not know all that the former one sampled */
	if (l->last.covered_ns < before.covered_ns)
		l->last.covered_ns = before.covered_ns;
	if (l->last.missed_ns < before.missed_ns)
		l->last.missed_ns = before.missed_ns;
	ledger_read_bpf(l, &l->last);
	if (s->forwarded > l->life_received &&
	    s->forwarded - l->life_received > l->life_before)
		l->life_before = s->forwarded - l->life_received;
}

void ledger_missed(struct ledger *l, uint64_t ns)
{
	l->t.former_missed_ms += ns / NSEC_PER_MSEC;
}

void ledger_loader_bye(struct ledger *l)
{
	l->life = LIFE_BYE;
}

void ledger_loader_gone(struct ledger *l)
{
	if (l->life == LIFE_UP)
		l->life = LIFE_GONE;
}

void ledger_received(struct ledger *l)
{
	l->t.received++;
	l->life_received++;
	l->pending++;
}

void ledger_bad(struct ledger *l)
{
	l->t.hub_bad++;
	l->pending--;
}

void ledger_dropped(struct ledger *l, uint64_t n)
{
	l->t.hub_dropped += n;
	l->pending -= n;
}

void ledger_own(struct ledger *l, uint64_t n)
{
	l->t.own += n;
	l->pending -= n;
}

void ledger_handed(struct ledger *l, uint64_t n)
{
	l->t.handed += n;
	l->own += n;
	l->pending -= n;
}

void ledger_outcome(struct ledger *l, enum batch_outcome o, uint64_t n)
{
	l->own -= n;
	l->t.outcomes.samples[o] += n;
}

void ledger_requeued(struct ledger *l, uint64_t n)
{
	l->t.requeued += n;
}

void ledger_disown(struct ledger *l, uint64_t n)
{
	l->own -= n;
	l->inherited += n;
}

void ledger_exporter_first(struct ledger *l, uint64_t queued,
			   const struct export_outcomes *done)
{
	l->exporter_spoke = true;
	if (l->presumed || l->t.hub_deaths > 0) {
		if (l->presumed)
			ledger_drop_inherited(l);
		ledger_inherit(l, queued, done);
		return;
	}
	l->foreign += queued;
	for (int i = 0; i < BATCH__OUTCOMES; i++)
		l->foreign_done.samples[i] += done->samples[i];
}

void ledger_exporter_empty(struct ledger *l)
{
	ledger_drop_inherited(l);
	l->foreign = 0;
}

void ledger_exporter_again(struct ledger *l, uint64_t queued,
			   const struct export_outcomes *done)
{
	for (int i = 0; i < BATCH__OUTCOMES; i++) {
		uint64_t n = done->samples[i];

		if (n > l->inherited)
			n = l->inherited;
		l->inherited -= n;
		l->t.outcomes.samples[i] += n;
		l->foreign_done.samples[i] += done->samples[i] - n;
	}
	if (l->inherited > queued) {
		l->t.outcomes.samples[BATCH_GAVE_UP] += l->inherited - queued;
		l->inherited = queued;
	}
	/* what it has beyond what this hub knows of is not in its accounts */
	l->foreign = queued - l->inherited;
}

void ledger_presume_no_more(struct ledger *l)
{
	if (l->presumed)
		ledger_drop_inherited(l);
}

bool ledger_inherited_done(struct ledger *l, enum batch_outcome o, uint64_t n,
			   bool older)
{
	uint64_t ours = 0;

	if (n > l->inherited && n - l->inherited > l->foreign)
		return false;
	if (!older)
		ours = n < l->inherited ? n : l->inherited;
	else if (n > l->foreign)
		ours = n - l->foreign;
	l->inherited -= ours;
	l->t.outcomes.samples[o] += ours;
	l->foreign -= n - ours;
	l->foreign_done.samples[o] += n - ours;
	return true;
}

void ledger_give_up(struct ledger *l)
{
	l->t.outcomes.samples[BATCH_GAVE_UP] += l->own + l->inherited;
	l->own = 0;
	l->inherited = 0;
	l->presumed = false;
}

uint64_t ledger_outstanding(const struct ledger *l)
{
	return l->own + l->inherited;
}

void ledger_view(const struct ledger *l, struct hub_totals *t,
		 struct loader_stats *s)
{
	uint64_t seen = ledger_seen(l);

	*t = l->t;
	*s = l->last;
	if (l->life == LIFE_GONE)
		ledger_read_bpf(l, s);
	ledger_raise_stats(s, seen);
	t->lost_hub = t->former_forwarded + seen;
	if (l->life == LIFE_GONE) {
		ledger_fold(t, s);
		t->loader_deaths++;
		*s = (struct loader_stats){ 0 };
		t->lost_hub = t->former_forwarded;
	}
	if (t->received < t->lost_hub)
		t->lost_hub -= t->received;
	else
		t->lost_hub = 0;
}
