/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fanout - each batch to every endpoint
 *
 * Each has a sender of its own: one that is away delays no other.  They share
 * the bytes of a request, as far as they want the same.  The hub is told what became of a batch at the first
 * endpoint; what became of it at the others is in their outcomes only.
 *
 * The spool is the first endpoint's.  With it, that sender gets one batch at a
 * time, the oldest, and has as long for it as the spool keeps it; the others
 * keep to their memory.
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
	unsigned int n;			/* 0: all below does nothing */
	const struct pairs *resource;
	struct kept_batches kept;
	struct spool spool;
	bool feeding;		/* fanout_feed() is under way */
	bool ending;		/* what is in the spool stays there ... */
	bool left;		/* ... and did: none of it is begun any more */
	struct log_limit log;
	/* samples of a batch have their outcome at the first endpoint */
	void (*outcome)(void *arg, uint64_t id, uint64_t samples,
			enum batch_outcome o);
	/* ... at any of them: fanout_idle() may have changed */
	void (*ended)(void *arg);
	void *arg;
};

/* Fill in outcome, ended and arg before.  cfg is borrowed.  Returns 0 or
 * -errno; fanout_fini() accepts either. */
int fanout_init(struct fanout *f, struct evloop *loop,
		const struct exporter_config *cfg);
void fanout_fini(struct fanout *f);

/* Take up what the spool has; after spool_open(), if there is one. */
void fanout_start(struct fanout *f);

/* Give the first sender what the spool has for it; to be called now and then:
 * memory may have been short. */
void fanout_feed(struct fanout *f);

/* b, which is behind fd, and fd are not needed after this.  outcome() is called
 * for all its samples in the end, perhaps at once, perhaps in several parts. */
void fanout_add(struct fanout *f, uint64_t id, int fd, const struct batch *b);

/* Nothing is to be sent, but what stays in the spool once fanout_drain() was
 * called and the first sender gave up on something. */
bool fanout_idle(const struct fanout *f);
void fanout_drain(struct fanout *f, uint64_t end_ns);	/* sender_drain() */

/*
 * Another exporterd follows, and the hub sends it what the first endpoint has
 * not answered.  Stop the first endpoint's sender; the others may send what
 * they have until end_ns.  What the hub sends again reaches these twice,
 * rather than not at all.
 */
void fanout_leave(struct fanout *f, uint64_t end_ns);
bool fanout_left(const struct fanout *f);

/* All that is left becomes BATCH_GAVE_UP; after fanout_leave() not at the first
 * endpoint.  What is in the spool stays there. */
void fanout_give_up(struct fanout *f, bool leaving);

/* Samples that the first endpoint has not finished, those in the spool, too. */
uint64_t fanout_samples(const struct fanout *f);

/* Fill in what the first endpoint's sender counts, the spool and all receivers;
 * nothing else. */
void fanout_stats(const struct fanout *f, struct exporter_stats *ret);

/* One line in the log for each endpoint but the first: its outcomes; and one
 * of what stays in the spool. */
void fanout_say_outcomes(const struct fanout *f);

#endif /* EXPORTERD_FANOUT_H */
