// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/front_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int front_link_open(struct front_link *f)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	f->fd = fds[0];
	return fds[1];
}

void front_link_close(struct front_link *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

int front_link_tell(struct front_link *f, struct told m, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { .align = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
	}
	return f->fd >= 0 && sendmsg(f->fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		sizeof(m) ? 0 : -EPIPE;
}

int front_link_pair(struct front_link *f, enum told_kind kind)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	if (front_link_tell(f, (struct told){ .kind = kind }, fds[1])) {
		close(fds[0]);
		fds[0] = -1;
	}
	close(fds[1]);
	return fds[0];
}

int front_link_read(struct front_link *f)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(FRONT_FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { f->message, PLAN_BYTES_MAX };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(f->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&mh);

	f->n_fds = 0;
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		f->n_fds = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(f->fds, CMSG_DATA(c), (size_t)f->n_fds * sizeof(int));
	}
	f->len = (size_t)n;
	return mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EPROTO : 1;
}

void front_link_drop(struct front_link *f)
{
	while (f->n_fds > 0)
		close(f->fds[--f->n_fds]);
}
