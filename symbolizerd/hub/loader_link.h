/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_link - the connection to loaderd, and its trace ring
 *
 * One loaderd at a time.  Its ring is drained when it says so (eventfd), at
 * each tick, before each of its statistics is looked at, and when it is gone.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_LINK_H
#define SYMBOLIZERD_HUB_LOADER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/evloop.h"
#include "common/log.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "ipc/trace_consumer.h"

#define OUTBOX_MAX	128	/* answers that the socket did not take yet */

struct hub;

struct outgoing {		/* MSG_TABLE, or MSG_TABLE_NONE (fd -1) */
	uint32_t number, reason;
	int fd;
};

struct loader_link {
	struct ev_source listener, src, wake;
	struct conn conn;
	struct trace_consumer ring;
	bool ring_open;
	bool draining;
	struct outgoing *out;	/* OUTBOX_MAX; NULL until needed */
	size_t n_out;
	struct hub_totals told;	/* last checkpoint sent */
	struct log_limit bad_log;
};

int loader_link_init(struct hub *hub, int listener);
void loader_link_stop_accepting(struct hub *hub);
void loader_link_fini(struct hub *hub);

/* Take all records that are in the ring. */
void loader_link_drain(struct hub *hub);

/* Each second: drain, and send what could not be sent before. */
void loader_link_tick(struct hub *hub);

/* The table of a number is there (fd owned from now on), or will not be. */
void loader_link_table(struct hub *hub, uint32_t number, int fd);
void loader_link_table_none(struct hub *hub, uint32_t number, int reason);

/* Ask for a debug file; jobs_debug() gets the answer.  0 or -errno. */
int loader_link_debug(struct hub *hub, const struct msg_debug_wanted *m);

/* Let loaderd keep the totals, if they have changed. */
void loader_link_checkpoint(struct hub *hub);

static inline bool loader_link_up(const struct loader_link *l)
{
	return l->conn.fd >= 0;
}

#endif /* SYMBOLIZERD_HUB_LOADER_LINK_H */
