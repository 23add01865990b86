/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder - batches for `trifold record`, through an inherited socket
 *
 * Each batch is passed on unchanged, in MSG_BATCH, and acknowledged by
 * MSG_BATCH_DONE.  Ids are exporterd's own, from 1.  At most RECORDER_WINDOW are sent
 * and not acknowledged; at most RECORDER_MAX wait, then the oldest waiting one is dropped.
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
	struct recorded *first, *last;	/* oldest first: the sent ones, then the others */
	unsigned int sent, waiting;
	uint64_t next_id;
	uint64_t samples;		/* in first..last */
	uint64_t offences;
	/* A batch, by the hub's id, has its outcome. */
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
 * Pass a batch on; fd is borrowed.  outcome() is called once, perhaps at once: with the
 * recorder's answer, BATCH_NO_RECEIVER when it has ended, or BATCH_QUEUE_FULL.
 */
void recorder_add(struct recorder *rec, uint64_t id, int fd,
		  const struct msg_batch *m);

static inline bool recorder_idle(const struct recorder *rec)
{
	return !rec->first;
}

/* Batches that are not acknowledged become BATCH_GAVE_UP. */
void recorder_give_up(struct recorder *rec);

#endif /* EXPORTERD_RECORDER_H */
