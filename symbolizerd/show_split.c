// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/show_split.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

/* The descriptor that came, or -1. */
static int show_split_answer(int socket)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = { &byte, sizeof(byte) };
	struct msghdr mh = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;
	int fd;

	do
		n = recvmsg(socket, &mh, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == 1 ? CMSG_FIRSTHDR(&mh) : NULL;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int show_split_open(int socket, const char *name, const char *dir)
{
	char ask[2 * PATH_MAX];
	size_t n, more;

	dir = dir ? dir : "";
	n = strnlen(name, PATH_MAX) + 1;
	more = strnlen(dir, PATH_MAX) + 1;
	if (n > PATH_MAX || more > PATH_MAX)
		return -1;
	memcpy(ask, name, n);
	memcpy(ask + n, dir, more);
	return send(socket, ask, n + more, MSG_NOSIGNAL) < 0 ? -1 : show_split_answer(socket);
}
