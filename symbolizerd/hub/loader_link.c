// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/conn_more.h"
#include "ipc/trace_consumer.h"
#include "symbolizerd/hub/hub.h"
#include "symbolizerd/hub/intake.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/hub/loader_files.h"
#include "symbolizerd/hub/record.h"

#define MESSAGES_MAX	64u		/* handled in one go */
#define RECORDS_MAX	65536u		/* likewise */
#define FREQUENCY_MAX	1000000u	/* Hz */

/* --- the trace ring -------------------------------------------------------- */

static void loader_link_disconnect(struct hub *hub);

static void offence(struct hub *hub, int verdict)
{
	hub_offence(hub, "loaderd", verdict);
	loader_link_disconnect(hub);
}

/* False when the ring itself is malformed. */
static bool loader_link_drain_ring(struct hub *hub)
{
	struct loader_link *l = &hub->loader;
	uint64_t copy[RECORD_MAX / 8];
	const void *rec;
	size_t len = 0;

	for (unsigned int i = 0; i < RECORDS_MAX; i++) {
		bool good;

		rec = trace_consumer_peek(&l->ring, &len);
		if (!rec)
			return len != SIZE_MAX;
		good = len <= sizeof(copy);
		if (good)
			memcpy(copy, rec, len);
		trace_consumer_next(&l->ring, len);
		if (good && intake_record(hub, copy, len))
			continue;
		hub->stats.offences++;
		if (log_limited(&l->bad_log))
			log_warn("record of %zu bytes makes no sense", len);
	}
	return true;
}

static void close_ring(struct hub *hub)
{
	struct loader_link *l = &hub->loader;

	if (l->wake.fd >= 0) {
		evloop_del(&hub->loop, &l->wake);
		close(l->wake.fd);
	}
	l->wake.fd = -1;
	trace_consumer_fini(&l->ring);
	l->ring_open = false;
}

void loader_link_drain(struct hub *hub)
{
	struct loader_link *l = &hub->loader;
	bool good;

	if (!l->ring_open || l->draining)
		return;
	l->draining = true;
	good = loader_link_drain_ring(hub);
	l->draining = false;
	if (good)
		return;
	close_ring(hub);
	offence(hub, MSG_BAD_CONTENT);
}

static int on_wake(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, loader.wake);
	uint64_t n;
	ssize_t got = read(src->fd, &n, sizeof(n));

	(void)events;
	if (got != (ssize_t)sizeof(n) && !(got < 0 && errno == EAGAIN))
		offence(hub, MSG_BAD_CONTENT);
	else
		loader_link_drain(hub);
	return 0;
}

static void loader_link_disconnect(struct hub *hub)
{
	struct loader_link *l = &hub->loader;

	if (!loader_link_up(l))
		return;
	evloop_del(&hub->loop, &l->src);
	conn_close(&l->conn);
	outbox_clear(&l->out);
	l->adopted = l->clogged = false;
	/* what is left in the ring was forwarded: it counts */
	if (l->ring_open)
		(void)!loader_link_drain_ring(hub);
	close_ring(hub);
	ledger_loader_gone(&hub->ledger);
}

/* --- what goes out --------------------------------------------------------- */

static void loader_link_flush(struct hub *hub)
{
	struct loader_link *l = &hub->loader;
	int r;

	if (!loader_link_up(l) || l->conn.state == CONN_NEW)
		return;
	r = outbox_flush(&l->out, &l->conn);
	evloop_mod(&hub->loop, &l->src,
		   r == -EAGAIN ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int loader_link_send(struct hub *hub, enum msg_type type, uint64_t id,
		     const void *payload, size_t a, const void *tail,
		     size_t b, int fd)
{
	struct loader_link *l = &hub->loader;
	int r;

	if (!loader_link_up(l) || l->conn.state == CONN_NEW || l->clogged) {
		if (fd >= 0)
			close(fd);
		return -ENOTCONN;
	}
	r = outbox_put(&l->out, type, id, payload, a, tail, b, fd);
	if (r)
		l->clogged = true;
	else
		loader_link_flush(hub);
	return r;
}

/* Without one of its messages loaderd's tables are not what we think: it shall
 * connect again and tell what it has. */
static void loader_link_unclog(struct hub *hub)
{
	struct loader_link *l = &hub->loader;

	if (!l->clogged)
		return;
	if (log_limited(&l->bad_log))
		log_warn("loaderd does not read its messages");
	loader_link_disconnect(hub);
}

void loader_link_checkpoint(struct hub *hub)
{
	struct loader_link *l = &hub->loader;
	struct loader_stats unused;
	struct hub_totals t;

	if (!loader_link_up(l) || l->conn.state == CONN_NEW)
		return;
	ledger_view(&hub->ledger, &t, &unused);
	if (!memcmp(&t, &l->told, sizeof(t)))
		return;
	if (conn_send(&l->conn, MSG_CHECKPOINT, 0, &t, sizeof(t), NULL, 0,
		      NULL, 0) == 0)
		l->told = t;
}

/* --- what comes in --------------------------------------------------------- */

/* Another loaderd: its numbers mean something else. */
static void new_life(struct hub *hub)
{
	interval_end(hub, true);
	traces_clear(&hub->traces);
	ksyms_clear(&hub->ksyms);
	executables_forget_numbers(&hub->exes);
	processes_forget_numbers(&hub->processes);
}

/* Ring and eventfd: nothing is left behind on failure. */
static int open_ring(struct hub *hub, struct msg *msg, size_t bytes)
{
	struct loader_link *l = &hub->loader;
	int r = trace_consumer_init(&l->ring, msg->fds[0], msg->fds[1], bytes);
	int fl = fcntl(msg->fds[2], F_GETFL);

	if (r < 0)
		return r;
	l->wake = (struct ev_source){ msg->fds[2], on_wake };
	if (fl < 0 || fcntl(l->wake.fd, F_SETFL, fl | O_NONBLOCK) < 0)
		r = -errno;
	else
		r = evloop_add(&hub->loop, &l->wake, EPOLLIN);
	if (r < 0) {
		trace_consumer_fini(&l->ring);
		l->wake.fd = -1;
		return r;
	}
	msg_take_fd(msg, 2);
	l->ring_open = true;
	return 0;
}

static int loader_link_welcome(struct hub *hub, const struct msg *msg)
{
	struct msg_hello_hub m = { .record_version = REC_VERSION };
	struct loader_link *l = &hub->loader;

	l->conn.state = CONN_READY;
	l->told = (struct hub_totals){ .received = UINT64_MAX };
	if (conn_send(&l->conn, MSG_HELLO_HUB, msg->hdr.id, &m, sizeof(m),
		      NULL, 0, NULL, 0) < 0)
		return MSG_BAD_STATE;	/* it has read nothing for ages */
	loader_link_checkpoint(hub);
	return MSG_OK;
}

static int loader_link_on_hello(struct hub *hub, struct msg *msg)
{
	struct msg_hello_loader m;
	struct hub_totals left;
	enum ledger_hello hello;

	memcpy(&m, msg->buf, sizeof(m));
	if (m.record_version != REC_VERSION || m.frequency == 0 ||
	    m.frequency > FREQUENCY_MAX || m.checkpoint_valid > 1 ||
	    m.partial > 1 || m.idle_s == 0 ||
	    open_ring(hub, msg, m.ring_bytes) < 0)
		return MSG_BAD_CONTENT;
	memcpy(&left, &m.checkpoint, sizeof(left));
	hello = ledger_loader_hello(&hub->ledger,
				    m.checkpoint_valid ? &left : NULL);
	if (hello == HELLO_BAD) {
		close_ring(hub);
		return MSG_BAD_CONTENT;
	}
	if (hello == HELLO_ANOTHER)
		new_life(hub);
	if (files_begin(&hub->files, m.table_budget, m.idle_s,
			(uint32_t)(now_ns() / NSEC_PER_SEC)))
		return MSG_BAD_STATE;	/* no memory: it comes again */
	if (hub->ledger.presumed)
		hub->presume_end_ns = now_ns() + LEDGER_PRESUME_NS;
	hub->frequency = m.frequency;
	hub->partial = m.partial;
	return loader_link_welcome(hub, msg);
}

static int on_cgroup(struct hub *hub, const struct msg *msg)
{
	struct msg_cgroup m;

	memcpy(&m, msg->buf, sizeof(m));
	return cgroups_add(&hub->cgroups, &m.request) == -EPROTO ?
		MSG_BAD_CONTENT : MSG_OK;
}

static int on_stats(struct hub *hub, const struct msg *msg)
{
	struct msg_loader_stats m;

	memcpy(&m, msg->buf, sizeof(m));
	loader_link_drain(hub);
	ledger_loader_stats(&hub->ledger, &m.stats);
	return MSG_OK;
}

static int loader_link_on_debug(struct hub *hub, const struct msg *msg)
{
	struct msg_debug m;

	memcpy(&m, msg->buf, sizeof(m));
	jobs_debug(&hub->jobs, m.exe,
		   msg->hdr.type == MSG_DEBUG_FILE ? msg->fds[0] : -1);
	return MSG_OK;
}

static int loader_link_handle(struct hub *hub, struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_HELLO_LOADER:
		return loader_link_on_hello(hub, msg);
	case MSG_SLAB:
		return loader_files_on_slab(hub, msg);
	case MSG_KNOWN:
		return loader_files_on_known(hub, msg);
	case MSG_EXE:
		return loader_files_on_exe(hub, msg);
	case MSG_MAPPED:
		return loader_files_on_mapped(hub, msg);
	case MSG_FREED:
		return loader_files_on_freed(hub, msg);
	case MSG_CGROUP:
		return on_cgroup(hub, msg);
	case MSG_LOADER_STATS:
		return on_stats(hub, msg);
	case MSG_DEBUG_FILE:
	case MSG_DEBUG_NONE:
		return loader_link_on_debug(hub, msg);
	case MSG_BYE:
		loader_link_drain(hub);
		ledger_loader_bye(&hub->ledger);
		hub->loader.conn.state = CONN_ENDING;
		return MSG_OK;
	default:
		return MSG_BAD_TYPE;
	}
}

/* Handle what is there, at most max messages; may end up disconnected. */
static void loader_link_receive(struct hub *hub, unsigned int max)
{
	struct loader_link *l = &hub->loader;
	struct msg msg;
	int r = 0;

	while (max-- > 0 && loader_link_up(l)) {
		r = conn_recv(&l->conn, &msg);
		if (r == 0) {
			r = loader_link_handle(hub, &msg);
			msg_close_fds(&msg);
		}
		if (r)
			break;
	}
	if (r > 0) {
		offence(hub, r);
	} else if (r < 0 && r != -EAGAIN) {
		log_info("loaderd has gone");
		loader_link_disconnect(hub);
	}
	loader_link_unclog(hub);
}

static int loader_link_on_message(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, loader.src);

	if (events & EPOLLOUT)
		loader_link_flush(hub);
	loader_link_receive(hub, MESSAGES_MAX);
	return 0;
}

/* --- connecting ------------------------------------------------------------ */

static void loader_link_take(struct hub *hub, struct conn *c)
{
	struct loader_link *l = &hub->loader;

	/* a dead one may not have been noticed yet */
	loader_link_receive(hub, MESSAGES_MAX);
	if (loader_link_up(l)) {
		log_warn("a second loaderd is not wanted");
		hub->stats.offences++;
		conn_close(c);
		return;
	}
	l->conn = *c;
	l->src = (struct ev_source){ c->fd, loader_link_on_message };
	if (evloop_add(&hub->loop, &l->src, EPOLLIN) < 0)
		conn_close(&l->conn);
}

static int loader_link_on_connect(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, loader.listener);
	struct conn c = { .fd = -1 };
	int r;

	(void)events;
	/* it starts as root and may connect before it is itself */
	r = conn_accept(&c, src->fd, PEER_LOADERD, hub->config.loader_uid,
			true);
	if (r == 0)
		loader_link_take(hub, &c);
	else if (r == -EACCES)
		hub_offence(hub, "loaderd", MSG_BAD_SENDER);
	else if (r != -EAGAIN && log_limited(&hub->loader.bad_log))
		log_err("accepting a loaderd: %s", strerror(-r));
	return 0;
}

void loader_link_tick(struct hub *hub)
{
	loader_link_drain(hub);
	files_tick(&hub->files, (uint32_t)(now_ns() / NSEC_PER_SEC));
	loader_link_flush(hub);
	loader_link_unclog(hub);
	loader_link_checkpoint(hub);
}

int loader_link_init(struct hub *hub, int listener)
{
	struct loader_link *l = &hub->loader;

	l->conn.fd = -1;
	l->wake.fd = -1;
	l->listener = (struct ev_source){ listener, loader_link_on_connect };
	return evloop_add(&hub->loop, &l->listener, EPOLLIN);
}

void loader_link_stop_accepting(struct hub *hub)
{
	evloop_del(&hub->loop, &hub->loader.listener);
}

void loader_link_fini(struct hub *hub)
{
	loader_link_disconnect(hub);
}
