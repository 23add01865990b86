// SPDX-License-Identifier: Apache-2.0
#include "loaderd/hub_link.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/record.h"
#include "common/log.h"

#define WARN_EVERY	40	/* attempts */

bool hub_link_up(const struct hub_link *h)
{
	return h->conn.fd >= 0 && h->conn.state == CONN_READY;
}

int hub_link_hello(struct hub_link *h, const struct msg_hello_hub *m)
{
	if (m->record_version != REC_VERSION)
		return MSG_BAD_CONTENT;
	h->conn.state = CONN_READY;
	h->failures = 0;
	h->connects++;
	return 0;
}

static void hub_link_drop(struct hub_link *h)
{
	conn_close(&h->conn);
	trace_producer_fini(&h->ring);
	if (h->wake_fd >= 0)
		close(h->wake_fd);
	h->wake_fd = -1;
}

void hub_link_close(struct hub_link *h, int why)
{
	if (h->conn.fd < 0)
		return;
	if (why > 0) {
		h->offences++;
		log_warn("symbolizerd broke the protocol (%s): connection closed",
			 msg_verdict_name(why));
	} else {
		log_info("symbolizerd is gone (%s): sampling goes on",
			 strerror(-why));
	}
	hub_link_drop(h);
}

static int hub_link_open(struct hub_link *h)
{
	int fds[3], r = conn_connect(&h->conn, h->path, PEER_HUB, h->uid);

	if (r)
		return r;
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = h->wake_fd < 0 ? -errno :
	    trace_producer_init(&h->ring, TRACE_RING_BYTES);
	if (!r) {
		h->hello.ring_bytes = h->ring.size;
		fds[0] = h->ring.data_fd;
		fds[1] = h->ring.pos_fd;
		fds[2] = h->wake_fd;
		r = conn_send(&h->conn, MSG_HELLO_LOADER, 0, &h->hello,
			      sizeof(h->hello), NULL, 0, fds, 3);
	}
	if (r)
		hub_link_drop(h);
	return r;
}

void hub_link_tick(struct hub_link *h)
{
	int r = h->conn.fd < 0 ? hub_link_open(h) : 0;

	if (r && ++h->failures % WARN_EVERY == 0)
		log_warn("cannot reach symbolizerd at %s: %s", h->path,
			 strerror(-r));
}

void hub_link_wake(struct hub_link *h)
{
	uint64_t one = 1;

	if (hub_link_up(h) && write(h->wake_fd, &one, sizeof(one)) < 0)
		log_debug("wake-up: %s", strerror(errno));
}

int hub_link_send(struct hub_link *h, enum msg_type type, uint64_t id,
		  const void *payload, size_t a, const void *tail, size_t b,
		  int fd)
{
	if (!hub_link_up(h))
		return -ENOTCONN;
	return conn_send(&h->conn, type, id, payload, a, tail, b, &fd, fd >= 0);
}
