/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_client - receives the hub's status and batches
 *
 * The status comes each second, or every five while the hub is idle.  There is one
 * connection to the hub's socket `status`, made here or handed over by a process that
 * may connect.  Every client of that socket uses this: `trifold
 * status`, `run`, `record` and `top`, and the live page.  Nothing here logs.
 */
#ifndef IPC_HUB_CLIENT_H
#define IPC_HUB_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"
#include "ipc/message_hub.h"

#define HUB_CLIENT_RETRY_NS	100000000ULL	/* after the first failure; */
#define HUB_CLIENT_RETRY_MAX_NS	1600000000ULL	/* doubled up to this */
#define HUB_CLIENT_BURST	64	/* messages in one hub_client_read() */

struct hub_client_ops {
	/* A batch of len bytes (borrowed, read-only, not validated); samples:
	 * events in it, according to the hub.  0; or -errno, and it is counted
	 * as refused. */
	int (*batch)(void *arg, const void *data, size_t len, uint64_t samples);
	/* Samples are missing from here on: another connection, batches that
	 * were missed, or one that was refused.  May be NULL. */
	void (*gap)(void *arg);
};

struct hub_client {
	struct conn conn;	/* .fd is -1 while there is none */
	const char *path;	/* of the socket; NULL: hub_client_take() only */
	uid_t hub_uid;
	const struct hub_client_ops *ops;	/* NULL: no batches are wanted */
	void *arg;
	uint64_t retry_ns;	/* CLOCK_MONOTONIC: when to connect again */
	uint64_t wait_ns;	/* the wait before that; 0: none so far */
	bool known;		/* there was a .status, of this hub or another */
	struct status status;
	uint64_t statuses;	/* on this connection; 0 while there is none */
	uint64_t lost_before;	/* samples, at the first status ever */
	uint64_t missed;	/* samples in batches missed or refused */
	uint64_t refused;	/* batches */
};

/* For a client that connects by itself; path and ops are borrowed. */
void hub_client_init(struct hub_client *c, const char *path, uid_t hub_uid,
		     const struct hub_client_ops *ops, void *arg);
void hub_client_fini(struct hub_client *c);

/* Connect if there is no connection and it is time.  now: CLOCK_MONOTONIC.
 * 0 or -errno. */
int hub_client_connect(struct hub_client *c, uint64_t now);

/* Use this connected socket instead; its first message must carry credentials
 * of hub_uid. */
void hub_client_take(struct hub_client *c, int fd, uid_t hub_uid);

/*
 * Handle what has come, at most HUB_CLIENT_BURST messages.  0; -EPIPE: the hub
 * has closed; -errno: the socket failed; > 0: enum msg_verdict, an offence.
 * Not 0: the connection is closed, to be made again by hub_client_connect().
 */
int hub_client_read(struct hub_client *c, uint64_t now);

/* Samples since the first status that were taken but are in no batch, or in one
 * that was missed or refused. */
uint64_t hub_client_lost(const struct hub_client *c);

#endif /* IPC_HUB_CLIENT_H */
