// SPDX-License-Identifier: Apache-2.0
#include "exporterd/hub_link.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/batch.h"

#define FIRST_WAIT_NS	100000000ULL
#define MAX_WAIT_NS	5000000000ULL
#define BURST		16	/* messages before other sources are served */

struct hub_answer {
	struct hub_answer *next;
	uint64_t id;
	struct msg_batch_done done;
};

static bool exporter_hub_is_up(const struct exporter_hub *l)
{
	return l->conn.fd >= 0;
}

static void hub_link_add(struct export_outcomes *to,
			 const struct export_outcomes *o)
{
	for (int i = 0; i < BATCH__OUTCOMES; i++)
		to->samples[i] += o->samples[i];
}

static void hub_link_watch(struct exporter_hub *l)
{
	uint32_t want = 0;

	if (!l->closing)
		want |= EPOLLIN;
	if (l->first)
		want |= EPOLLOUT;
	if (want == l->events)
		return;
	l->events = want;
	if (evloop_mod(l->loop, &l->src, want) < 0)
		log_err("event loop: %m");
}

static void exporter_hub_drop(struct exporter_hub *l)
{
	if (!exporter_hub_is_up(l))
		return;
	evloop_del(l->loop, &l->src);
	conn_close(&l->conn);
	hub_link_add(&l->unreported, &l->in_hello);
	l->in_hello = (struct export_outcomes){ 0 };
	while (l->first) {
		struct hub_answer *a = l->first;

		l->first = a->next;
		l->unreported.samples[a->done.outcome] += a->done.samples;
		free(a);
	}
	l->last = NULL;
	l->ops->gone(l->arg);
	if (!l->closing)
		timer_set(&l->retry, backoff_next(&l->backoff,
						  backoff_random()), 0);
	else
		l->ops->flushed(l->arg);
}

static void hub_link_flush(struct exporter_hub *l)
{
	bool any = l->first != NULL;

	while (l->first) {
		struct hub_answer *a = l->first;
		int r = conn_send(&l->conn, MSG_BATCH_DONE, a->id, &a->done,
				  sizeof(a->done), NULL, 0, NULL, 0);

		if (r == -EAGAIN)
			break;
		if (r < 0) {
			exporter_hub_drop(l);
			return;
		}
		l->first = a->next;
		free(a);
	}
	if (!l->first)
		l->last = NULL;
	hub_link_watch(l);
	if (any && !l->first)
		l->ops->flushed(l->arg);
}

/* --- receiving ------------------------------------------------------------ */

static int hub_link_on_hello(struct exporter_hub *l, const struct msg *m)
{
	const struct msg_hello_hub *h = (const void *)m->buf;

	if (h->record_version != REC_VERSION)
		return MSG_BAD_CONTENT;
	l->conn.state = CONN_READY;
	l->in_hello = (struct export_outcomes){ 0 };
	backoff_reset(&l->backoff);
	log_info("connected to symbolizerd");
	l->said = false;
	return MSG_OK;
}

static int hub_link_on_batch(struct exporter_hub *l, struct msg *m)
{
	return l->ops->batch(l->arg, m->hdr.id, m->fds[0],
			     (const void *)m->buf);
}

static int hub_link_on_status(struct exporter_hub *l, const struct msg *m)
{
	const struct msg_status *s = (const void *)m->buf;

	if (!l->wants_status)
		return MSG_BAD_TYPE;
	if (s->status.version != MSG_VERSION || s->status.loader_up > 1 ||
	    s->status.exporter_up > 1)
		return MSG_BAD_CONTENT;
	l->ops->status(l->arg, &s->status);
	return MSG_OK;
}

static int hub_link_on_debuginfo(struct exporter_hub *l, const struct msg *m)
{
	struct msg_debuginfo_wanted wanted;

	if (!l->debuginfod)
		return MSG_BAD_TYPE;
	memcpy(&wanted, m->buf, sizeof(wanted));
	if (!l->ops->debuginfo(l->arg, m->hdr.id, &wanted))
		return MSG_BAD_CONTENT;
	return MSG_OK;
}

static int hub_link_receive(struct exporter_hub *l)
{
	struct msg m;
	int r = conn_recv(&l->conn, &m);

	if (r)
		return r;
	switch (m.hdr.type) {
	case MSG_HELLO_HUB:
		r = hub_link_on_hello(l, &m);
		break;
	case MSG_BATCH:
		r = hub_link_on_batch(l, &m);
		break;
	case MSG_STATUS:
		r = hub_link_on_status(l, &m);
		break;
	case MSG_DEBUGINFO_WANTED:
		r = hub_link_on_debuginfo(l, &m);
		break;
	default:
		r = MSG_BAD_TYPE;
	}
	msg_close_fds(&m);
	return r;
}

static int hub_link_on_event(struct ev_source *src, uint32_t events)
{
	struct exporter_hub *l =
		(struct exporter_hub *)((char *)src -
					offsetof(struct exporter_hub, src));
	int r = 0;

	if (events & EPOLLOUT)
		hub_link_flush(l);
	if (l->closing && (events & (EPOLLHUP | EPOLLERR)))
		exporter_hub_drop(l);
	for (int i = 0; i < BURST && exporter_hub_is_up(l) && !l->closing && r == 0; i++)
		r = hub_link_receive(l);
	if (r == 0 || r == -EAGAIN || !exporter_hub_is_up(l))
		return 0;
	if (r > 0) {
		l->offences++;
		if (log_limited(&l->log))
			log_err("invalid message from symbolizerd: %s",
				msg_verdict_name(r));
	} else {
		log_info("symbolizerd is gone: waiting for it");
		l->said = true;
	}
	exporter_hub_drop(l);
	return 0;
}

/* --- connecting ----------------------------------------------------------- */

static int hub_link_say_hello(struct exporter_hub *l)
{
	struct msg_hello_exporter hello = {
		.batch_version = BATCH_VERSION,
		.wants_status = l->wants_status,
		.spools = l->spools,
		.debuginfod = l->debuginfod,
		.queued_samples = l->ops->held(l->arg),
		.unreported = l->unreported,
	};
	int r = conn_send(&l->conn, MSG_HELLO_EXPORTER, 0, &hello,
			  sizeof(hello), NULL, 0, NULL, 0);

	if (r < 0)
		return r;
	l->in_hello = l->unreported;
	l->unreported = (struct export_outcomes){ 0 };
	return 0;
}

static void exporter_hub_connect(void *arg)
{
	struct exporter_hub *l = arg;
	int r;

	if (exporter_hub_is_up(l) || l->closing)
		return;
	r = conn_connect(&l->conn, l->path, PEER_HUB, l->uid);
	if (r == 0) {
		l->src.fd = l->conn.fd;
		l->events = EPOLLIN;
		r = evloop_add(l->loop, &l->src, l->events);
		if (r < 0)
			conn_close(&l->conn);
	}
	if (r == 0) {
		if (hub_link_say_hello(l) < 0)
			exporter_hub_drop(l);
		return;
	}
	if (!l->said)
		log_info("symbolizerd is not there (%s: %s): waiting for it",
			 l->path, strerror(-r));
	l->said = true;
	timer_set(&l->retry, backoff_next(&l->backoff, backoff_random()), 0);
}

int exporter_hub_init(struct exporter_hub *l, struct evloop *loop,
		      const char *path, uid_t uid,
		      const struct exporter_hub_ops *ops, void *arg)
{
	*l = (struct exporter_hub){
		.loop = loop,
		.path = path,
		.uid = uid,
		.ops = ops,
		.arg = arg,
		.conn.fd = -1,
		.src.fn = hub_link_on_event,
		.backoff = { FIRST_WAIT_NS, MAX_WAIT_NS, 0 },
	};
	return timer_init(&l->retry, loop, exporter_hub_connect, l);
}

void exporter_hub_fini(struct exporter_hub *l)
{
	l->closing = true;
	if (exporter_hub_is_up(l)) {
		evloop_del(l->loop, &l->src);
		conn_close(&l->conn);
	}
	while (l->first) {
		struct hub_answer *a = l->first;

		l->first = a->next;
		free(a);
	}
	timer_fini(&l->retry);
}

void exporter_hub_start(struct exporter_hub *l)
{
	timer_set(&l->retry, 0, 0);
}

/* --- sending -------------------------------------------------------------- */

void exporter_hub_done(struct exporter_hub *l, uint64_t id, uint64_t samples,
		       enum batch_outcome outcome)
{
	struct hub_answer *a = NULL;

	if (exporter_hub_is_up(l))
		a = malloc(sizeof(*a));
	if (!a) {
		l->unreported.samples[outcome] += samples;
		return;
	}
	*a = (struct hub_answer){
		.id = id,
		.done = { .samples = samples, .outcome = outcome },
	};
	if (l->last)
		l->last->next = a;
	else
		l->first = a;
	l->last = a;
	hub_link_flush(l);
}

void exporter_hub_stats(struct exporter_hub *l,
			const struct exporter_stats *stats)
{
	struct msg_exporter_stats m = { *stats };

	if (exporter_hub_is_up(l) && l->conn.state == CONN_READY && !l->first)
		(void)conn_send(&l->conn, MSG_EXPORTER_STATS, 0, &m, sizeof(m),
				NULL, 0, NULL, 0);
}

void exporter_hub_debuginfo(struct exporter_hub *l, uint64_t id, int fd)
{
	struct msg_debuginfo found;
	struct stat st;

	if (exporter_hub_is_up(l) && fd >= 0 && fstat(fd, &st) == 0) {
		found.bytes = (uint64_t)st.st_size;
		(void)conn_send(&l->conn, MSG_DEBUGINFO, id, &found, sizeof(found), NULL, 0,
				&fd, 1);
	} else if (exporter_hub_is_up(l)) {
		(void)conn_send(&l->conn, MSG_DEBUGINFO_NONE, id, NULL, 0, NULL, 0, NULL, 0);
	}
	if (fd >= 0)
		close(fd);
}

void exporter_hub_close(struct exporter_hub *l)
{
	l->closing = true;
	timer_stop(&l->retry);
	if (exporter_hub_is_up(l))
		hub_link_watch(l);
}

bool exporter_hub_flushed(const struct exporter_hub *l)
{
	return !l->first;
}

uint64_t exporter_hub_untold(const struct exporter_hub *l)
{
	uint64_t n = 0;

	for (int i = 0; i < BATCH__OUTCOMES; i++)
		n += l->unreported.samples[i];
	for (const struct hub_answer *a = l->first; a; a = a->next)
		n += a->done.samples;
	return n;
}
