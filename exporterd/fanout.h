/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fanout - each batch to every endpoint
 *
 * Each endpoint has a sender, so that one that does not answer delays no other.  Senders
 * share the bytes of a request if their settings are the same.  The hub gets the outcome
 * of a batch at the first endpoint; those at the others are only counted.
 *
 * The spool belongs to the first endpoint.  With it, that sender gets one batch at a
 * time, the oldest, and tries for as long as the spool keeps it; the others queue in
 * memory only.
 */
#ifndef EXPORTERD_FANOUT_H
#define EXPORTERD_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "exporterd/config.h"
#include "exporterd/sender.h"
#include "exporterd/spool.h"
#include "ipc/batch.h"

struct fanout {
	struct sender senders[ENDPOINTS_MAX];
	unsigned int n;			/* 0: the functions below do nothing */
	const struct resource *resource;
	struct kept_batches kept;
	struct spool spool;
	bool feeding;		/* fanout_feed() is under way */
	bool ending;		/* the rest of the spool stays for the next start */
	bool left;		/* no more of the spool is begun */
	struct log_limit log;
	/* samples of a batch have their outcome at the first endpoint */
	void (*outcome)(void *arg, uint64_t id, uint64_t samples,
			enum batch_outcome o);
	/* samples have their outcome at any endpoint: fanout_idle() may have changed */
	void (*ended)(void *arg);
	void *arg;
};

/* The caller sets outcome, ended and arg before.  cfg is borrowed.  Returns 0 or
 * -errno; fanout_fini() accepts either. */
int fanout_init(struct fanout *f, struct evloop *loop,
		const struct exporter_config *cfg);
void fanout_fini(struct fanout *f);

/* Read the spool, if there is one; after spool_open(). */
void fanout_start(struct fanout *f);

/* Give the first sender the next batch of the spool.  To be called from time to time:
 * an earlier call may have failed for lack of memory. */
void fanout_feed(struct fanout *f);

/* Send the batch b, mapped from fd; neither is needed after this.  outcome() is called
 * for all its samples, perhaps at once, perhaps in several parts. */
void fanout_add(struct fanout *f, uint64_t id, int fd, const struct batch *b);

/* Nothing is left to send.  After fanout_drain(), batches that stay in the spool because
 * the first sender gave up do not count. */
bool fanout_idle(const struct fanout *f);
void fanout_drain(struct fanout *f, uint64_t end_ns);	/* sender_drain() */

/*
 * Another exporterd takes over, and the hub sends it the batches that the first endpoint
 * has not answered.  Stop the first endpoint's sender; the others may send their batches
 * until end_ns: they get what the hub sends again twice, rather than not at all.
 */
void fanout_leave(struct fanout *f, uint64_t end_ns);
bool fanout_left(const struct fanout *f);

/* Unfinished samples become BATCH_GAVE_UP; not at the first endpoint if leaving (after
 * fanout_leave()).  Batches in the spool stay there. */
void fanout_give_up(struct fanout *f, bool leaving);

/* Unfinished samples of the first endpoint, with those in the spool. */
uint64_t fanout_samples(const struct fanout *f);

/* Fill in the counters of the first endpoint's sender, of the spool and of all
 * receivers only. */
void fanout_stats(const struct fanout *f, struct exporter_stats *ret);

/* Log the outcomes at each endpoint but the first, and the number of batches that stay
 * in the spool. */
void fanout_say_outcomes(const struct fanout *f);

#endif /* EXPORTERD_FANOUT_H */
