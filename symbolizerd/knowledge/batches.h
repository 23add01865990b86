/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches - those that exporterd has not finished
 *
 * Oldest first.  The newest BATCHES_HELD keep their descriptor, to be sent
 * again if exporterd dies.  Older ones lose it: a batch that exporterd has is
 * only counted from then on, one that it never got is counted BATCH_QUEUE_FULL.
 * Every change is booked in the ledger.  Nothing here sends.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_BATCHES_H
#define SYMBOLIZERD_KNOWLEDGE_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/knowledge/ledger.h"

#define BATCHES_HELD	16
#define BATCHES_MAX	4096	/* entries; an exporter with more is stuck */

struct sent_batch {
	uint64_t id;
	uint64_t samples;	/* not finished yet */
	uint64_t bytes;
	uint64_t events;	/* samples when it was made */
	int fd;			/* -1: given up */
	bool sent;		/* to the exporterd that is (or was) there */
};

struct batches {
	struct ledger *ledger;
	struct sent_batch *v;
	uint32_t n, cap;
	uint64_t first_id, next_id;
};

/* Ids start at first_id: two hubs should not use the same. */
void batches_init(struct batches *b, struct ledger *l, uint64_t first_id);
void batches_fini(struct batches *b);

/* Add one; fd is owned from now on, also on failure.  0 or -ENOMEM, when its
 * samples are booked BATCH_QUEUE_FULL. */
int batches_add(struct batches *b, int fd, uint64_t bytes, uint64_t samples);

/* The oldest that was not sent yet, or NULL. */
struct sent_batch *batches_unsent(struct batches *b);

/* exporterd says that n samples of a batch have this outcome.  False: it
 * cannot be so. */
bool batches_done(struct batches *b, uint64_t id, uint32_t outcome, uint64_t n);

/*
 * exporterd says hello.  What it has (queued and done) tells whether it is the
 * one that was there before.  If it has nothing, it is another, and every batch
 * is sent again.  If it has something, only those are sent again that it cannot
 * have received: the last ones before the connection broke.  One with a spool
 * says the same when it was killed: it has stored each batch, in their order,
 * before it took the next.
 */
void batches_hello(struct batches *b, uint64_t queued,
		   const struct export_outcomes *done);

#endif /* SYMBOLIZERD_KNOWLEDGE_BATCHES_H */
