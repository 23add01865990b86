/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - clients that watch the accounts
 *
 * Each gets MSG_HELLO_HUB and a MSG_STATUS when it connects, one each second,
 * and one right before the hub ends.  All that they may say is MSG_SUBSCRIBE:
 * SUBSCRIBERS of them may have copies of batches.  Root may watch, and the
 * viewer, which has one connection: another takes the place of the one before,
 * so that it cannot keep root out.  An exporterd that asked for
 * it in its hello gets MSG_STATUS as often.
 */
#ifndef SYMBOLIZERD_HUB_STATUS_H
#define SYMBOLIZERD_HUB_STATUS_H

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"

#define STATUS_CLIENTS	9
#define SUBSCRIBERS	5	/* four, and the viewer */

struct hub;

struct status_client {
	struct ev_source src;		/* first */
	struct hub *hub;
	struct conn conn;
	bool subscribed;
	uint32_t wants;			/* batches, at most SUBSCRIBE_MAX */
	struct msg_missed missed;	/* not told yet */
};

struct status_clients {
	struct ev_source listener;
	struct status_client v[STATUS_CLIENTS];
	struct log_limit accept_log;
};

int status_init(struct hub *hub, int listener);
void status_stop_accepting(struct hub *hub);
void status_fini(struct hub *hub);

/* Send everybody how things stand. */
void status_send(struct hub *hub);

/* Offer a finished batch (fd, borrowed) to the subscribers.  Whether they take
 * it is nobody else's concern. */
void status_offer(struct hub *hub, int fd, uint64_t id,
		  const struct msg_batch *m);

#endif /* SYMBOLIZERD_HUB_STATUS_H */
