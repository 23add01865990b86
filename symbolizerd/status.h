/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status - clients that watch the accounts
 *
 * Each gets MSG_HELLO_HUB and a MSG_STATUS when it connects, one each second,
 * and one right before the hub ends.  They may not say anything.
 */
#ifndef SYMBOLIZERD_STATUS_H
#define SYMBOLIZERD_STATUS_H

#include "common/evloop.h"
#include "common/log.h"
#include "ipc/conn.h"

#define STATUS_CLIENTS	8

struct hub;

struct status_client {
	struct ev_source src;		/* first */
	struct hub *hub;
	struct conn conn;
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

#endif /* SYMBOLIZERD_STATUS_H */
