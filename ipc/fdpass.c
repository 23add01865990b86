// SPDX-License-Identifier: Apache-2.0
#include "ipc/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/send_fds.h"

int fdpass_send(int socket, const void *m, size_t len, int fd)
{
	struct iovec part = { (void *)m, len };

	return send_fds(socket, &part, 1, &fd, fd >= 0);
}

ssize_t fdpass_recv(int socket, void *m, size_t size, int flags, int *fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { m, size };
	struct msghdr mh = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			     .msg_controllen = fd ? sizeof(control) : 0 };
	ssize_t n = recvmsg(socket, &mh, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&mh);

	if (fd)
		*fd = -1;
	if (fd && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n < 0 ? -errno : n;
}
