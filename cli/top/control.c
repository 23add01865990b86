// SPDX-License-Identifier: Apache-2.0
#include "cli/top/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "ipc/fdpass.h"

int top_tell(int control, const struct top_msg *m, int fd)
{
	return fdpass_send(control, m, sizeof(*m), fd);
}

int top_hear(int control, struct top_msg *m, int *fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	const struct cmsghdr *h;
	ssize_t n;

	if (fd) {
		mh.msg_control = &c;
		mh.msg_controllen = sizeof(c);
		*fd = -1;
	}
	n = recvmsg(control, &mh, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	h = fd ? CMSG_FIRSTHDR(&mh) : NULL;
	if (h && h->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(h), sizeof(*fd));
	if (n == 0)
		return -EPIPE;
	m->text[sizeof(m->text) - 1] = '\0';
	return n == sizeof(*m) ? 0 : -EPROTO;
}
