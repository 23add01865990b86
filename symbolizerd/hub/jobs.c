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

#define DRAIN_MAX	4u	/* messages of a living worker at a time */

_Static_assert(offsetof(struct job_slot, src) == 0, "src comes first");
_Static_assert(offsetof(struct jobs, zygote_src) == 0, "likewise");

/* --- starting and ending -------------------------------------------------- */

static struct executable *jobs_exe(const struct jobs *jobs,
				   const struct job *job)
{
	return jobs->ops->exe(jobs->ctx, job->exe);
}

static bool jobs_wanted(void *ctx, uint32_t exe)
{
	const struct jobs *jobs = ctx;

	return jobs->ops->exe(jobs->ctx, exe)->wanted;
}

static bool jobs_meant(const struct jobs *jobs, const struct job *job)
{
	return jobs->ops->meant(jobs->ctx, job->number, job->exe);
}

static void jobs_end(struct jobs *jobs, struct job *job, int verdict)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	jobs_exe(jobs, job)->jobs--;
	jobs_exe(jobs, job)->wanted = false;
	if (verdict != JOB_OK && jobs_meant(jobs, job))
		jobs->ops->no_table(jobs->ctx, job->number);
}

static int jobs_order(struct jobs *jobs, unsigned int slot, unsigned int type)
{
	struct msg_slot m = { .slot = slot };

	return conn_send(&jobs->zygote, type, 0, &m, sizeof(m), NULL, 0,
			 NULL, 0);
}

static void jobs_slot_fail(struct jobs *jobs, struct job_slot *slot,
			   int verdict)
{
	unsigned int i = (unsigned int)(slot - jobs->slots);

	if (slot->state == SLOT_BUSY) {
		if (log_limited(&jobs->death_log))
			log_warn("a worker took too long or lied: executable "
				 "%u is quarantined", slot->job.number);
		jobs->stats->worker_deaths++;
		jobs_exe(jobs, &slot->job)->quarantined = verdict ==
							    JOB_KILLED;
		jobs_end(jobs, &slot->job, verdict);
	}
	slot->state = SLOT_FAILED;
	if (jobs_order(jobs, i, MSG_KILL) < 0)
		log_err("zygote does not take orders");
}

static int jobs_slot_start(struct jobs *jobs, struct job_slot *slot)
{
	unsigned int i = (unsigned int)(slot - jobs->slots);
	struct msg_job m = { .exe = slot->job.number };
	int r = jobs_order(jobs, i, MSG_FORK);

	if (r < 0)
		return r;
	jobs->stats->worker_jobs++;
	slot->state = SLOT_BUSY;
	slot->asks = slot->waits = false;
	slot->deadline_ns = now_ns() + jobs->deadline_ns;
	/* the slot's socket is empty: always room for one */
	r = conn_send(&slot->conn, MSG_JOB, 0, &m, sizeof(m), NULL, 0,
		      &slot->job.fd, 1);
	close(slot->job.fd);
	slot->job.fd = -1;
	if (r < 0)
		jobs_slot_fail(jobs, slot, JOB_NO_MEMORY);
	return 0;
}

static void jobs_run_next(struct jobs *jobs)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];

		if (slot->state != SLOT_FREE)
			continue;
		if (!job_queue_take(&jobs->queue, jobs_wanted, jobs, &slot->job))
			return;
		if (jobs_slot_start(jobs, slot) < 0)
			jobs_end(jobs, &slot->job, JOB_NO_MEMORY);
	}
}

/* --- answers -------------------------------------------------------------- */

/* Map and check the symbols; an empty answer is fine. */
static int jobs_take_symbols(int fd, const void **map, size_t *len,
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

static int jobs_on_done(struct jobs *jobs, struct job_slot *slot, struct msg *msg)
{
	struct symbol_index idx;
	struct msg_job_done m;
	const void *map;
	size_t len;
	int r = MSG_OK;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || m.exe != slot->job.number ||
	    jobs_take_symbols(msg->fds[1], &map, &len, &idx) < 0)
		return MSG_BAD_CONTENT;
	if (!executable_done(jobs_exe(jobs, &slot->job), &m, map, len,
			     &idx)) {
		munmap((void *)map, len);
		return MSG_BAD_CONTENT;
	}
	if (jobs_meant(jobs, &slot->job))
		r = jobs->ops->table(jobs->ctx, slot->job.number, msg->fds[0]);
	if (r)
		return r;
	jobs_end(jobs, &slot->job, JOB_OK);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int jobs_on_failed(struct jobs *jobs, struct job_slot *slot,
			  const struct msg *msg)
{
	struct msg_job_failed m;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || m.exe != slot->job.number ||
	    m.verdict == JOB_OK || m.verdict >= JOB__VERDICTS ||
	    m.verdict == JOB_KILLED)
		return MSG_BAD_CONTENT;
	jobs_end(jobs, &slot->job, (int)m.verdict);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int jobs_tell_debug(struct job_slot *slot, int fd)
{
	struct msg_open_failed failed = { .error = ENOENT };

	slot->waits = false;
	return fd < 0 ? conn_send(&slot->conn, MSG_WANTED_NONE, 0, &failed,
				  sizeof(failed), NULL, 0, NULL, 0) :
			conn_send(&slot->conn, MSG_WANTED_FILE, 0, NULL, 0,
				  NULL, 0, &fd, 1);
}

static int jobs_on_debug_wanted(struct jobs *jobs, struct job_slot *slot,
				const struct msg *msg)
{
	struct msg_wanted m;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || slot->asks ||
	    m.build_id_len < 2 || m.build_id_len > BUILD_ID_MAX)
		return MSG_BAD_CONTENT;
	slot->asks = slot->waits = true;
	if (!jobs_meant(jobs, &slot->job) ||
	    jobs->ops->debug(jobs->ctx, slot->job.number, &m))
		(void)!jobs_tell_debug(slot, -1);
	return MSG_OK;
}

void jobs_debug(struct jobs *jobs, uint32_t number, int fd)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];

		if (slot->state == SLOT_BUSY && slot->waits &&
		    slot->job.number == number)
			(void)!jobs_tell_debug(slot, fd);
	}
}

static int jobs_slot_handle(struct jobs *jobs, struct job_slot *slot,
			    struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_JOB_DONE:
		return jobs_on_done(jobs, slot, msg);
	case MSG_JOB_FAILED:
		return jobs_on_failed(jobs, slot, msg);
	case MSG_DEBUG_WANTED:
		return jobs_on_debug_wanted(jobs, slot, msg);
	default:
		return MSG_BAD_TYPE;
	}
}

/*
 * Handle what is there, at most max messages.  After an offence the worker is
 * killed, and the rest of what it sent is discarded: the socket stays.
 */
static int jobs_slot_drain(struct jobs *jobs, struct job_slot *slot,
			   unsigned int max)
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
			r = jobs_slot_handle(jobs, slot, &msg);
			msg_close_fds(&msg);
		}
		if (r > 0) {
			jobs->ops->offence(jobs->ctx, r);
			jobs_slot_fail(jobs, slot, JOB_KILLED);
		}
	}
	return r == -EAGAIN || r > 0 ? 0 : r;
}

static int jobs_on_slot(struct ev_source *src, uint32_t events)
{
	struct job_slot *slot = (struct job_slot *)src;
	int r = jobs_slot_drain(slot->jobs, slot, DRAIN_MAX);

	(void)events;
	if (r < 0)
		log_err("lost the zygote: %s", strerror(-r));
	return r;
}

static void jobs_slot_exited(struct jobs *jobs, struct job_slot *slot,
			     int status)
{
	int verdict = JOB_KILLED;

	jobs_slot_drain(jobs, slot, UINT_MAX);	/* what it sent before it ended */
	if (slot->state == SLOT_BUSY) {
		if (status == ZYGOTE_NO_FORK)
			verdict = JOB_NO_MEMORY;
		if (log_limited(&jobs->death_log))
			log_warn("a worker ended with status %d: executable "
				 "%u is quarantined", status, slot->job.number);
		jobs->stats->worker_deaths++;
		jobs_exe(jobs, &slot->job)->quarantined = verdict ==
							    JOB_KILLED;
		jobs_end(jobs, &slot->job, verdict);
	}
	slot->state = SLOT_FREE;
	jobs_run_next(jobs);
}

static int jobs_on_zygote(struct ev_source *src, uint32_t events)
{
	struct jobs *jobs = (struct jobs *)src;
	struct msg_slot m;
	struct msg msg;
	int r;

	(void)events;
	while ((r = conn_recv(&jobs->zygote, &msg)) == 0) {
		memcpy(&m, msg.buf, sizeof(m));
		if (m.slot >= WORKER_SLOTS)
			return -EPROTO;
		jobs->stats->worker_cpu_ns += m.cpu_ns;
		if (jobs->stats->worker_rss_bytes < m.rss_bytes)
			jobs->stats->worker_rss_bytes = m.rss_bytes;
		jobs_slot_exited(jobs, &jobs->slots[m.slot], m.status);
	}
	if (r == -EAGAIN)
		return 0;
	log_err("lost the zygote: %s",
		r < 0 ? strerror(-r) : msg_verdict_name(r));
	return r < 0 ? r : -EPROTO;
}

/* --- the whole ------------------------------------------------------------ */

int jobs_init(struct jobs *jobs, struct evloop *loop, struct hub_stats *stats,
	      const struct jobs_ops *ops, void *ctx,
	      const struct zygote_ends *ends)
{
	int r = conn_init(&jobs->zygote, ends->control, PEER_ZYGOTE);

	jobs->stats = stats;
	jobs->ops = ops;
	jobs->ctx = ctx;
	jobs->zygote.state = CONN_READY;
	jobs->zygote_src = (struct ev_source){ ends->control, jobs_on_zygote };
	if (r == 0)
		r = evloop_add(loop, &jobs->zygote_src, EPOLLIN);
	for (unsigned int i = 0; i < WORKER_SLOTS && r == 0; i++) {
		struct job_slot *slot = &jobs->slots[i];

		slot->jobs = jobs;
		slot->src = (struct ev_source){ ends->slots[i], jobs_on_slot };
		r = conn_init(&slot->conn, ends->slots[i], PEER_WORKER);
		slot->conn.state = CONN_READY;
		if (r == 0)
			r = evloop_add(loop, &slot->src, EPOLLIN);
	}
	return r;
}

static void jobs_queue_clear(struct jobs *jobs)
{
	struct job_queue *q = &jobs->queue;

	for (size_t i = 0; i < q->n; i++)
		jobs_end(jobs, &q->v[i], JOB_OK);
	free(q->v);
	*q = (struct job_queue){ 0 };
}

void jobs_fini(struct jobs *jobs)
{
	jobs_queue_clear(jobs);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++)
		conn_close(&jobs->slots[i].conn);
	conn_close(&jobs->zygote);
}

bool jobs_add(struct jobs *jobs, enum job_kind kind, uint32_t number,
	      uint32_t exe, int fd)
{
	struct job job = {
		.kind = kind, .number = number, .exe = exe, .fd = fd,
	};

	if (!job_queue_add(&jobs->queue, &job))
		return false;
	jobs_exe(jobs, &job)->jobs++;
	jobs_run_next(jobs);
	return true;
}

void jobs_cancel(struct jobs *jobs, uint32_t number)
{
	struct job_queue *q = &jobs->queue;

	for (size_t i = 0; i < q->n;) {
		if (q->v[i].number != number) {
			i++;
			continue;
		}
		jobs_end(jobs, &q->v[i], JOB_OK);
		job_queue_remove(q, i);
	}
}

void jobs_tick(struct jobs *jobs, uint64_t now_ns)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];

		if (slot->state != SLOT_FREE && now_ns >= slot->deadline_ns) {
			jobs_slot_fail(jobs, slot, JOB_KILLED);
			slot->deadline_ns = now_ns + jobs->deadline_ns;
		}
	}
	jobs_run_next(jobs);
}
