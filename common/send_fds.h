/* SPDX-License-Identifier: Apache-2.0 */
/* send_fds - a datagram with descriptors: SCM_RIGHTS, unix(7) */
#ifndef COMMON_SEND_FDS_H
#define COMMON_SEND_FDS_H

#include <stddef.h>
#include <sys/uio.h>

#define SEND_FDS_MAX	2

/* Send n parts and nfds descriptors (borrowed), without waiting.  0 or -errno. */
int send_fds(int socket, struct iovec *iov, size_t n, const int *fds, size_t nfds);

#endif /* COMMON_SEND_FDS_H */
