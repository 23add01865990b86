// SPDX-License-Identifier: Apache-2.0
#include "ipc/conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/send_fds.h"

/* One descriptor more than any rule allows, so that surplus is seen. */
union control {
	struct cmsghdr align;
	char buf[CMSG_SPACE((MSG_FDS_MAX + 1) * sizeof(int)) +
		 CMSG_SPACE(sizeof(struct ucred))];
};

_Static_assert(MSG_FDS_MAX <= SEND_FDS_MAX, "all descriptors of a message are sent");
_Static_assert(sizeof(union control) / sizeof(int) <= MSG_FDS_ROOM,
	       "all descriptors that are received have room");

void conn_init(struct conn *c, int fd, enum peer peer, enum conn_state state)
{
	*c = (struct conn){ .fd = fd, .peer = peer, .state = state };
}

void conn_close(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
}

/* Take over the descriptors of a message.  True if it carries the credentials of uid. */
static bool conn_take_ancillary(struct msghdr *mh, uid_t uid, struct msg *m)
{
	bool cred_ok = false;
	struct cmsghdr *c;
	struct ucred cred;
	size_t len;

	for (c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		len = c->cmsg_len - CMSG_LEN(0);
		if (c->cmsg_type == SCM_RIGHTS) {
			memcpy(m->fds + m->nfds, CMSG_DATA(c), len);
			m->nfds += len / sizeof(int);
		} else if (c->cmsg_type == SCM_CREDENTIALS && len == sizeof(cred)) {
			memcpy(&cred, CMSG_DATA(c), len);
			cred_ok = cred.uid == uid;
		}
	}
	return cred_ok;
}

static int conn_judge(struct conn *c, const struct msg *m, size_t n, int flags,
		      bool cred_ok)
{
	/* none of ours is empty: this is the end, with descriptors or without */
	if (n == 0)
		return -EPIPE;
	if (flags & (MSG_TRUNC | MSG_CTRUNC))
		return MSG_TRUNCATED;
	if (c->want_cred && !cred_ok)
		return MSG_BAD_SENDER;
	if (n < sizeof(m->hdr))
		return MSG_BAD_LEN;
	return msg_check(c->peer, c->state, &m->hdr, n - sizeof(m->hdr),
			 m->nfds);
}

int conn_recv(struct conn *c, struct msg *m)
{
	struct iovec iov[] = {
		{ &m->hdr, sizeof(m->hdr) }, { m->buf, sizeof(m->buf) },
	};
	union control control;
	struct msghdr mh = {
		.msg_iov = iov, .msg_iovlen = 2,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	bool cred_ok;
	ssize_t n;
	int r;

	m->nfds = 0;
	n = recvmsg(c->fd, &mh, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	cred_ok = conn_take_ancillary(&mh, c->cred_uid, m);
	r = conn_judge(c, m, (size_t)n, mh.msg_flags, cred_ok);
	if (r)
		msg_close_fds(m);
	else
		c->want_cred = false;
	return r;
}

int conn_send(struct conn *c, unsigned int type, uint64_t id,
	      const void *payload, size_t a, const void *tail, size_t b,
	      const int *fds, unsigned int nfds)
{
	struct msg_hdr hdr = {
		.version = MSG_VERSION, .type = (uint16_t)type, .id = id,
	};
	struct iovec iov[] = {
		{ &hdr, sizeof(hdr) }, { (void *)payload, a },
		{ (void *)tail, b },
	};

	if (a > MSG_LEN_MAX || b > MSG_LEN_MAX - a)
		return -EMSGSIZE;
	hdr.len = (uint32_t)(a + b);
	return send_fds(c->fd, iov, 3, fds, nfds);
}

void msg_close_fds(struct msg *m)
{
	for (unsigned int i = 0; i < m->nfds; i++)
		close(m->fds[i]);	/* -1, which was taken, does no harm */
	m->nfds = 0;
}

int conn_connect(struct conn *c, const char *path, enum peer peer, uid_t uid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int r, one = 1;

	c->fd = -1;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	conn_init(c, socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
		  peer, CONN_NEW);
	c->want_cred = true;
	c->cred_uid = uid;
	/* before connect, so that the very first message carries them */
	if (c->fd < 0 || setsockopt(c->fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) < 0 ||
	    connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		r = -errno;
		conn_close(c);
		return r;
	}
	return 0;
}

int conn_accept(struct conn *c, int listener, enum peer peer, uid_t uid,
		bool root_too)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred cred;
	int fd, r = 0;

	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
		return -EAGAIN;
	if (fd < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		r = -errno;
	else if (uid != CONN_ANYBODY && cred.uid != uid && !(root_too && cred.uid == 0))
		r = -EACCES;
	if (r) {
		close(fd);
		return r;
	}
	conn_init(c, fd, peer, CONN_NEW);
	c->cred_uid = cred.uid;
	return 0;
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
