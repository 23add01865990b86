// SPDX-License-Identifier: Apache-2.0
#include "cli/status/watch.h"

#include <errno.h>
#include <string.h>

#include "cli/supervisor/runtime_dir.h"
#include "common/clock.h"
#include "common/log.h"

#define RETRY_NS	(200 * NSEC_PER_MSEC)

void watch_init(struct watch *w, uid_t hub_uid)
{
	*w = (struct watch){ .conn.fd = -1, .hub_uid = hub_uid };
}

void watch_fini(struct watch *w)
{
	conn_close(&w->conn);
}

int watch_connect(struct watch *w, uint64_t now)
{
	int r;

	if (w->conn.fd >= 0 || now < w->retry_ns)
		return 0;
	r = conn_connect(&w->conn, STATUS_SOCKET, PEER_HUB, w->hub_uid);
	if (r)
		w->retry_ns = now + RETRY_NS;
	return r;
}

void watch_renew(struct watch *w, uint64_t now)
{
	conn_close(&w->conn);
	w->retry_ns = 0;
	watch_connect(w, now);
}

static int watch_handle(struct watch *w, const struct msg *m)
{
	const struct msg_hello_hub *hello = (const void *)m->buf;
	const struct msg_status *s = (const void *)m->buf;

	switch (m->hdr.type) {
	case MSG_HELLO_HUB:
		w->conn.state = CONN_READY;
		return hello->record_version == REC_VERSION ? MSG_OK :
			MSG_BAD_VERSION;
	case MSG_STATUS:
		if (s->status.version != MSG_VERSION)
			return MSG_BAD_VERSION;
		w->status = s->status;
		w->known = true;
		return MSG_OK;
	default:
		return MSG_BAD_TYPE;
	}
}

int watch_read(struct watch *w, uint64_t now)
{
	struct msg m;
	int r = 0;

	while (w->conn.fd >= 0 && r == 0) {
		r = conn_recv(&w->conn, &m);
		if (r == 0) {
			r = watch_handle(w, &m);
			msg_close_fds(&m);
		}
	}
	if (r == 0 || r == -EAGAIN)
		return 0;
	if (r > 0)
		log_err("symbolizerd broke the protocol of its status: %s",
			msg_verdict_name(r));
	conn_close(&w->conn);
	w->retry_ns = now + RETRY_NS;
	return r > 0 ? -EPROTO : -EPIPE;
}
