// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/peer_link.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ipc/conn.h"

#define MESSAGES_MAX	64u	/* handled in one go */

#define peer_link_of(source, member)					\
	((struct peer_link *)((char *)(source) -			\
			      offsetof(struct peer_link, member)))

void peer_link_disconnect(struct peer_link *l)
{
	if (!peer_link_up(l))
		return;
	evloop_del(l->loop, &l->src);
	conn_close(&l->conn);
	knowledge_heard(l->k);
	l->ops->closed(l->ctx);
}

void peer_link_offence(struct peer_link *l, int verdict)
{
	knowledge_offence(l->k, l->ops->name, verdict);
	peer_link_disconnect(l);
}

void peer_link_want_write(struct peer_link *l, bool want)
{
	evloop_mod(l->loop, &l->src, want ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Handle what is there, at most MESSAGES_MAX; may end up disconnected. */
static void peer_link_receive(struct peer_link *l)
{
	unsigned int left = MESSAGES_MAX;
	struct msg msg;
	int r = 0;

	while (r == 0 && left-- > 0 && peer_link_up(l)) {
		r = conn_recv(&l->conn, &msg);
		if (r == 0) {
			if (msg.hdr.type != MSG_LOADER_STATS &&
			    msg.hdr.type != MSG_EXPORTER_STATS)
				knowledge_heard(l->k);
			r = l->ops->handle(l->ctx, &msg);
			msg_close_fds(&msg);
		}
	}
	if (r > 0) {
		peer_link_offence(l, r);
	} else if (r < 0 && r != -EAGAIN) {
		log_info("%s has gone", l->ops->name);
		if (l->ops->gone)
			l->ops->gone(l->ctx);
		peer_link_disconnect(l);
	}
}

static int peer_link_on_message(struct ev_source *src, uint32_t events)
{
	struct peer_link *l = peer_link_of(src, src);

	if (events & EPOLLOUT)
		l->ops->writable(l->ctx);
	peer_link_receive(l);
	return 0;
}

static void peer_link_take(struct peer_link *l, struct conn *c)
{
	knowledge_heard(l->k);
	/* a dead one may not have been noticed yet */
	peer_link_receive(l);
	if (peer_link_up(l)) {
		log_warn("a second %s is not wanted", l->ops->name);
		l->k->stats.offences++;
		conn_close(c);
		return;
	}
	l->conn = *c;
	l->src = (struct ev_source){ c->fd, peer_link_on_message };
	if (evloop_add(l->loop, &l->src, EPOLLIN) < 0)
		conn_close(&l->conn);
}

static int peer_link_on_connect(struct ev_source *src, uint32_t events)
{
	struct peer_link *l = peer_link_of(src, listener);
	struct conn c = { .fd = -1 };
	int r = conn_accept(&c, src->fd, l->ops->peer, l->uid,
			    l->ops->root_too);

	(void)events;
	if (r == 0)
		peer_link_take(l, &c);
	else if (r == -EACCES)
		knowledge_offence(l->k, l->ops->name, MSG_BAD_SENDER);
	else if (r != -EAGAIN && log_limited(&l->accept_log))
		log_err("accepting %s: %s", l->ops->name, strerror(-r));
	return 0;
}

int peer_link_init(struct peer_link *l, struct evloop *loop,
		   struct knowledge *k, const struct peer_link_ops *ops,
		   void *ctx, uid_t uid, int listener)
{
	*l = (struct peer_link){
		.loop = loop, .k = k, .ops = ops, .ctx = ctx, .uid = uid,
		.listener = { listener, peer_link_on_connect },
		.conn.fd = -1,
	};
	return evloop_add(l->loop, &l->listener, EPOLLIN);
}

void peer_link_stop_accepting(struct peer_link *l)
{
	evloop_del(l->loop, &l->listener);
}
