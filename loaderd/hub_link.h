/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_link - the connection to symbolizerd
 *
 * Connects, whenever there is no connection; makes a pair of sockets for the samples of
 * each connection; keeps the checkpoint that symbolizerd leaves for its successor.
 */
#ifndef LOADERD_HUB_LINK_H
#define LOADERD_HUB_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"
#include "ipc/message_loader.h"

struct hub_link {		/* zero-initialised except the descriptors, path, uid,
				 * hello and stats */
	struct conn conn;	/* .fd is -1 while there is none */
	const char *path;
	uid_t uid;		/* of symbolizerd */
	int samples_fd;		/* our end of the samples' sockets */
	int counts_fd;		/* what BPF counts; borrowed */
	/* sent at each connection, with the checkpoint in it */
	struct msg_hello_loader hello;
	uint64_t attempts;	/* to connect, since the last hello */
	struct loader_stats *stats;	/* .hub_connects, .offences */
};

/* Connect, if there is no connection; to be called four times a second. */
void hub_link_tick(struct hub_link *h);

/* Is there a connection, with both hellos exchanged? */
bool hub_link_up(const struct hub_link *h);

/* MSG_HELLO_HUB.  The version in it is judged at the other end, where records are read. */
void hub_link_hello(struct hub_link *h);

/* Send MSG_BYE, which ends the account, and close the connection. */
void hub_link_bye(struct hub_link *h);

/* Close the connection and log why: an enum msg_verdict (an offence), or
 * -errno. */
void hub_link_close(struct hub_link *h, int why);

/* Send a payload of a bytes, a tail of b bytes, and fd (-1: none; borrowed).  0 or -errno:
 * -ENOTCONN, or -EAGAIN: the socket is full. */
int hub_link_send(struct hub_link *h, enum msg_type type, uint64_t id,
		  const void *payload, size_t a, const void *tail, size_t b,
		  int fd);

#endif /* LOADERD_HUB_LINK_H */
