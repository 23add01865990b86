// SPDX-License-Identifier: Apache-2.0
#include "loaderd/hub_link.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

#define BACKOFF_MIN_NS	(50 * NSEC_PER_MSEC)
#define BACKOFF_MAX_NS	(2 * NSEC_PER_SEC)

void hub_link_init(struct hub_link *h, struct evloop *loop, const char *path, uid_t uid,
	      uint32_t frequency, const struct hub_link_ops *ops, void *ctx)
{
	*h = (struct hub_link){
		.loop = loop, .ops = ops, .ctx = ctx, .path = path,
		.uid = uid, .frequency = frequency, .wake_fd = -1,
		.backoff_ns = BACKOFF_MIN_NS,
	};
	h->conn.fd = -1;
}

bool hub_link_up(const struct hub_link *h)
{
	return h->conn.fd >= 0 && h->conn.state == CONN_READY;
}

static void hub_disconnect(struct hub_link *h)
{
	bool was_up = hub_link_up(h);

	if (h->conn.fd < 0)
		return;
	evloop_del(h->loop, &h->source);
	conn_close(&h->conn);
	if (was_up)
		h->ops->connected(h->ctx, false);
	trace_producer_fini(&h->ring);
	close(h->wake_fd);
	h->wake_fd = -1;
}

static void take_table(struct hub_link *h, struct msg *m)
{
	const struct msg_table *t = (const void *)m->buf;
	int fd = m->hdr.type == MSG_TABLE ? msg_take_fd(m, 0) : -1;

	h->ops->table(h->ctx, t->exe, fd);
	if (fd >= 0)
		close(fd);
}

static int hub_handle(struct hub_link *h, struct msg *m)
{
	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		if (((const struct msg_hello_hub *)m->buf)->record_version !=
		    REC_VERSION)
			return MSG_BAD_CONTENT;
		h->conn.state = CONN_READY;
		h->backoff_ns = BACKOFF_MIN_NS;
		h->connects++;
		h->ops->connected(h->ctx, true);
		return 0;
	case MSG_TABLE:
	case MSG_TABLE_NONE:
		take_table(h, m);
		return 0;
	case MSG_DEBUG_WANTED:
		h->ops->debug(h->ctx, (const void *)m->buf);
		return 0;
	case MSG_CHECKPOINT:
		memcpy(&h->checkpoint, m->buf, sizeof(h->checkpoint));
		h->have_checkpoint = true;
		return 0;
	default:
		return MSG_BAD_TYPE;
	}
}

static int hub_on_event(struct ev_source *src, uint32_t events)
{
	struct hub_link *h = (struct hub_link *)src;
	struct msg m;
	int r;

	(void)events;
	while ((r = conn_recv(&h->conn, &m)) == 0) {
		r = hub_handle(h, &m);
		msg_close_fds(&m);
		if (r)
			break;
	}
	if (r == -EAGAIN)
		return 0;
	if (r > 0) {
		h->offences++;
		log_warn("symbolizerd broke the protocol (%s): connection closed",
			 msg_verdict_name(r));
	} else {
		log_info("symbolizerd is gone: sampling goes on");
	}
	hub_disconnect(h);
	return 0;
}

static int hub_say_hello(struct hub_link *h)
{
	struct msg_hello_loader hello = {
		.record_version = REC_VERSION, .frequency = h->frequency,
		.ring_bytes = h->ring.size,
		.checkpoint_valid = h->have_checkpoint, .partial = h->partial,
		.checkpoint = h->checkpoint,
	};
	int fds[3] = { h->ring.data_fd, h->ring.pos_fd, h->wake_fd };

	return conn_send(&h->conn, MSG_HELLO_LOADER, 0, &hello, sizeof(hello),
			 NULL, 0, fds, 3);
}

static int open_connection(struct hub_link *h)
{
	int r = conn_connect(&h->conn, h->path, PEER_HUB, h->uid);

	if (r)
		return r;
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = h->wake_fd < 0 ? -errno :
	    trace_producer_init(&h->ring, TRACE_RING_BYTES);
	if (!r) {
		r = hub_say_hello(h);
		h->source = (struct ev_source){ h->conn.fd, hub_on_event };
		if (!r)
			r = evloop_add(h->loop, &h->source, EPOLLIN);
		if (!r)
			return 0;
		trace_producer_fini(&h->ring);
	}
	conn_close(&h->conn);
	if (h->wake_fd >= 0)
		close(h->wake_fd);
	h->wake_fd = -1;
	return r;
}

void hub_link_tick(struct hub_link *h, uint64_t now)
{
	static struct log_limit limit;
	int r;

	if (h->conn.fd >= 0 || now < h->retry_ns)
		return;
	r = open_connection(h);
	h->retry_ns = now + h->backoff_ns;
	h->backoff_ns = h->backoff_ns * 2 > BACKOFF_MAX_NS ? BACKOFF_MAX_NS :
							     h->backoff_ns * 2;
	if (r && h->backoff_ns == BACKOFF_MAX_NS && log_limited(&limit))
		log_warn("cannot reach symbolizerd at %s: %s", h->path,
			 strerror(-r));
}

void hub_link_wake(struct hub_link *h)
{
	uint64_t one = 1;

	if (hub_link_up(h) && write(h->wake_fd, &one, sizeof(one)) < 0)
		log_debug("wake-up: %s", strerror(errno));
}

int hub_link_send(struct hub_link *h, enum msg_type type, const void *payload, size_t a,
	     const void *tail, size_t b, int fd)
{
	if (!hub_link_up(h))
		return -ENOTCONN;
	return conn_send(&h->conn, type, 0, payload, a, tail, b, &fd, fd >= 0);
}

void hub_link_bye(struct hub_link *h)
{
	hub_link_send(h, MSG_BYE, NULL, 0, NULL, 0, -1);
	hub_disconnect(h);
}
