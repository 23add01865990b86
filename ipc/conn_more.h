/* SPDX-License-Identifier: Apache-2.0 */
/* conn_more - what only those do with connections who are connected to */
#ifndef IPC_CONN_MORE_H
#define IPC_CONN_MORE_H

#include "ipc/conn.h"

#define CONN_ANYBODY	((uid_t)-1)	/* who may connect says the socket's mode */

/*
 * Accept from a listening socket.  Any peer of a uid other than `uid` (CONN_ANYBODY, or
 * 0 if root_too) is closed: -EACCES.  -EAGAIN when none waits.  On failure c is
 * untouched.
 */
int conn_accept(struct conn *c, int listener, enum peer peer, uid_t uid,
		bool root_too);

/* Descriptor i of a message, which the caller owns now; -1: there is none, or it
 * was taken before. */
int msg_take_fd(struct msg *m, unsigned int i);

#endif /* IPC_CONN_MORE_H */
