/* SPDX-License-Identifier: Apache-2.0 */
/* fdpass - a message to or from another process of ours, with a descriptor */
#ifndef IPC_FDPASS_H
#define IPC_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

/* Send len bytes of m, without waiting; fd: to be passed (borrowed), or -1.
 * 0 or -errno. */
int fdpass_send(int socket, const void *m, size_t len, int fd);

/* Receive up to size bytes, as recvmsg() with these flags.  *fd: what came with them, the
 * caller's, or -1; fd NULL: none is taken.  The length, 0 at the end, or -errno. */
ssize_t fdpass_recv(int socket, void *m, size_t size, int flags, int *fd);

#endif /* IPC_FDPASS_H */
