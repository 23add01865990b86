/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub - the connection to symbolizerd
 *
 * Connects, again and again with backoff; makes a trace ring for each
 * connection; keeps the checkpoint that symbolizerd leaves for its successor.
 */
#ifndef LOADERD_HUB_LINK_H
#define LOADERD_HUB_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/evloop.h"
#include "ipc/conn.h"
#include "ipc/message_loader.h"
#include "ipc/trace_ring.h"

struct hub_link_ops {
	void (*connected)(void *ctx, bool yes);	/* after the hellos; at the end */
	void (*table)(void *ctx, uint32_t exe, int fd);	/* -1: none; borrowed */
	void (*debug)(void *ctx, const struct msg_debug_wanted *m);
};

struct hub_link {
	struct ev_source source;	/* first: callbacks get the hub by it */
	struct evloop *loop;
	const struct hub_link_ops *ops;
	void *ctx;
	const char *path;
	uid_t uid;		/* of symbolizerd */
	uint32_t frequency;
	bool partial;		/* only named tasks are sampled; false at first */
	struct conn conn;
	struct trace_producer ring;
	int wake_fd;
	bool have_checkpoint;
	struct hub_totals checkpoint;
	uint64_t connects, offences;
	uint64_t retry_ns, backoff_ns;
};

void hub_link_init(struct hub_link *h, struct evloop *loop, const char *path, uid_t uid,
	      uint32_t frequency, const struct hub_link_ops *ops, void *ctx);

/* Connect if it is time to; to be called often. */
void hub_link_tick(struct hub_link *h, uint64_t now);

bool hub_link_up(const struct hub_link *h);

/* Tell symbolizerd that the ring has something for it. */
void hub_link_wake(struct hub_link *h);

/* 0 or -errno: -ENOTCONN, -EAGAIN (its socket is full). */
int hub_link_send(struct hub_link *h, enum msg_type type, const void *payload, size_t a,
	     const void *tail, size_t b, int fd);

/* Say goodbye and close. */
void hub_link_bye(struct hub_link *h);

#endif /* LOADERD_HUB_LINK_H */
