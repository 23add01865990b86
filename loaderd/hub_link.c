// SPDX-License-Identifier: Apache-2.0
#include "loaderd/hub_link.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bpf/record.h"
#include "common/clock.h"
#include "common/log.h"

#define BACKOFF_MIN_NS	(50 * NSEC_PER_MSEC)
#define BACKOFF_MAX_NS	(2 * NSEC_PER_SEC)

void hub_link_init(struct hub_link *h, const char *path, uid_t uid,
		   const struct msg_hello_loader *hello)
{
	*h = (struct hub_link){
		.conn.fd = -1, .path = path, .uid = uid, .wake_fd = -1,
		.hello = *hello, .backoff_ns = BACKOFF_MIN_NS,
	};
}

bool hub_link_up(const struct hub_link *h)
{
	return h->conn.fd >= 0 && h->conn.state == CONN_READY;
}

int hub_link_hello(struct hub_link *h, const struct msg_hello_hub *m)
{
	if (m->record_version != REC_VERSION)
		return MSG_BAD_CONTENT;
	h->conn.state = CONN_READY;
	h->backoff_ns = BACKOFF_MIN_NS;
	h->connects++;
	return 0;
}

void hub_link_checkpoint(struct hub_link *h, const struct msg_checkpoint *m)
{
	h->hello.checkpoint = *m;
	h->hello.checkpoint_valid = 1;
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
	if (r) {
		hub_link_drop(h);
		return r;
	}
	h->hello.ring_bytes = h->ring.size;
	fds[0] = h->ring.data_fd;
	fds[1] = h->ring.pos_fd;
	fds[2] = h->wake_fd;
	r = conn_send(&h->conn, MSG_HELLO_LOADER, 0, &h->hello,
		      sizeof(h->hello), NULL, 0, fds, 3);
	if (r)
		hub_link_drop(h);
	return r;
}

void hub_link_tick(struct hub_link *h, uint64_t now)
{
	int r;

	if (h->conn.fd >= 0 || now < h->retry_ns)
		return;
	r = hub_link_open(h);
	h->retry_ns = now + h->backoff_ns;
	h->backoff_ns = h->backoff_ns * 2 > BACKOFF_MAX_NS ? BACKOFF_MAX_NS :
							     h->backoff_ns * 2;
	if (r && h->backoff_ns == BACKOFF_MAX_NS)
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
