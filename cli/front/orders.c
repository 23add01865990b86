// SPDX-License-Identifier: Apache-2.0
#include "cli/front/orders.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* 1: a message; 0: none; -EPIPE.  A descriptor that came along is the caller's,
 * else *fd is -1. */
static int orders_read(struct orders *o, struct tell *t, int *fd, int flags)
{
	int fds[ASK_FDS_MAX], n;
	int len = ask_recv(o->fd, t, sizeof(*t), fds, &n, flags);

	if (n)
		*fd = fds[0];
	else
		*fd = -1;
	if (len == 0)
		return 0;
	if (len == sizeof(*t))
		return 1;
	return -EPIPE;
}

/* Send it and wait for the reply.  Returns its value or -errno. */
static int orders_ask(struct orders *o, const struct ask *m, size_t len,
		      const int *fds, int n, struct tell *reply, int *fd)
{
	int r = ask_send(o->fd, m, len, fds, n, 0);

	*fd = -1;
	if (r)
		return r;
	for (;;) {
		r = orders_read(o, reply, fd, 0);
		if (r < 0)
			return r;
		if (r && reply->kind == TELL_REPLY)
			return reply->value;
		/* more never arrive during one order */
		if (r && o->n < ORDERS_KEPT)
			o->kept[o->n++] = *reply;
	}
}

int orders_open(struct orders *o, int log_fd)
{
	static const struct ask m = { .kind = ASK_OPEN };
	struct tell t;
	int fd, r = orders_ask(o, &m, ASK_BYTES(0), &log_fd, 1, &t, &fd);

	if (r < 0)
		return r;
	if (fd < 0)
		return -EPROTO;
	return fd;
}

pid_t orders_start(struct orders *o, enum program id, const struct plan *p,
		   const int *fds, int n)
{
	static struct ask m;
	struct tell t;
	size_t len = 0;
	int fd;

	m.kind = ASK_START;
	m.program = id;
	for (const char *w = NULL; (w = plan_next(p, id, w));
	     len += strlen(w) + 1)
		strcpy(m.words + len, w);
	return orders_ask(o, &m, ASK_BYTES(len), fds, n, &t, &fd);
}

void orders_signal(struct orders *o, enum program id, int sig)
{
	static struct ask m = { .kind = ASK_SIGNAL };

	m.program = id;
	m.signal = sig;
	/* if the supervisor is gone, the end of the socket is read next */
	ask_send(o->fd, &m, ASK_BYTES(0), NULL, 0, 0);
}

int orders_connect(struct orders *o, uid_t *hub_uid)
{
	static const struct ask m = { .kind = ASK_HUB };
	struct tell t;
	int fd, r = orders_ask(o, &m, ASK_BYTES(0), NULL, 0, &t, &fd);

	*hub_uid = (uid_t)r;
	if (fd >= 0)
		return fd;
	if (r < 0)
		return r;
	return -EPROTO;
}

int orders_next(struct orders *o, struct tell *ret)
{
	int fd, r;

	if (o->n) {
		*ret = o->kept[0];
		memmove(o->kept, o->kept + 1, --o->n * sizeof(*ret));
		return 1;
	}
	r = orders_read(o, ret, &fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	return r;
}
