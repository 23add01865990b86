/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_link - a listening socket, and the one daemon that is connected to it
 *
 * What the links to loaderd and to exporterd have in common.  A second daemon
 * is refused.  An offence ends the connection; the peer may connect again.
 */
#ifndef SYMBOLIZERD_HUB_PEER_LINK_H
#define SYMBOLIZERD_HUB_PEER_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "symbolizerd/knowledge/knowledge.h"

struct peer_link_ops {
	const char *name;	/* in the log */
	enum peer peer;
	bool root_too;		/* it starts as root, and may connect as such */
	/* A message: MSG_OK, an offence, or -errno: the peer has gone.
	 * Descriptors that are not taken are closed afterwards. */
	int (*handle)(void *ctx, struct msg *msg);
	void (*writable)(void *ctx);
	/* The peer itself has closed the connection; the next is closed().
	 * NULL: of no interest. */
	void (*gone)(void *ctx);
	/* The connection is closed now. */
	void (*closed)(void *ctx);
};

struct peer_link {
	struct evloop *loop;
	struct knowledge *k;
	const struct peer_link_ops *ops;
	void *ctx;
	uid_t uid;		/* of the peer */
	struct ev_source listener, src;
	struct conn conn;
	struct log_limit accept_log;
};

/* Begin to accept.  uid: the peer's.  All others are borrowed, and ctx is for
 * ops.  0 or -errno. */
int peer_link_init(struct peer_link *l, struct evloop *loop,
		   struct knowledge *k, const struct peer_link_ops *ops,
		   void *ctx, uid_t uid, int listener);
void peer_link_stop_accepting(struct peer_link *l);

/* Close the connection, if there is one. */
void peer_link_disconnect(struct peer_link *l);

/* Count and log an offence of the peer, and disconnect it. */
void peer_link_offence(struct peer_link *l, int verdict);

/* Whether ops->writable() is called when the socket takes more. */
void peer_link_want_write(struct peer_link *l, bool want);

static inline bool peer_link_up(const struct peer_link *l)
{
	return l->conn.fd >= 0;
}

/* Connected and past its hello. */
static inline bool peer_link_ready(const struct peer_link *l)
{
	return peer_link_up(l) && l->conn.state != CONN_NEW;
}

#endif /* SYMBOLIZERD_HUB_PEER_LINK_H */
