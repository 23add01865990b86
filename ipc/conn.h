/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn - one SOCK_SEQPACKET connection, and the only receiver of descriptors
 *
 * Nothing here waits, and nothing logs.
 */
#ifndef IPC_CONN_H
#define IPC_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/message.h"

struct conn {
	int fd;			/* -1: closed */
	enum peer peer;		/* what is at the other end */
	enum conn_state state;
	bool want_cred;		/* first message must carry SCM_CREDENTIALS
				 * of cred_uid */
	uid_t cred_uid;		/* after conn_accept(): of the process that connected */
};

#define MSG_FDS_ROOM	16	/* more descriptors than may come: surplus is seen */

/* A received message; buf is aligned for every payload. */
struct msg {
	struct msg_hdr hdr;
	_Alignas(8) uint8_t buf[MSG_LEN_MAX];
	unsigned int nfds;
	int fds[MSG_FDS_ROOM];	/* owned by the caller after MSG_OK; -1: taken */
};

#define CONN_ANYBODY	((uid_t)-1)	/* the mode of the socket's path decides */

/* A connection over fd, which it takes over.  CONN_READY: both ends come from one parent, so
 * that nobody has to say hello. */
void conn_init(struct conn *c, int fd, enum peer peer, enum conn_state state);
void conn_close(struct conn *c);	/* accepts a closed one */

/*
 * Receive one message and judge it by msg_check().  Returns
 *	0		*m is filled; its descriptors belong to the caller
 *	-EAGAIN		nothing there
 *	-EPIPE		the peer has closed
 *	-errno		the socket failed
 *	> 0		enum msg_verdict: an offence; all descriptors are
 *			closed; the caller must conn_close()
 */
__attribute__((__warn_unused_result__))
int conn_recv(struct conn *c, struct msg *m);

/*
 * Send one message: payload of a bytes, then tail of b bytes (NULL, 0 if
 * none), then nfds descriptors (borrowed).  Returns 0 or -errno; -EAGAIN when
 * the socket's buffer is full.
 */
int conn_send(struct conn *c, unsigned int type, uint64_t id,
	      const void *payload, size_t a, const void *tail, size_t b,
	      const int *fds, unsigned int nfds);

void msg_close_fds(struct msg *m);	/* all that were not taken */

/* Descriptor i of a message, which the caller owns now; -1: there is none, or it
 * was taken before. */
int msg_take_fd(struct msg *m, unsigned int i);

/* Connect to a listening path.  The listener's first message must carry
 * credentials of uid.  Returns 0; or -errno, and c is closed. */
int conn_connect(struct conn *c, const char *path, enum peer peer, uid_t uid);

/*
 * Accept from a listening socket.  Any peer of a uid other than `uid` (CONN_ANYBODY, or
 * 0 if root_too) is closed: -EACCES.  -EAGAIN when none waits.  On failure c is
 * untouched.
 */
int conn_accept(struct conn *c, int listener, enum peer peer, uid_t uid,
		bool root_too);

#endif /* IPC_CONN_H */
