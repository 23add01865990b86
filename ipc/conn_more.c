// SPDX-License-Identifier: Apache-2.0
#include "ipc/conn_more.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int conn_accept(struct conn *c, int listener, enum peer peer, uid_t uid,
		bool root_too)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;
	int fd, r = 0;

	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return errno == ECONNABORTED || errno == EINTR ?
			-EAGAIN : -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		r = -errno;
	else if (uid != CONN_ANYBODY && cred.uid != uid &&
		 !(root_too && cred.uid == 0))
		r = -EACCES;
	else
		r = conn_init(c, fd, peer);
	if (r)
		close(fd);
	else
		c->cred_uid = cred.uid;
	return r;
}

int msg_take_fd(struct msg *m, unsigned int i)
{
	int fd;

	if (i >= m->nfds)
		return -1;
	fd = m->fds[i];
	m->fds[i] = -1;
	return fd;
}
