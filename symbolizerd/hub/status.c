// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/status.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cost.h"
#include "ipc/batch.h"
#include "ipc/conn.h"

_Static_assert(offsetof(struct status_client, src) == 0, "src comes first");

static struct status_clients *status_of(struct ev_source *listener)
{
	return (struct status_clients *)((char *)listener -
					 offsetof(struct status_clients,
						  listener));
}

static void status_fill_symbols(const struct executables *x, struct hub_stats *ret)
{
	ret->exes = x->n;
	executables_count(x, &ret->exes_waiting, &ret->exes_failed);
	ret->exes_full = x->crowded;
	ret->symbols_let_go = x->let_go;
	ret->symbols_full = x->full;
	ret->symbols_lost = x->met.lost;
	ret->symbols_again = x->again.n;
	ret->symbols_put_off = x->again.put_off;
}

static void status_fill(const struct status_clients *s, struct status *st)
{
	const struct knowledge *k = s->k;
	struct cost cost;

	memset(st, 0, sizeof(*st));
	st->version = MSG_VERSION;
	st->loader_up = k->ledger.life == LIFE_UP;
	st->exporter_up = exporter_link_ready(s->exporter);
	st->partial = st->loader_up && k->partial;
	st->frequency = st->loader_up ? k->frequency : 0;
	st->interval_ms = (uint32_t)(s->interval_ns / NSEC_PER_MSEC);
	st->uptime_ns = now_ns() - s->start_ns;
	ledger_view(&k->ledger, &st->totals, &st->loader);
	files_stats(&k->files, &st->tables);
	st->hub = k->stats;
	st->hub.pending = k->ledger.pending;
	st->hub.outstanding = ledger_outstanding(&k->ledger);
	st->hub.traces = k->traces.n;
	st->hub.managed_full = k->managed.functions.lost + k->managed.frames.lost +
			       k->managed.visits.lost;
	st->hub.managed_visits = k->managed.visits.asked;
	st->hub.jit_full = k->jit.places.lost + k->jit.visits.lost + k->jit.closed +
			   k->jit.early.closed;
	st->hub.managed_read = k->managed.read;
	st->hub.line_full = k->lines.store.codes.lost + k->lines.visits.lost;
	st->hub.line_visits = k->lines.visits.asked;
	st->hub.line_answers = k->lines.answers;
	st->hub.line_put_off = k->lines.put_off;
	st->hub.line_deaths = k->lines.deaths;
	st->hub.line_cpu_ns = k->lines.share.used_ns;
	st->hub.processes = k->processes.n;
	st->hub.cgroups_full = k->cgroups.known.lost;
	st->hub.ksyms_full = k->ksyms.full;
	status_fill_symbols(&k->exes, &st->hub);
	cost_read(s->statm, &cost);
	st->hub.cpu_ns = cost.cpu_ns;
	st->hub.files_cpu_ns = k->share.used_ns;
	st->hub.rss_bytes = cost.rss_bytes;
	st->exporter = s->exporter->stats;
	if (st->hub.exes_failed)
		executables_quarantine(&k->exes, &st->quarantine);
}

static void status_leave(struct status_client *c)
{
	evloop_del(c->all->loop, &c->src);
	conn_close(&c->conn);
}

/* A client that does not read misses messages. */
static void status_tell(struct conn *c, const struct msg_status *m)
{
	(void)!conn_send(c, MSG_STATUS, 0, m, sizeof(*m), NULL, 0, NULL, 0);
}

static void status_tell_missed(struct status_client *c)
{
	if (c->missed.batches &&
	    conn_send(&c->conn, MSG_MISSED, 0, &c->missed, sizeof(c->missed),
		      NULL, 0, NULL, 0) == 0)
		c->missed = (struct msg_missed){ 0 };
}

static unsigned int status_subscribers(const struct status_clients *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++)
		if (s->v[i].conn.fd >= 0 && s->v[i].subscribed)
			n++;
	return n;
}

static bool status_is_viewer(const struct status_clients *s, uid_t uid)
{
	return uid == s->viewer_uid && uid != 0 && uid != getuid();
}

/* Neither root nor ours. */
static bool status_is_reader(const struct status_clients *s, uid_t uid)
{
	return uid != 0 && uid != getuid() && uid != s->viewer_uid;
}

/* Is this client there, and, if that is asked, subscribed? */
static bool status_counts(const struct status_client *c, bool subscribed)
{
	return c->conn.fd >= 0 && (!subscribed || c->subscribed);
}

/* How many places readers have; subscribed: only those that get batches. */
static unsigned int status_readers(const struct status_clients *s,
				   bool subscribed)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (status_counts(&s->v[i], subscribed) &&
		    status_is_reader(s, s->v[i].conn.cred_uid))
			n++;
	}
	return n;
}

/* Likewise, of this user. */
static unsigned int status_held(const struct status_clients *s, uid_t uid,
				bool subscribed)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (status_counts(&s->v[i], subscribed) && s->v[i].conn.cred_uid == uid)
			n++;
	}
	return n;
}

/* Ends sooner than b, of the same user: it has no batches, or is the later one. */
static bool status_sooner(const struct status_client *a,
			  const struct status_client *b)
{
	if (a->subscribed != b->subscribed)
		return b->subscribed;
	return a->number > b->number;
}

/*
 * All places of readers are taken: end a client of the user who has most of them, if
 * that user still has as many as uid afterwards.  Returns its place, which is free now,
 * or NULL.
 */
static struct status_client *status_displace(struct status_clients *s,
					     uid_t uid, bool subscribed)
{
	unsigned int most = status_held(s, uid, subscribed) + 1;
	struct status_client *found = NULL;

	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		struct status_client *c = &s->v[i];
		unsigned int n;

		if (c->conn.fd < 0 || (subscribed && !c->subscribed) ||
		    !status_is_reader(s, c->conn.cred_uid))
			continue;
		n = status_held(s, c->conn.cred_uid, subscribed);
		if (n < most || (!found && n == most) ||
		    (n == most && !status_sooner(c, found)))
			continue;
		most = n;
		found = c;
	}
	if (!found)
		return NULL;
	if (log_limited(&s->displaced_log))
		log_info("a status client of user %u makes room for user %u",
			 found->conn.cred_uid, uid);
	s->k->stats.clients_refused++;
	status_leave(found);
	return found;
}

/* May it have batches?  Ends another client's connection if need be. */
static bool status_may_subscribe(struct status_client *c)
{
	struct status_clients *s = c->all;

	if (status_is_reader(s, c->conn.cred_uid) &&
	    status_readers(s, true) == READERS_SUBSCRIBED)
		return status_displace(s, c->conn.cred_uid, true) != NULL;
	return status_subscribers(s) < SUBSCRIBERS;
}

/* MSG_OK; -EBUSY: there is no room for it; or an offence. */
static int status_on_subscribe(struct status_client *c, const struct msg *msg)
{
	struct msg_subscribe m;

	memcpy(&m, msg->buf, sizeof(m));
	if (m.batch_version != BATCH_VERSION || m.batches == 0 ||
	    m.batches > SUBSCRIBE_MAX - c->wants)
		return MSG_BAD_CONTENT;
	if (!c->subscribed && !status_may_subscribe(c)) {
		c->all->k->stats.clients_refused++;
		return -EBUSY;
	}
	c->subscribed = true;
	c->wants += m.batches;
	status_tell_missed(c);
	return MSG_OK;
}

static int status_on_message(struct ev_source *src, uint32_t events)
{
	struct status_client *c = (struct status_client *)src;
	struct msg msg;
	int r = conn_recv(&c->conn, &msg);

	(void)events;
	knowledge_heard(c->all->k);
	if (r == 0) {
		/* by the rules there is nothing else that it may say */
		r = MSG_BAD_TYPE;
		if (msg.hdr.type == MSG_SUBSCRIBE)
			r = status_on_subscribe(c, &msg);
		msg_close_fds(&msg);
	}
	if (r == 0 || r == -EAGAIN)
		return 0;
	if (r > 0)
		knowledge_offence(c->all->k, "status client", r);
	status_leave(c);
	return 0;
}

/* A viewer that was started again may be there before its end was seen. */
static void status_end_viewer(struct status_clients *s)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		struct status_client *c = &s->v[i];

		if (c->conn.fd >= 0 && status_is_viewer(s, c->conn.cred_uid))
			status_leave(c);
	}
}

static struct status_client *status_free_place(struct status_clients *s,
						uid_t uid)
{
	if (status_is_reader(s, uid) && status_readers(s, false) == READERS)
		return status_displace(s, uid, false);
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (s->v[i].conn.fd < 0)
			return &s->v[i];
	}
	return NULL;
}

static void status_welcome(struct status_clients *s, struct status_client *c)
{
	struct msg_hello_hub hello = { .record_version = REC_VERSION };
	struct msg_status m;

	status_fill(s, &m.status);
	(void)!conn_send(&c->conn, MSG_HELLO_HUB, 0, &hello, sizeof(hello),
			 NULL, 0, NULL, 0);
	status_tell(&c->conn, &m);
}

static int status_on_connect(struct ev_source *src, uint32_t events)
{
	struct status_clients *s = status_of(src);
	struct status_client *place;
	struct conn c = { .fd = -1 };
	uid_t who = s->readers ? CONN_ANYBODY : s->viewer_uid;
	int r = conn_accept(&c, src->fd, PEER_STATUS, who, true);

	(void)events;
	knowledge_heard(s->k);
	if (r == -EACCES)
		knowledge_offence(s->k, "status client", MSG_BAD_SENDER);
	else if (r < 0 && r != -EAGAIN && log_limited(&s->accept_log))
		log_err("accepting a status client: %s", strerror(-r));
	if (r < 0)
		return 0;
	/* any other client is root, a tool that root runs, or a reader */
	if (status_is_viewer(s, c.cred_uid)) {
		status_end_viewer(s);
		own_note_peer(&s->k->own, OWN_VIEWER, c.fd);
	}
	place = status_free_place(s, c.cred_uid);
	if (!place) {
		s->k->stats.clients_refused++;
		conn_close(&c);
		return 0;
	}
	*place = (struct status_client){
		.src = { c.fd, status_on_message },
		.all = s,
		.conn = c,
		.number = ++s->numbers,
	};
	place->conn.state = CONN_READY;
	if (evloop_add(s->loop, &place->src, EPOLLIN) < 0)
		conn_close(&place->conn);
	else
		status_welcome(s, place);
	return 0;
}

int status_init(struct status_clients *s, int listener)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		s->v[i].all = s;
		s->v[i].conn.fd = -1;
	}
	s->start_ns = now_ns();
	s->listener = (struct ev_source){ listener, status_on_connect };
	return evloop_add(s->loop, &s->listener, EPOLLIN);
}

void status_stop_accepting(struct status_clients *s)
{
	evloop_del(s->loop, &s->listener);
}

void status_fini(struct status_clients *s)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (s->v[i].conn.fd >= 0)
			status_leave(&s->v[i]);
	}
}

void status_account(const struct status_clients *s, struct account *ret,
		    unsigned int *clients)
{
	struct status st;

	status_fill(s, &st);
	account_sum(&st, ret);
	*clients = 0;
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++)
		if (s->v[i].conn.fd >= 0)
			++*clients;
}

bool status_watched(const struct status_clients *s)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		const struct status_client *c = &s->v[i];

		if (c->conn.fd >= 0 && c->subscribed &&
		    !status_is_viewer(s, c->conn.cred_uid))
			return true;
	}
	return false;
}

void status_send(struct status_clients *s)
{
	struct msg_status m;

	status_fill(s, &m.status);
	knowledge_charge(s->k, &m.status);
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		if (s->v[i].conn.fd >= 0)
			status_tell(&s->v[i].conn, &m);
	}
	if (exporter_link_ready(s->exporter) && s->exporter->wants_status)
		status_tell(&s->exporter->link.conn, &m);
}

static void status_offer_one(struct status_client *c, int fd, uint64_t id,
			     const struct msg_batch *m)
{
	if (c->wants)
		status_tell_missed(c);
	if (c->wants && !c->missed.batches &&
	    conn_send(&c->conn, MSG_BATCH, id, m, sizeof(*m), NULL, 0, &fd,
		      1) == 0) {
		c->wants--;
		return;
	}
	c->missed.batches++;
	c->missed.samples += m->samples;
}

void status_offer(struct status_clients *s, int fd, uint64_t id,
		  const struct msg_batch *m)
{
	for (unsigned int i = 0; i < STATUS_CLIENTS; i++) {
		struct status_client *c = &s->v[i];

		if (c->conn.fd >= 0 && c->subscribed)
			status_offer_one(c, fd, id, m);
	}
}
