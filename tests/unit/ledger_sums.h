/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_sums - a ledger's words and sums, for its tests */
#ifndef TESTS_LEDGER_SUMS_H
#define TESTS_LEDGER_SUMS_H

#include <fcntl.h>

#include "ipc/counters.h"
#include "symbolizerd/knowledge/batches.h"
#include "tests/unit/harness.h"

static const struct export_outcomes none;

static inline void receive(struct ledger *l, int n)
{
	for (int i = 0; i < n; i++)
		ledger_received(l);
}

static inline void word(struct ledger *l, uint64_t taken, uint64_t forwarded)
{
	struct loader_stats s = { .drained = taken, .forwarded = forwarded,
				  .no_hub = taken - forwarded };

	s.bpf[BPF_TAKEN] = taken;
	s.bpf[BPF_SENT] = taken;
	ledger_loader_stats(l, &s);
}

static inline struct hub_totals totals(const struct ledger *l)
{
	struct loader_stats s;
	struct hub_totals t;

	ledger_view(l, &t, &s);
	return t;
}

static inline struct account account(const struct ledger *l)
{
	struct status st = { 0 };
	struct account a;

	ledger_view(l, &st.totals, &st.loader);
	st.hub.pending = l->pending;
	st.hub.outstanding = ledger_outstanding(l);
	account_sum(&st, &a);
	return a;
}

static inline void check_sums(const struct ledger *l)
{
	CHECK_EQ(l->t.received, l->pending + l->t.handed + l->t.own + l->t.hub_bad +
				l->t.hub_dropped);
	CHECK_EQ(l->t.handed, ledger_outstanding(l) +
			      outcomes_sum(&l->t.outcomes));
}

static inline int some_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

#endif /* TESTS_LEDGER_SUMS_H */
