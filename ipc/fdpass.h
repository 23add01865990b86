/* SPDX-License-Identifier: Apache-2.0 */
/* fdpass - a message to another process of ours, with a descriptor */
#ifndef IPC_FDPASS_H
#define IPC_FDPASS_H

#include <stddef.h>

/* Send len bytes of m, without waiting; fd: to be passed (borrowed), or -1.
 * 0 or -errno. */
int fdpass_send(int socket, const void *m, size_t len, int fd);

#endif /* IPC_FDPASS_H */
