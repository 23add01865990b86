// SPDX-License-Identifier: Apache-2.0
#include "exporterd/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct recorded {
	struct recorded *next;
	uint64_t id;		/* the recorder's */
	uint64_t hub_id;
	struct msg_batch batch;
	int fd;			/* -1 once it was sent */
};

/* Take r out of the list and report its outcome; prev: the one before it, or NULL. */
static void exporter_recorder_finish(struct recorder *rec,
				     struct recorded *prev, struct recorded *r,
				     enum batch_outcome o)
{
	if (prev)
		prev->next = r->next;
	else
		rec->first = r->next;
	if (rec->last == r)
		rec->last = prev;
	if (r->fd >= 0) {
		close(r->fd);
		rec->waiting--;
	} else {
		rec->sent--;
	}
	rec->samples -= r->batch.samples;
	rec->outcome(rec->arg, r->hub_id, r->batch.samples, o);
	free(r);
}

static void exporter_recorder_end(struct recorder *rec, enum batch_outcome o)
{
	if (rec->conn.fd >= 0) {
		evloop_del(rec->loop, &rec->src);
		conn_close(&rec->conn);
	}
	while (rec->first)
		exporter_recorder_finish(rec, NULL, rec->first, o);
}

static void exporter_recorder_watch(struct recorder *rec, bool out)
{
	uint32_t want = EPOLLIN;

	if (out)
		want |= EPOLLOUT;
	if (want == rec->events)
		return;
	rec->events = want;
	if (evloop_mod(rec->loop, &rec->src, want) < 0)
		log_err("event loop: %m");
}

static void exporter_recorder_push(struct recorder *rec)
{
	bool full = false;

	for (struct recorded *r = rec->first; r; r = r->next) {
		int e;

		if (r->fd < 0)
			continue;
		if (rec->sent >= RECORDER_WINDOW)
			break;
		e = conn_send(&rec->conn, MSG_BATCH, r->id, &r->batch,
			      sizeof(r->batch), NULL, 0, &r->fd, 1);
		if (e == -EAGAIN) {
			full = true;
			break;
		}
		if (e < 0) {
			exporter_recorder_end(rec, BATCH_NO_RECEIVER);
			return;
		}
		close(r->fd);
		r->fd = -1;
		rec->sent++;
		rec->waiting--;
	}
	exporter_recorder_watch(rec, full);
}

static int exporter_recorder_on_done(struct recorder *rec, const struct msg *m)
{
	const struct msg_batch_done *d = (const void *)m->buf;
	struct recorded *prev = NULL, *r = rec->first;

	while (r && (r->id != m->hdr.id || r->fd >= 0)) {
		prev = r;
		r = r->next;
	}
	if (!r || d->outcome >= BATCH__OUTCOMES ||
	    d->samples != r->batch.samples)
		return MSG_BAD_CONTENT;
	exporter_recorder_finish(rec, prev, r, d->outcome);
	return MSG_OK;
}

static int exporter_recorder_on_event(struct ev_source *src, uint32_t events)
{
	struct recorder *rec = (struct recorder *)((char *)src -
						   offsetof(struct recorder, src));
	struct msg m;
	int r = 0;

	(void)events;
	while (r == 0) {
		r = conn_recv(&rec->conn, &m);
		if (r)
			break;
		if (m.hdr.type == MSG_BATCH_DONE)
			r = exporter_recorder_on_done(rec, &m);
		else
			r = MSG_BAD_TYPE;
		msg_close_fds(&m);
	}
	if (r == -EAGAIN) {
		exporter_recorder_push(rec);
		return 0;
	}
	if (r > 0) {
		rec->offences++;
		log_err("invalid message from the recorder: %s",
			msg_verdict_name(r));
	} else {
		log_info("the recorder has ended");
	}
	exporter_recorder_end(rec, BATCH_NO_RECEIVER);
	return 0;
}

int recorder_init(struct recorder *rec, struct evloop *loop, int fd,
		  void (*outcome)(void *arg, uint64_t id, uint64_t samples,
				  enum batch_outcome o), void *arg)
{
	int r;

	*rec = (struct recorder){
		.loop = loop,
		.conn.fd = -1,
		.src = { fd, exporter_recorder_on_event },
		.events = EPOLLIN,
		.next_id = 1,
		.outcome = outcome,
		.arg = arg,
	};
	conn_init(&rec->conn, fd, PEER_RECORDER, CONN_READY);
	r = evloop_add(loop, &rec->src, rec->events);
	if (r < 0)
		conn_close(&rec->conn);
	return r;
}

void recorder_fini(struct recorder *rec)
{
	recorder_give_up(rec);
}

static void exporter_recorder_drop_oldest(struct recorder *rec)
{
	struct recorded *prev = NULL, *r = rec->first;

	while (r && r->fd < 0) {
		prev = r;
		r = r->next;
	}
	if (r)
		exporter_recorder_finish(rec, prev, r, BATCH_QUEUE_FULL);
}

void recorder_add(struct recorder *rec, uint64_t id, int fd,
		  const struct msg_batch *m)
{
	struct recorded *r;

	if (rec->conn.fd < 0) {
		rec->outcome(rec->arg, id, m->samples, BATCH_NO_RECEIVER);
		return;
	}
	if (rec->waiting >= RECORDER_MAX)
		exporter_recorder_drop_oldest(rec);
	r = malloc(sizeof(*r));
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (!r || fd < 0) {
		if (fd >= 0)
			close(fd);
		free(r);
		rec->outcome(rec->arg, id, m->samples, BATCH_QUEUE_FULL);
		return;
	}
	*r = (struct recorded){
		.id = rec->next_id, .hub_id = id, .batch = *m, .fd = fd,
	};
	rec->next_id++;
	if (rec->last)
		rec->last->next = r;
	else
		rec->first = r;
	rec->last = r;
	rec->waiting++;
	rec->samples += m->samples;
	exporter_recorder_push(rec);
}

void recorder_give_up(struct recorder *rec)
{
	exporter_recorder_end(rec, BATCH_GAVE_UP);
}
