/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger - the accounts of the hub, which hold when any process dies
 *
 * ipc/counters.h says which sums must hold.  Two of them are the hub's own:
 *
 *	received = pending + handed + own + hub_bad + hub_dropped
 *	handed   = outstanding + sum of outcomes
 *
 * where a sample is handed once the batch that holds it is complete, whether
 * or not an exporterd is there to take it.  outstanding is `own` (batches of
 * this hub) plus `inherited` (batches of former hubs, which only exporterd
 * has).
 *
 * lost_hub is never counted; it is what is left over:
 *
 *	lost_hub = former_forwarded + life_before + life_received - received
 *
 * life_received is what this hub drained of the present loaderd's records;
 * life_before is what that loaderd forwarded besides, and no hub has now.  The
 * latter is learned from its statistics: the socket is drained before each is
 * looked at, so `forwarded - life_received` is never more than life_before and
 * as a rule exactly that; the largest one seen is taken.  Until the first it is
 * what the checkpoint says.
 *
 * When a hub dies, its pending samples and the records in its socket are gone,
 * but what exporterd has is not.  A successor takes over from the checkpoint
 * what was finished (outcomes, own, hub_bad, hub_dropped), adds what exporterd says
 * that it still has or finished since, and makes `received` the sum of these.
 * Until exporterd has spoken, or LEDGER_PRESUME_NS passed, it is presumed to
 * have all that the checkpoint calls handed and unfinished.  An exporterd with a
 * spool may have more: batches of another time.  These are foreign, in no
 * account, as is all that it has when no checkpoint tells of a former hub.
 *
 * What BPF has counted is read from its map, at each word of loaderd and when it
 * is dead.  Then its last statistics are raised to what the hub knows to have
 * been forwarded, and added to former_*.  That is done when the next one says hello, because
 * only then is it known whether the same one is back.  Until then ledger_view()
 * shows it as if it were done.  A loaderd that returns a checkpoint to a hub that
 * had a loaderd before is the same one.
 *
 * BPF's numbers are final at that hello: the next loaderd is started when the
 * former one was waited for, and by then the kernel has closed its perf events,
 * each of which waits until its program has ended.
 *
 * Nothing here does input or output.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_LEDGER_H
#define SYMBOLIZERD_KNOWLEDGE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/message_hub.h"

#define LEDGER_PRESUME_NS	2000000000ULL
#define LEDGER_COUNT_MAX	(1ULL << 60)	/* of a count in a checkpoint */

enum ledger_life {
	LIFE_NONE = 0,		/* no loaderd so far */
	LIFE_UP,
	LIFE_GONE,		/* disconnected without a bye */
	LIFE_BYE,
};

struct ledger {
	struct hub_totals t;		/* .lost_hub unused: ledger_view() */
	struct loader_stats last;	/* last statistics of the present loaderd */
	enum ledger_life life;
	uint64_t life_received;
	uint64_t life_before;
	uint64_t pending;		/* received, in no batch yet */
	uint64_t own;
	uint64_t inherited;
	bool spools;			/* exporterd has a spool; set it before
					 * its hello is booked */
	uint64_t claim;			/* of former hubs, not heard of yet */
	bool presumed;			/* .inherited is a presumption */
	bool exporter_spoke;
	/* batches of former hubs that are in no checkpoint, so far */
	uint64_t foreign;
	struct export_outcomes foreign_done;
	const volatile struct cpu_counts *counts;	/* of BPF in this life;
							 * borrowed */
	uint32_t cpus;			/* elements of counts; 0: none */
};

/* --- loaderd ------------------------------------------------------------ */

enum ledger_hello {
	HELLO_SAME,		/* the same loaderd is back */
	HELLO_FIRST,		/* first one; accounts may have been taken over */
	HELLO_ANOTHER,		/* the former one is dead or ended */
	HELLO_BAD,		/* invalid checkpoint; nothing changed */
};

/* A loaderd says hello; checkpoint may be NULL. */
enum ledger_hello ledger_loader_hello(struct ledger *l,
				      const struct hub_totals *checkpoint);
/* After its hello: where BPF counts for it, to be read until another one says
 * hello. */
void ledger_loader_counts(struct ledger *l,
			  const volatile struct cpu_counts *counts,
			  uint32_t cpus);
/* Its statistics; its samples' socket has just been drained. */
void ledger_loader_stats(struct ledger *l, const struct loader_stats *s);
/* So much CPU time has passed without a loaderd that samples. */
void ledger_missed(struct ledger *l, uint64_t ns);
void ledger_loader_bye(struct ledger *l);
void ledger_loader_gone(struct ledger *l);	/* disconnected */

/* --- samples ------------------------------------------------------------ */

void ledger_received(struct ledger *l);		/* one record; now pending */
void ledger_bad(struct ledger *l);		/* one of them made no sense */
void ledger_dropped(struct ledger *l, uint64_t n);	/* pending: dropped */
void ledger_own(struct ledger *l, uint64_t n);	/* pending: left out */
void ledger_handed(struct ledger *l, uint64_t n);	/* pending: batched */

/* --- exporterd ---------------------------------------------------------- */

/* Samples of this hub's own batches are finished, or given again. */
void ledger_outcome(struct ledger *l, enum batch_outcome o, uint64_t n);
void ledger_requeued(struct ledger *l, uint64_t n);

/* Outstanding samples of our own are now only counted by what exporterd says. */
void ledger_disown(struct ledger *l, uint64_t n);

/*
 * exporterd says hello for the first time in this hub's life: what it has and
 * what it finished belongs to former hubs.
 */
void ledger_exporter_first(struct ledger *l, uint64_t queued,
			   const struct export_outcomes *done);
/* It says hello again and has nothing: what was inherited died with it. */
void ledger_exporter_empty(struct ledger *l);
/* It says hello again and still has something: `done` of it is finished.  What
 * it had and no longer has is given up: its spool was damaged, say. */
void ledger_exporter_again(struct ledger *l, uint64_t queued,
			   const struct export_outcomes *done);
/* LEDGER_PRESUME_NS have passed without a hello. */
void ledger_presume_no_more(struct ledger *l);

/* A batch that is in no list of this hub is finished; older: it is of a former
 * one, so rather foreign.  False: there are not as many. */
bool ledger_inherited_done(struct ledger *l, enum batch_outcome o, uint64_t n,
			   bool older);

/* The hub ends: whatever is outstanding is given up. */
void ledger_give_up(struct ledger *l);

/* --- reading ------------------------------------------------------------ */

uint64_t ledger_outstanding(const struct ledger *l);
uint64_t outcomes_sum(const struct export_outcomes *o);

/* How it all stands, for the status and (totals only) the checkpoint. */
void ledger_view(const struct ledger *l, struct hub_totals *t,
		 struct loader_stats *s);

#endif /* SYMBOLIZERD_KNOWLEDGE_LEDGER_H */
