// SPDX-License-Identifier: Apache-2.0
#include "loaderd/hub_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/record.h"
#include "common/log.h"

#define WARN_EVERY	40	/* attempts */
/* For samples on their way.  The kernel doubles it and counts its own costs; its
 * limit is net.core.wmem_max, 212,992 bytes by default. */
#define SAMPLES_SNDBUF	(4 * SAMPLES_BYTES)

bool hub_link_up(const struct hub_link *h)
{
	return h->conn.fd >= 0 && h->conn.state == CONN_READY;
}

void hub_link_hello(struct hub_link *h)
{
	h->conn.state = CONN_READY;
	h->attempts = 0;
	h->stats->hub_connects++;
}

static void hub_link_drop(struct hub_link *h)
{
	conn_close(&h->conn);
	close(h->samples_fd);
	h->samples_fd = -1;
}

void hub_link_bye(struct hub_link *h)
{
	hub_link_send(h, MSG_BYE, 0, NULL, 0, NULL, 0, -1);
	hub_link_drop(h);
}

void hub_link_close(struct hub_link *h, int why)
{
	if (why > 0) {
		h->stats->offences++;
		log_warn("symbolizerd broke the protocol (%s): connection closed", msg_verdict_name(why));
	} else {
		log_info("symbolizerd is gone (%s): sampling goes on", strerror(-why));
	}
	hub_link_drop(h);
}

/* Send the hello with one end of a new pair of sockets, and keep the other.  0 or -errno. */
static int hub_link_introduce(struct hub_link *h)
{
	int bytes = SAMPLES_SNDBUF;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	h->samples_fd = pair[0];
	setsockopt(h->samples_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	r = conn_send(&h->conn, MSG_HELLO_LOADER, 0, &h->hello, sizeof(h->hello), NULL, 0,
		      (int[]){ pair[1], h->counts_fd }, 2);
	close(pair[1]);
	return r;
}

static int hub_link_open(struct hub_link *h)
{
	int r = conn_connect(&h->conn, h->path, PEER_HUB, h->uid);

	if (r)
		return r;
	r = hub_link_introduce(h);
	if (r)
		hub_link_drop(h);
	return r;
}

void hub_link_tick(struct hub_link *h)
{
	int r;

	if (h->conn.fd >= 0)
		return;
	h->attempts++;
	r = hub_link_open(h);
	if (r && h->attempts % WARN_EVERY == 0)
		log_warn("cannot reach symbolizerd at %s: %s", h->path, strerror(-r));
}

int hub_link_send(struct hub_link *h, enum msg_type type, uint64_t id,
		  const void *payload, size_t a, const void *tail, size_t b, int fd)
{
	if (!hub_link_up(h))
		return -ENOTCONN;
	return conn_send(&h->conn, type, id, payload, a, tail, b, &fd, fd >= 0);
}
