/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender - one receiver: its queue, one request at a time, and retries
 *
 * An attempt that may be repeated is repeated after the receiver's Retry-After, bounded,
 * and up to a tenth more; without one after a jittered, growing wait; until
 * sender.give_up_ns have gone by since the first, or the Retry-After that was under way
 * then.  A 500 is repeated SENDER_ERRORS_MAX times in a row.
 *
 * A receiver that was away finds a whole fleet with batches that wait.  So after a failed
 * attempt a batch begins at a time that is picked from the time that the batch before it
 * was sampled in, counted from when that one began: batches come about twice as fast as
 * they were sampled.  Once none waits, there are no gaps any more.
 *
 * A request that is too large
 * for the receiver is halved, down to one sample; for SENDER_TOO_LARGE_NS those
 * of its size are halved before they are tried.
 */
#ifndef EXPORTERD_SENDER_H
#define EXPORTERD_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "exporterd/backoff.h"
#include "exporterd/http.h"
#include "exporterd/queue.h"
#include "exporterd/resource.h"
#include "exporterd/timer.h"
#include "ipc/message_hub.h"

/* The mean is near half of the wait: 1.25 s first, 30 s at last.  The end is that of the
 * OpenTelemetry collector (0.165). */
#define SENDER_FIRST_NS		2000000000ULL
#define SENDER_MAX_NS		60000000000ULL
#define SENDER_ERRORS_MAX	6
/* The longest interval that the configuration takes (cli/config/options.h). */
#define SENDER_GAP_MAX_NS	300000000000ULL
#define SENDER_GIVE_UP_NS	300000000000ULL
/* What a receiver may ask for at most: it cannot make this one silent for a day. */
#define SENDER_RETRY_AFTER_MAX_NS	600000000000ULL
#define SENDER_TOO_LARGE_NS	600000000000ULL
/* After so many single samples in a row that were too large, size cannot be the cause:
 * the other parts of the same request are refused without being tried. */
#define SENDER_SINGLES_MAX	8

struct sender {
	const struct endpoint *endpoint;
	const struct resource *resource;	/* attributes of every request */
	struct http http;
	struct queue queue;
	struct item *parts;	/* of a split item, by next: sent before the queue */
	struct item *cur;	/* being sent, or waiting for its next try */
	uint64_t first_try_ns;	/* of cur */
	uint64_t give_up_ns;	/* after that; SENDER_GIVE_UP_NS unless the caller
				 * sets it */
	uint64_t end_ns;	/* no attempt after this; 0: no end */
	uint64_t next_ns;	/* no other batch begins before; 0: when there is one */
	bool catching_up;	/* an attempt failed: gaps, until nothing waits */
	bool backlog;		/* set by the caller: it has more that waits */
	unsigned int errors;	/* attempts repeated after a 500 since one was accepted */
	struct backoff backoff;
	struct timer again;
	size_t too_large;	/* bytes before compression; 0: no size is */
	uint64_t too_large_ns;	/* valid until then */
	unsigned int singles;	/* single samples in a row refused for their size */
	uint64_t begun;		/* the last batch of which an item has its outcome */
	bool any_begun;		/* .begun is valid */
	bool hold;		/* no other batch is begun */
	bool failing;		/* the failure is in the log */
	struct log_limit log, queue_log, split_log;
	/* as in struct exporter_stats */
	uint64_t requests, request_bytes, wire_bytes, retries;
	uint64_t http_status, partial_rejected;
	struct export_outcomes outcomes;	/* samples */
	/* an item has its outcome */
	void (*outcome)(void *arg, const struct sender *s, uint64_t id,
			uint64_t samples, enum batch_outcome o);
	void *arg;
};

/* endpoint and resource are borrowed.  Returns 0 or -errno; sender_fini() accepts either. */
int sender_init(struct sender *s, struct evloop *loop,
		const struct endpoint *endpoint, const struct resource *resource,
		void (*outcome)(void *arg, const struct sender *s, uint64_t id,
				uint64_t samples, enum batch_outcome o),
		void *arg);
void sender_fini(struct sender *s);

/* Takes `it` over. */
void sender_add(struct sender *s, struct item *it);

/* Count samples that never became an item, and report their outcome. */
void sender_lost(struct sender *s, uint64_t id, uint64_t samples,
		 enum batch_outcome o);

static inline bool sender_idle(const struct sender *s)
{
	return !s->cur && !s->parts && !s->queue.n;
}

/* Unfinished samples and bytes, which no counter above includes. */
uint64_t sender_samples(const struct sender *s);
uint64_t sender_bytes(const struct sender *s);

/* Continue until end_ns (CLOCK_MONOTONIC), or until a wait would exceed it. */
void sender_drain(struct sender *s, uint64_t end_ns);

/* Finish the request under way, and the batch of which a part is finished; begin no
 * other batch.  The rest gets no outcome. */
void sender_hold(struct sender *s);
/* After sender_hold(): that is done. */
bool sender_held(const struct sender *s);

/* All unfinished items become BATCH_GAVE_UP. */
void sender_give_up(struct sender *s);

#endif /* EXPORTERD_SENDER_H */
