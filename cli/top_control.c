// SPDX-License-Identifier: Apache-2.0
#include "cli/top_control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr align;
	char buf[CMSG_SPACE(sizeof(int))];
};

int top_tell(int control, const struct top_msg *m, int fd)
{
	union control c = { 0 };
	struct iovec iov = { (void *)m, sizeof(*m) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		mh.msg_control = &c;
		mh.msg_controllen = sizeof(c);
		c.align.cmsg_level = SOL_SOCKET;
		c.align.cmsg_type = SCM_RIGHTS;
		c.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&c.align), &fd, sizeof(fd));
	}
	return sendmsg(control, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ?
		-errno : 0;
}

int top_hear(int control, struct top_msg *m, int *fd)
{
	union control c;
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
