// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/exporter_link.h"

#include <errno.h>
#include <string.h>

#include "ipc/batch.h"
#include "ipc/conn_more.h"
#include "symbolizerd/hub/hub.h"

#define MESSAGES_MAX	64u

bool exporter_link_ready(const struct hub *hub)
{
	return hub->exporter.conn.fd >= 0 &&
	       hub->exporter.conn.state != CONN_NEW;
}

static void exporter_link_disconnect(struct hub *hub)
{
	struct exporter_link *x = &hub->exporter;

	if (x->conn.fd < 0)
		return;
	evloop_del(&hub->loop, &x->src);
	conn_close(&x->conn);
	memset(&x->stats, 0, sizeof(x->stats));
}

static int send_batch(struct exporter_link *x, struct sent_batch *s)
{
	struct msg_batch m = { .bytes = s->bytes, .samples = s->events };

	return conn_send(&x->conn, MSG_BATCH, s->id, &m, sizeof(m), NULL, 0,
			 &s->fd, 1);
}

void exporter_link_flush(struct hub *hub)
{
	struct exporter_link *x = &hub->exporter;
	struct sent_batch *s;
	int r = 0;

	if (exporter_link_ready(hub)) {
		while (r == 0 && (s = batches_unsent(&hub->batches))) {
			r = send_batch(x, s);
			s->sent = r == 0;
		}
		/* a broken connection shows itself when it is read */
		evloop_mod(&hub->loop, &x->src,
			   r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
	}
	loader_link_checkpoint(hub);
}

static bool plausible(const struct msg_hello_exporter *m)
{
	if (m->queued_samples >= LEDGER_COUNT_MAX / 16 || m->wants_status > 1)
		return false;
	for (int i = 0; i < BATCH__OUTCOMES; i++) {
		if (m->unreported.samples[i] >= LEDGER_COUNT_MAX / 16)
			return false;
	}
	return true;
}

static int exporter_link_on_hello(struct hub *hub, const struct msg *msg)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };
	struct exporter_link *x = &hub->exporter;
	struct msg_hello_exporter m;

	memcpy(&m, msg->buf, sizeof(m));
	if (m.batch_version != BATCH_VERSION || !plausible(&m))
		return MSG_BAD_CONTENT;
	batches_hello(&hub->batches, m.queued_samples, &m.unreported);
	hub->presume_end_ns = 0;
	x->wants_status = m.wants_status;
	x->conn.state = CONN_READY;
	if (conn_send(&x->conn, MSG_HELLO_HUB, msg->hdr.id, &hello,
		      sizeof(hello), NULL, 0, NULL, 0) < 0)
		return MSG_BAD_STATE;	/* it has read nothing for ages */
	exporter_link_flush(hub);
	return MSG_OK;
}

static int exporter_link_on_done(struct hub *hub, const struct msg *msg)
{
	struct msg_batch_done m;

	memcpy(&m, msg->buf, sizeof(m));
	if (!batches_done(&hub->batches, msg->hdr.id, m.outcome, m.samples))
		return MSG_BAD_CONTENT;
	loader_link_checkpoint(hub);
	return MSG_OK;
}

static int exporter_link_handle(struct hub *hub, const struct msg *msg)
{
	struct msg_exporter_stats stats;

	switch (msg->hdr.type) {
	case MSG_HELLO_EXPORTER:
		return exporter_link_on_hello(hub, msg);
	case MSG_BATCH_DONE:
		return exporter_link_on_done(hub, msg);
	case MSG_EXPORTER_STATS:
		memcpy(&stats, msg->buf, sizeof(stats));
		hub->exporter.stats = stats.stats;
		return MSG_OK;
	default:
		return MSG_BAD_TYPE;
	}
}

static void exporter_link_receive(struct hub *hub, unsigned int max)
{
	struct exporter_link *x = &hub->exporter;
	struct msg msg;
	int r = 0;

	while (max-- > 0 && x->conn.fd >= 0) {
		r = conn_recv(&x->conn, &msg);
		if (r == 0) {
			r = exporter_link_handle(hub, &msg);
			msg_close_fds(&msg);
		}
		if (r)
			break;
	}
	if (r > 0) {
		hub_offence(hub, "exporterd", r);
		exporter_link_disconnect(hub);
	} else if (r < 0 && r != -EAGAIN) {
		log_info("exporterd has gone");
		if (hub->phase == HUB_RUNNING && exporter_link_ready(hub))
			hub->ledger.t.exporter_deaths++;
		exporter_link_disconnect(hub);
	}
}

static int exporter_link_on_message(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, exporter.src);

	exporter_link_receive(hub, MESSAGES_MAX);
	if (events & EPOLLOUT)
		exporter_link_flush(hub);
	return 0;
}

static void exporter_link_take(struct hub *hub, struct conn *c)
{
	struct exporter_link *x = &hub->exporter;

	/* a dead one may not have been noticed yet */
	exporter_link_receive(hub, MESSAGES_MAX);
	if (x->conn.fd >= 0) {
		log_warn("a second exporterd is not wanted");
		hub->stats.offences++;
		conn_close(c);
		return;
	}
	x->conn = *c;
	x->src = (struct ev_source){ c->fd, exporter_link_on_message };
	if (evloop_add(&hub->loop, &x->src, EPOLLIN) < 0)
		conn_close(&x->conn);
}

static int exporter_link_on_connect(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, exporter.listener);
	struct conn c = { .fd = -1 };
	int r;

	(void)events;
	r = conn_accept(&c, src->fd, PEER_EXPORTERD, hub->config.exporter_uid,
			false);
	if (r == 0)
		exporter_link_take(hub, &c);
	else if (r == -EACCES)
		hub_offence(hub, "exporterd", MSG_BAD_SENDER);
	else if (r != -EAGAIN && log_limited(&hub->exporter.accept_log))
		log_err("accepting an exporterd: %s", strerror(-r));
	return 0;
}

int exporter_link_init(struct hub *hub, int listener)
{
	struct exporter_link *x = &hub->exporter;

	x->conn.fd = -1;
	x->listener = (struct ev_source){ listener, exporter_link_on_connect };
	return evloop_add(&hub->loop, &x->listener, EPOLLIN);
}

void exporter_link_stop_accepting(struct hub *hub)
{
	evloop_del(&hub->loop, &hub->exporter.listener);
}

void exporter_link_fini(struct hub *hub)
{
	exporter_link_disconnect(hub);
}
