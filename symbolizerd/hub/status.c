// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/status.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cost.h"
#include "ipc/batch.h"
#include "ipc/conn_more.h"
#include "symbolizerd/hub/hub.h"

_Static_assert(offsetof(struct status_client, src) == 0, "src comes first");

static void status_fill(struct hub *hub, struct status *st)
{
	struct cost cost;

	memset(st, 0, sizeof(*st));
	st->version = MSG_VERSION;
	st->loader_up = hub->ledger.life == LIFE_UP;
	st->exporter_up = exporter_link_ready(hub);
	st->partial = st->loader_up && hub->partial;
	st->frequency = st->loader_up ? hub->frequency : 0;
	st->interval_ms = (uint32_t)(hub->config.interval_ns / NSEC_PER_MSEC);
	st->uptime_ns = now_ns() - hub->start_ns;
	ledger_view(&hub->ledger, &st->totals, &st->loader);
	files_stats(&hub->files, &st->tables);
	st->hub = hub->stats;
	st->hub.pending = hub->ledger.pending;
	st->hub.outstanding = ledger_outstanding(&hub->ledger);
	st->hub.traces = hub->traces.n;
	st->hub.processes = hub->processes.n;
	st->hub.exes = hub->exes.n;
	executables_count(&hub->exes, &st->hub.exes_waiting,
			  &st->hub.exes_failed);
	cost_read(hub->config.statm, &cost);
	st->hub.cpu_ns = cost.cpu_ns;
	st->hub.rss_bytes = cost.rss_bytes;
	st->exporter = hub->exporter.stats;
	if (st->hub.exes_failed)
		executables_quarantine(&hub->exes, &st->quarantine);
}

static void status_leave(struct status_client *c)
{
	evloop_del(&c->hub->loop, &c->src);
	conn_close(&c->conn);
}

/* A client that does not read misses some. */
static void status_tell(struct conn *c, const struct msg_status *m)
{
	(void)!conn_send(c, MSG_STATUS, 0, m, sizeof(*m), NULL, 0, NULL, 0);
}

static void tell_missed(struct status_client *c)
{
	if (c->missed.batches &&
	    conn_send(&c->conn, MSG_MISSED, 0, &c->missed, sizeof(c->missed),
		      NULL, 0, NULL, 0) == 0)
		c->missed = (struct msg_missed){ 0 };
}

static unsigned int subscribers(const struct status_clients *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++)
		n += s->v[i].conn.fd >= 0 && s->v[i].subscribed;
	return n;
}

/* MSG_OK; -EBUSY: there is no room for it; or an offence. */
static int on_subscribe(struct status_client *c, const struct msg *msg)
{
	struct msg_subscribe m;

	memcpy(&m, msg->buf, sizeof(m));
	if (m.batch_version != BATCH_VERSION || m.batches == 0 ||
	    m.batches > SUBSCRIBE_MAX - c->wants)
		return MSG_BAD_CONTENT;
	if (!c->subscribed && subscribers(&c->hub->status) == SUBSCRIBERS)
		return -EBUSY;
	c->subscribed = true;
	c->wants += m.batches;
	tell_missed(c);
	return MSG_OK;
}

static int status_on_message(struct ev_source *src, uint32_t events)
{
	struct status_client *c = (struct status_client *)src;
	struct msg msg;
	int r = conn_recv(&c->conn, &msg);

	(void)events;
	if (r == 0) {
		/* by the rules there is nothing else that it may say */
		r = msg.hdr.type == MSG_SUBSCRIBE ? on_subscribe(c, &msg) :
						    MSG_BAD_TYPE;
		msg_close_fds(&msg);
	}
	if (r == 0 || r == -EAGAIN)
		return 0;
	if (r > 0)
		hub_offence(c->hub, "status client", r);
	status_leave(c);
	return 0;
}

/* A viewer that was started again may be there before its end was seen. */
static void status_end_viewer(struct hub *hub)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		struct status_client *c = &hub->status.v[i];

		if (c->conn.fd >= 0 && c->conn.cred_uid != 0 &&
		    c->conn.cred_uid != getuid())
			status_leave(c);
	}
}

static struct status_client *status_free_place(struct status_clients *s)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (s->v[i].conn.fd < 0)
			return &s->v[i];
	}
	return NULL;
}

static void status_welcome(struct hub *hub, struct status_client *c)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };
	struct msg_status m;

	status_fill(hub, &m.status);
	(void)!conn_send(&c->conn, MSG_HELLO_HUB, 0, &hello, sizeof(hello),
			 NULL, 0, NULL, 0);
	status_tell(&c->conn, &m);
}

static int status_on_connect(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, status.listener);
	struct status_client *place;
	struct conn c = { .fd = -1 };
	int r = conn_accept(&c, src->fd, PEER_STATUS, hub->config.viewer_uid,
			    true);

	(void)events;
	if (r == -EACCES)
		hub_offence(hub, "status client", MSG_BAD_SENDER);
	else if (r < 0 && r != -EAGAIN && log_limited(&hub->status.accept_log))
		log_err("accepting a status client: %s", strerror(-r));
	if (r < 0)
		return 0;
	if (c.cred_uid != 0 && c.cred_uid != getuid())
		status_end_viewer(hub);
	place = status_free_place(&hub->status);
	if (!place) {
		conn_close(&c);
		return 0;
	}
	*place = (struct status_client){
		.src = { c.fd, status_on_message },
		.hub = hub,
		.conn = c,
	};
	place->conn.state = CONN_READY;
	if (evloop_add(&hub->loop, &place->src, EPOLLIN) < 0)
		conn_close(&place->conn);
	else
		status_welcome(hub, place);
	return 0;
}

int status_init(struct hub *hub, int listener)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		hub->status.v[i].hub = hub;
		hub->status.v[i].conn.fd = -1;
	}
	hub->status.listener = (struct ev_source){ listener,
						   status_on_connect };
	return evloop_add(&hub->loop, &hub->status.listener, EPOLLIN);
}

void status_stop_accepting(struct hub *hub)
{
	evloop_del(&hub->loop, &hub->status.listener);
}

void status_fini(struct hub *hub)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (hub->status.v[i].conn.fd >= 0)
			status_leave(&hub->status.v[i]);
	}
}

void status_send(struct hub *hub)
{
	struct msg_status m;
	bool filled = false;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (hub->status.v[i].conn.fd < 0)
			continue;
		if (!filled)
			status_fill(hub, &m.status);
		filled = true;
		status_tell(&hub->status.v[i].conn, &m);
	}
	if (!exporter_link_ready(hub) || !hub->exporter.wants_status)
		return;
	if (!filled)
		status_fill(hub, &m.status);
	status_tell(&hub->exporter.conn, &m);
}

static void status_offer_one(struct status_client *c, int fd, uint64_t id,
			     const struct msg_batch *m)
{
	if (c->wants)
		tell_missed(c);
	if (c->wants && !c->missed.batches &&
	    conn_send(&c->conn, MSG_BATCH, id, m, sizeof(*m), NULL, 0, &fd,
		      1) == 0) {
		c->wants--;
		return;
	}
	c->missed.batches++;
	c->missed.samples += m->samples;
}

void status_offer(struct hub *hub, int fd, uint64_t id,
		  const struct msg_batch *m)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		struct status_client *c = &hub->status.v[i];

		if (c->conn.fd >= 0 && c->subscribed)
			status_offer_one(c, fd, id, m);
	}
}
