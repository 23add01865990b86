/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - clients that watch the accounts
 *
 * Each gets MSG_HELLO_HUB and a MSG_STATUS when it connects, one each second (idle: every five),
 * one when sampling begins, and one right before the hub ends.  All that they may
 * say is MSG_SUBSCRIBE: SUBSCRIBERS of them may have copies of batches.  Root may
 * watch, and so may the viewer, on one connection: a new one replaces the old one,
 * so that the viewer cannot keep root out.  With .readers all others who can connect
 * may, too: the socket's owner and mode say who; they cannot keep root out either.
 * Nor can one of them keep another out: if all their places are taken, a user who has
 * at least two more than the newcomer loses one to it.  An exporterd that asked for it in its hello
 * gets MSG_STATUS as often.
 */
#ifndef SYMBOLIZERD_HUB_STATUS_H
#define SYMBOLIZERD_HUB_STATUS_H

#include <sys/types.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/hub/exporter_link.h"
#include "symbolizerd/knowledge/knowledge.h"

#define STATUS_CLIENTS	9
#define SUBSCRIBERS	5	/* four, and the viewer */
/* Of these so many are readers' at most: root and the viewer have the rest. */
#define READERS		4
#define READERS_SUBSCRIBED 2

struct status_clients;

struct status_client {
	struct ev_source src;		/* first */
	struct status_clients *all;
	struct conn conn;
	uint64_t number;		/* a later one has a greater */
	bool subscribed;
	uint32_t wants;			/* batches, at most SUBSCRIBE_MAX */
	struct msg_missed missed;	/* not told yet */
};

struct status_clients {
	/* set by the owner; borrowed */
	struct evloop *loop;
	struct knowledge *k;
	struct exporter_link *exporter;
	uid_t viewer_uid;	/* may watch, as root may */
	bool readers;		/* so may all others who can connect */
	int statm;		/* of cost_open() */
	uint64_t interval_ns;	/* to be told */
	/* its own */
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	struct ev_source listener;
	struct status_client v[STATUS_CLIENTS];
	uint64_t numbers;	/* of clients that were taken */
	struct log_limit accept_log, displaced_log;
};

/* Begin to accept.  listener is borrowed.  0 or -errno. */
int status_init(struct status_clients *s, int listener);
void status_stop_accepting(struct status_clients *s);
void status_fini(struct status_clients *s);

/* What became of the samples, and how many watch. */
void status_account(const struct status_clients *s, struct account *ret,
		    unsigned int *clients);

/* A client takes batches, and it is not the live page: it reads each status. */
bool status_watched(const struct status_clients *s);

/* Each second: send the counters to all clients, and charge the share of all with what
 * they tell. */
void status_send(struct status_clients *s);

/* Offer a finished batch (fd, borrowed) to the subscribers.  No account
 * depends on them. */
void status_offer(struct status_clients *s, int fd, uint64_t id,
		  const struct msg_batch *m);

#endif /* SYMBOLIZERD_HUB_STATUS_H */
