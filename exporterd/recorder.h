/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder - batches for `trifold record`, through an inherited socket
 *
 * Each batch goes on as it came, in MSG_BATCH, and is acknowledged by
 * MSG_BATCH_DONE.  Ids are exporterd's own, from 1.  At most RECORDER_WINDOW
 * are under way; RECORDER_MAX wait, then the oldest of these is dropped.
 */
#ifndef EXPORTERD_RECORDER_H
#define EXPORTERD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/evloop.h"
#include "common/log.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"

#define RECORDER_WINDOW	16
#define RECORDER_MAX	256

struct recorded;

struct recorder {
	struct evloop *loop;
	struct conn conn;
	struct ev_source src;
	uint32_t events;
	struct recorded *first, *last;	/* oldest first; those sent lead */
	unsigned int sent, waiting;
	uint64_t next_id;
	uint64_t samples;		/* in first..last */
	uint64_t offences;
	/* What became of the batch that the hub calls id. */
	void (*outcome)(void *arg, uint64_t id, uint64_t samples,
			enum batch_outcome o);
	void *arg;
};

/* Takes fd over.  Returns 0 or -errno; recorder_fini() accepts either. */
int recorder_init(struct recorder *rec, struct evloop *loop, int fd,
		  void (*outcome)(void *arg, uint64_t id, uint64_t samples,
				  enum batch_outcome o), void *arg);
void recorder_fini(struct recorder *rec);

/*
 * Pass a batch on; fd is borrowed.  outcome() is called once, perhaps at once:
 * the recorder's word, BATCH_NO_RECEIVER when it has gone, BATCH_QUEUE_FULL.
 */
void recorder_add(struct recorder *rec, uint64_t id, int fd,
		  const struct msg_batch *m);

static inline bool recorder_idle(const struct recorder *rec)
{
	return !rec->first;
}

/* What is not acknowledged yet becomes BATCH_GAVE_UP. */
void recorder_give_up(struct recorder *rec);

#endif /* EXPORTERD_RECORDER_H */
