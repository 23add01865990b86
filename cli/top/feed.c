// SPDX-License-Identifier: Apache-2.0
#include "cli/top/feed.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/batch.h"
#include "ipc/sealed.h"

static int ask(struct top_feed *f, uint32_t batches)
{
	struct msg_subscribe m = {
		.batch_version = BATCH_VERSION, .batches = batches,
	};

	return conn_send(&f->conn, MSG_SUBSCRIBE, 0, &m, sizeof(m), NULL, 0,
			 NULL, 0);
}

int top_feed_open(struct top_feed *f, int fd, uid_t hub_uid)
{
	int r;

	conn_close(&f->conn);
	f->known = false;
	f->statuses = 0;
	f->gap(f->arg);
	r = conn_init(&f->conn, fd, PEER_HUB);
	if (r) {
		close(fd);
		return r;
	}
	f->conn.want_cred = true;
	f->conn.cred_uid = hub_uid;
	return 0;
}

/* What became of samples before they were in a batch. */
static uint64_t top_feed_do_lost(const struct status *st)
{
	const struct loader_stats *l = &st->loader;
	const struct hub_totals *t = &st->totals;

	return l->bpf[BPF_RING_FULL] + l->no_hub + l->trace_full +
	       l->bad_record + t->former_lost + t->lost_hub + t->hub_bad +
	       t->hub_dropped;
}

uint64_t top_feed_lost(const struct top_feed *f)
{
	uint64_t now = f->counting ? top_feed_do_lost(&f->status) : 0;

	/* it may have begun anew since */
	return f->missed + (now > f->lost_before ? now - f->lost_before : 0);
}

static int top_feed_on_hello(struct top_feed *f, const struct msg *m)
{
	struct msg_hello_hub hello;

	memcpy(&hello, m->buf, sizeof(hello));
	if (hello.record_version != REC_VERSION)
		return MSG_BAD_VERSION;
	f->conn.state = CONN_READY;
	return ask(f, SUBSCRIBE_MAX);
}

static int top_feed_on_status(struct top_feed *f, const struct msg *m)
{
	struct msg_status s;

	memcpy(&s, m->buf, sizeof(s));
	if (s.status.version != MSG_VERSION)
		return MSG_BAD_VERSION;
	f->status = s.status;
	f->known = true;
	f->statuses++;
	if (!f->counting)
		f->lost_before = top_feed_do_lost(&s.status);
	f->counting = true;
	return 0;
}

static int top_feed_on_batch(struct top_feed *f, const struct msg *m)
{
	struct msg_batch mb;
	const void *data;
	size_t len;
	int r;

	memcpy(&mb, m->buf, sizeof(mb));
	r = sealed_map(m->fds[0], sizeof(struct batch_hdr), BATCH_BYTES_MAX,
		       &data, &len);
	if (r)
		return MSG_BAD_CONTENT;
	r = len == mb.bytes ? f->batch(f->arg, data, len, mb.samples) : -EPROTO;
	munmap((void *)data, len);
	if (r) {
		f->refused++;
		f->missed += mb.samples;
		f->gap(f->arg);
	}
	return ask(f, 1);
}

static int on_missed(struct top_feed *f, const struct msg *m)
{
	struct msg_missed missed;

	memcpy(&missed, m->buf, sizeof(missed));
	f->missed += missed.samples;
	f->gap(f->arg);
	return 0;
}

static int top_feed_handle(struct top_feed *f, const struct msg *m)
{
	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		return top_feed_on_hello(f, m);
	case MSG_STATUS:
		return top_feed_on_status(f, m);
	case MSG_BATCH:
		return top_feed_on_batch(f, m);
	case MSG_MISSED:
		return on_missed(f, m);
	default:
		return MSG_BAD_TYPE;
	}
}

int top_feed_read(struct top_feed *f)
{
	struct msg m;
	int r = 0;

	while (f->conn.fd >= 0 && r == 0) {
		r = conn_recv(&f->conn, &m);
		if (r == 0) {
			r = top_feed_handle(f, &m);
			msg_close_fds(&m);
		}
	}
	if (r == 0 || r == -EAGAIN)
		return 0;
	conn_close(&f->conn);
	f->known = false;
	return r > 0 ? -EPROTO : r;
}
