// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/jobs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/hub.h"

#define DRAIN_MAX	4u	/* messages of a living worker at a time */

_Static_assert(offsetof(struct job_slot, src) == 0, "src comes first");

/* --- starting and ending -------------------------------------------------- */

static bool is_wanted(const struct hub *hub, uint32_t exe)
{
	return executables_get(&hub->exes, exe)->wanted;
}

static struct executable *jobs_exe_of(struct hub *hub, const struct job *job)
{
	return executables_get(&hub->exes, job->exe);
}

/* loaderd still knows this file by this number. */
static bool still_meant(struct hub *hub, const struct job *job)
{
	return job->life == hub->jobs.life &&
	       executables_number(&hub->exes, job->number) ==
		       jobs_exe_of(hub, job);
}

static void job_end(struct hub *hub, struct job *job, int verdict)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	jobs_exe_of(hub, job)->jobs--;
	jobs_exe_of(hub, job)->wanted = false;
	if (verdict != JOB_OK && still_meant(hub, job))
		loader_link_table_none(hub, job->number, verdict);
}

static int slot_order(struct hub *hub, unsigned int slot, enum msg_type type)
{
	struct msg_slot m = { .slot = slot };

	return conn_send(&hub->jobs.zygote, type, 0, &m, sizeof(m), NULL, 0,
			 NULL, 0);
}

static void slot_fail(struct hub *hub, struct job_slot *slot, int verdict)
{
	unsigned int i = (unsigned int)(slot - hub->jobs.slots);

	if (slot->state == SLOT_BUSY) {
		log_warn("a worker took too long or lied: executable %u is "
			 "quarantined", slot->job.number);
		hub->stats.worker_deaths++;
		jobs_exe_of(hub, &slot->job)->quarantined = verdict ==
							    JOB_KILLED;
		job_end(hub, &slot->job, verdict);
	}
	slot->state = SLOT_FAILED;
	if (slot_order(hub, i, MSG_KILL) < 0)
		log_err("zygote does not take orders");
}

static int slot_start(struct hub *hub, struct job_slot *slot)
{
	unsigned int i = (unsigned int)(slot - hub->jobs.slots);
	struct msg_job m = { .exe = slot->job.number };
	int r = slot_order(hub, i, MSG_FORK);

	if (r < 0)
		return r;
	hub->stats.worker_jobs++;
	slot->state = SLOT_BUSY;
	slot->asks = slot->waits = false;
	slot->deadline_ns = now_ns() + JOB_DEADLINE_NS;
	/* the slot's socket is empty: always room for one */
	r = conn_send(&slot->conn, MSG_JOB, 0, &m, sizeof(m), NULL, 0,
		      &slot->job.fd, 1);
	close(slot->job.fd);
	slot->job.fd = -1;
	if (r < 0)
		slot_fail(hub, slot, JOB_NO_MEMORY);
	return 0;
}

static void run_next(struct hub *hub)
{
	struct jobs *jobs = &hub->jobs;

	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];

		if (slot->state != SLOT_FREE)
			continue;
		if (!job_queue_take(&jobs->queue, is_wanted, hub, &slot->job))
			return;
		if (slot_start(hub, slot) < 0)
			job_end(hub, &slot->job, JOB_NO_MEMORY);
	}
}

/* --- answers -------------------------------------------------------------- */

/* Map and check the symbols; an empty answer is fine. */
static int take_symbols(int fd, const void **map, size_t *len,
			struct symbol_index *idx)
{
	int r = sealed_map(fd, sizeof(struct symbols_hdr), SYMBOLS_BYTES_MAX,
			   map, len);

	if (r == 0 && symbols_open(*map, *len, idx) < 0) {
		munmap((void *)*map, *len);
		r = -EPROTO;
	}
	return r;
}

static int jobs_on_done(struct hub *hub, struct job_slot *slot, struct msg *msg)
{
	struct symbol_index idx;
	struct msg_job_done m;
	const void *map;
	size_t len;
	int table;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || m.exe != slot->job.number ||
	    take_symbols(msg->fds[1], &map, &len, &idx) < 0)
		return MSG_BAD_CONTENT;
	if (!executable_done(jobs_exe_of(hub, &slot->job), &m, map, len,
			     &idx)) {
		munmap((void *)map, len);
		return MSG_BAD_CONTENT;
	}
	table = msg_take_fd(msg, 0);
	if (still_meant(hub, &slot->job))
		loader_link_table(hub, slot->job.number, table);
	else
		close(table);
	job_end(hub, &slot->job, JOB_OK);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int on_failed(struct hub *hub, struct job_slot *slot,
		     const struct msg *msg)
{
	struct msg_job_failed m;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || m.exe != slot->job.number ||
	    m.verdict == JOB_OK || m.verdict >= JOB__VERDICTS ||
	    m.verdict == JOB_KILLED)
		return MSG_BAD_CONTENT;
	job_end(hub, &slot->job, (int)m.verdict);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int tell_debug(struct job_slot *slot, int fd)
{
	struct msg_debug m = { .exe = slot->job.number };

	slot->waits = false;
	return conn_send(&slot->conn,
			 fd < 0 ? MSG_DEBUG_NONE : MSG_DEBUG_FILE, 0, &m,
			 sizeof(m), NULL, 0, &fd, fd >= 0);
}

static int on_debug_wanted(struct hub *hub, struct job_slot *slot,
			   const struct msg *msg)
{
	struct msg_debug_wanted m;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || slot->asks ||
	    m.exe != slot->job.number || m.build_id_len < 2 ||
	    m.build_id_len > BUILD_ID_MAX)
		return MSG_BAD_CONTENT;
	slot->asks = slot->waits = true;
	if (!still_meant(hub, &slot->job) || loader_link_debug(hub, &m))
		(void)!tell_debug(slot, -1);
	return MSG_OK;
}

void jobs_debug(struct hub *hub, uint32_t number, int fd)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &hub->jobs.slots[i];

		if (slot->state == SLOT_BUSY && slot->waits &&
		    slot->job.number == number &&
		    slot->job.life == hub->jobs.life)
			(void)!tell_debug(slot, fd);
	}
}

static int slot_handle(struct hub *hub, struct job_slot *slot, struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_JOB_DONE:
		return jobs_on_done(hub, slot, msg);
	case MSG_JOB_FAILED:
		return on_failed(hub, slot, msg);
	case MSG_DEBUG_WANTED:
		return on_debug_wanted(hub, slot, msg);
	default:
		return MSG_BAD_TYPE;
	}
}

/*
 * What is there, at most max messages.  The socket outlives the worker: an
 * offence costs the worker its life, and whatever else it sent is discarded.
 */
static int slot_drain(struct hub *hub, struct job_slot *slot, unsigned int max)
{
	struct msg msg;
	int r = 0;

	while (max-- > 0 && (r = conn_recv(&slot->conn, &msg)) >= 0) {
		if (slot->state == SLOT_FAILED || slot->state == SLOT_FREE) {
			if (r == 0)
				msg_close_fds(&msg);
			continue;
		}
		if (r == 0) {
			r = slot_handle(hub, slot, &msg);
			msg_close_fds(&msg);
		}
		if (r > 0) {
			hub_offence(hub, "worker", r);
			slot_fail(hub, slot, JOB_KILLED);
		}
	}
	return r == -EAGAIN || r > 0 ? 0 : r;
}

static int on_slot(struct ev_source *src, uint32_t events)
{
	struct job_slot *slot = (struct job_slot *)src;
	int r = slot_drain(slot->hub, slot, DRAIN_MAX);

	(void)events;
	if (r < 0)
		log_err("lost the zygote: %s", strerror(-r));
	return r;
}

static void slot_exited(struct hub *hub, struct job_slot *slot, int status)
{
	int verdict = JOB_KILLED;

	slot_drain(hub, slot, UINT_MAX);	/* its last words */
	if (slot->state == SLOT_BUSY) {
		if (status == ZYGOTE_NO_FORK)
			verdict = JOB_NO_MEMORY;
		log_warn("a worker ended with status %d: executable %u is "
			 "quarantined", status, slot->job.number);
		hub->stats.worker_deaths++;
		jobs_exe_of(hub, &slot->job)->quarantined = verdict ==
							    JOB_KILLED;
		job_end(hub, &slot->job, verdict);
	}
	slot->state = SLOT_FREE;
	run_next(hub);
}

static int on_zygote(struct ev_source *src, uint32_t events)
{
	struct hub *hub = hub_of(src, jobs.zygote_src);
	struct msg_slot m;
	struct msg msg;
	int r;

	(void)events;
	while ((r = conn_recv(&hub->jobs.zygote, &msg)) == 0) {
		memcpy(&m, msg.buf, sizeof(m));
		if (m.slot >= WORKER_SLOTS)
			return -EPROTO;
		hub->stats.worker_cpu_ns += m.cpu_ns;
		if (hub->stats.worker_rss_bytes < m.rss_bytes)
			hub->stats.worker_rss_bytes = m.rss_bytes;
		slot_exited(hub, &hub->jobs.slots[m.slot], m.status);
	}
	if (r == -EAGAIN)
		return 0;
	log_err("lost the zygote: %s",
		r < 0 ? strerror(-r) : msg_verdict_name(r));
	return r < 0 ? r : -EPROTO;
}

/* --- the whole ------------------------------------------------------------ */

int jobs_init(struct hub *hub, const struct zygote_ends *ends)
{
	struct jobs *jobs = &hub->jobs;
	int r = conn_init(&jobs->zygote, ends->control, PEER_ZYGOTE);

	jobs->zygote.state = CONN_READY;
	jobs->zygote_src = (struct ev_source){ ends->control, on_zygote };
	if (r == 0)
		r = evloop_add(&hub->loop, &jobs->zygote_src, EPOLLIN);
	for (unsigned int i = 0; i < WORKER_SLOTS && r == 0; i++) {
		struct job_slot *slot = &jobs->slots[i];

		slot->hub = hub;
		slot->src = (struct ev_source){ ends->slots[i], on_slot };
		r = conn_init(&slot->conn, ends->slots[i], PEER_WORKER);
		slot->conn.state = CONN_READY;
		if (r == 0)
			r = evloop_add(&hub->loop, &slot->src, EPOLLIN);
	}
	return r;
}

static void queue_clear(struct hub *hub)
{
	struct job_queue *q = &hub->jobs.queue;

	for (size_t i = 0; i < q->n; i++)
		job_end(hub, &q->v[i], JOB_OK);
	free(q->v);
	*q = (struct job_queue){ 0 };
}

void jobs_fini(struct hub *hub)
{
	queue_clear(hub);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++)
		conn_close(&hub->jobs.slots[i].conn);
	conn_close(&hub->jobs.zygote);
}

int jobs_add(struct hub *hub, uint32_t number, uint32_t exe, int fd)
{
	struct executable *e = executables_get(&hub->exes, exe);
	struct job job = {
		.number = number, .exe = exe, .life = hub->jobs.life, .fd = fd,
	};

	if (e->quarantined || !job_queue_add(&hub->jobs.queue, &job)) {
		close(fd);
		return e->quarantined ? JOB_KILLED : JOB_NO_MEMORY;
	}
	e->jobs++;
	run_next(hub);
	return 0;
}

void jobs_cancel(struct hub *hub, uint32_t number)
{
	struct job_queue *q = &hub->jobs.queue;

	for (size_t i = 0; i < q->n;) {
		if (q->v[i].number != number) {
			i++;
			continue;
		}
		job_end(hub, &q->v[i], JOB_OK);
		job_queue_remove(q, i);
	}
}

void jobs_new_life(struct hub *hub)
{
	queue_clear(hub);
	hub->jobs.life++;
}

void jobs_tick(struct hub *hub, uint64_t now_ns)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &hub->jobs.slots[i];

		if (slot->state != SLOT_FREE && now_ns >= slot->deadline_ns) {
			slot_fail(hub, slot, JOB_KILLED);
			slot->deadline_ns = now_ns + JOB_DEADLINE_NS;
		}
	}
	run_next(hub);
}
