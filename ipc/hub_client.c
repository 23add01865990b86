// SPDX-License-Identifier: Apache-2.0
#include "ipc/hub_client.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/batch.h"
#include "ipc/sealed.h"

void hub_client_init(struct hub_client *c, const char *path, uid_t hub_uid,
		     const struct hub_client_ops *ops, void *arg)
{
	*c = (struct hub_client){
		.conn.fd = -1, .path = path, .hub_uid = hub_uid, .ops = ops,
		.arg = arg,
	};
}

void hub_client_fini(struct hub_client *c)
{
	conn_close(&c->conn);
}

/* --- the connection ------------------------------------------------------- */

static void hub_client_gap(struct hub_client *c)
{
	if (c->ops && c->ops->gap)
		c->ops->gap(c->arg);
}

static void hub_client_drop(struct hub_client *c)
{
	conn_close(&c->conn);
	c->statuses = 0;
}

static void hub_client_wait(struct hub_client *c, uint64_t now)
{
	if (c->wait_ns)
		c->wait_ns *= 2;
	else
		c->wait_ns = HUB_CLIENT_RETRY_NS;
	if (c->wait_ns > HUB_CLIENT_RETRY_MAX_NS)
		c->wait_ns = HUB_CLIENT_RETRY_MAX_NS;
	c->retry_ns = now + c->wait_ns;
}

int hub_client_connect(struct hub_client *c, uint64_t now)
{
	int r;

	if (c->conn.fd >= 0 || now < c->retry_ns)
		return 0;
	r = conn_connect(&c->conn, c->path, PEER_HUB, c->hub_uid);
	if (r)
		hub_client_wait(c, now);
	else
		hub_client_gap(c);
	return r;
}

void hub_client_take(struct hub_client *c, int fd, uid_t hub_uid)
{
	hub_client_drop(c);
	hub_client_gap(c);
	conn_init(&c->conn, fd, PEER_HUB, CONN_NEW);
	c->conn.want_cred = true;
	c->conn.cred_uid = hub_uid;
	c->hub_uid = hub_uid;
}

/* --- messages --------------------------------------------------------------- */

static int hub_client_ask(struct hub_client *c, uint32_t batches)
{
	struct msg_subscribe m = {
		.batch_version = BATCH_VERSION, .batches = batches,
	};
	int r = conn_send(&c->conn, MSG_SUBSCRIBE, 0, &m, sizeof(m), NULL, 0,
			  NULL, 0);

	/* full: the hub has read nothing for a long time */
	return r == -EAGAIN ? -EPIPE : r;
}

static int hub_client_on_hello(struct hub_client *c, const struct msg *m)
{
	struct msg_hello_hub hello;

	memcpy(&hello, m->buf, sizeof(hello));
	if (hello.record_version != REC_VERSION)
		return MSG_BAD_VERSION;
	c->conn.state = CONN_READY;
	c->wait_ns = 0;
	if (!c->ops)
		return MSG_OK;
	return hub_client_ask(c, SUBSCRIBE_MAX);
}

/* Samples that were lost before they were in a batch. */
static uint64_t hub_client_lost_so_far(const struct hub_client *c)
{
	struct status before = c->status;
	struct account a;

	/* outcomes are those of finished batches */
	memset(&before.totals.outcomes, 0, sizeof(before.totals.outcomes));
	account_sum(&before, &a);
	return a.lost;
}

uint64_t hub_client_lost(const struct hub_client *c)
{
	uint64_t lost;

	if (!c->known)
		return c->missed;
	lost = hub_client_lost_so_far(c);
	/* less: another hub counts anew */
	if (lost < c->lost_before)
		return c->missed;
	return c->missed + lost - c->lost_before;
}

static int hub_client_on_status(struct hub_client *c, const struct msg *m)
{
	struct msg_status s;

	memcpy(&s, m->buf, sizeof(s));
	if (s.status.version != MSG_VERSION)
		return MSG_BAD_VERSION;
	if (s.status.loader_up > 1 || s.status.exporter_up > 1 ||
	    s.status.partial > 1)
		return MSG_BAD_CONTENT;
	c->status = s.status;
	c->statuses++;
	if (!c->known)
		c->lost_before = hub_client_lost_so_far(c);
	c->known = true;
	return MSG_OK;
}

static int hub_client_on_batch(struct hub_client *c, const struct msg *m)
{
	struct msg_batch mb;
	const void *data;
	size_t len;
	int r;

	if (!c->ops)
		return MSG_BAD_STATE;
	memcpy(&mb, m->buf, sizeof(mb));
	r = sealed_map(m->fds[0], sizeof(struct batch_hdr), BATCH_BYTES_MAX,
		       &data, &len);
	if (r == -EPROTO)
		return MSG_BAD_CONTENT;
	if (r == 0) {
		r = -EPROTO;
		if (len == mb.bytes)
			r = c->ops->batch(c->arg, data, len, mb.samples);
		munmap((void *)data, len);
	}
	if (r) {	/* also if memory is too short to map it */
		c->refused++;
		c->missed += mb.samples;
		hub_client_gap(c);
	}
	return hub_client_ask(c, 1);
}

static int hub_client_on_missed(struct hub_client *c, const struct msg *m)
{
	struct msg_missed missed;

	if (!c->ops)
		return MSG_BAD_STATE;
	memcpy(&missed, m->buf, sizeof(missed));
	c->missed += missed.samples;
	hub_client_gap(c);
	return MSG_OK;
}

static int hub_client_handle(struct hub_client *c, const struct msg *m)
{
	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		return hub_client_on_hello(c, m);
	case MSG_STATUS:
		return hub_client_on_status(c, m);
	case MSG_BATCH:
		return hub_client_on_batch(c, m);
	case MSG_MISSED:
		return hub_client_on_missed(c, m);
	default:
		return MSG_BAD_TYPE;
	}
}

int hub_client_read(struct hub_client *c, uint64_t now)
{
	struct msg m;
	int r = 0;

	for (int i = 0; i < HUB_CLIENT_BURST && c->conn.fd >= 0 && !r; i++) {
		r = conn_recv(&c->conn, &m);
		if (r == 0) {
			r = hub_client_handle(c, &m);
			msg_close_fds(&m);
		}
	}
	if (r == 0 || r == -EAGAIN)
		return 0;
	hub_client_drop(c);
	hub_client_wait(c, now);
	return r;
}
