// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/jobs/job_places.h"

#define DRAIN_MAX	4u	/* messages of a living worker at a time */
/* loaderd answers within two seconds, if it is there */
#define MEMORY_WAIT_NS	(3 * NSEC_PER_SEC)

_Static_assert(offsetof(struct job_slot, src) == 0, "src comes first");
_Static_assert(offsetof(struct jobs, zygote_src) == 0, "likewise");

/* --- starting and ending -------------------------------------------------- */

static struct executable *jobs_exe(const struct jobs *jobs, const struct job *job)
{
	return jobs->ops->exe(jobs->ctx, job->exe);
}

static bool jobs_wanted(void *ctx, const struct job *job)
{
	return !job->process && jobs_exe(ctx, job)->wanted;
}

static bool jobs_meant(const struct jobs *jobs, const struct job *job)
{
	return jobs->ops->meant(jobs->ctx, job->number, job->exe);
}

static void jobs_end_process(struct jobs *jobs, struct job *job, int result)
{
	struct job_process *p = job->process;

	job->process = NULL;
	if (result)
		jobs->ops->names(jobs->ctx, p, NULL, result);
	free(p);
}

/* Symbols are tried again at the next tick, if our side failed; of a table loaderd decides. */
static bool jobs_again(struct jobs *jobs, struct job *job, int verdict)
{
	if (job->process || job->parts != JOB_SYMBOLS || job->fd < 0 ||
	    (verdict >= 0 && verdict != JOB_NO_MEMORY) ||
	    !executable_again(jobs_exe(jobs, job)) ||
	    !jobs->ops->keep(jobs->ctx, job->exe, job->fd))
		return false;
	job->fd = -1;
	jobs_exe(jobs, job)->jobs--;
	return true;
}

/* verdict: of a file; of a process as in jobs_ops.names.  JOB_OK: the result
 * was told already. */
static void jobs_end(struct jobs *jobs, struct job *job, int verdict)
{
	if (jobs_again(jobs, job, verdict))
		return;
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	if (job->process) {
		jobs_end_process(jobs, job, verdict);
		return;
	}
	jobs_exe(jobs, job)->jobs--;
	if (verdict == JOB_OK)
		return;
	executable_failed(jobs_exe(jobs, job), verdict, now_ns());
	if (job->parts & JOB_TABLE && jobs_meant(jobs, job))
		jobs->ops->no_table(jobs->ctx, job->number, verdict);
}

/* All parts are answered. */
static void jobs_end_file(struct jobs *jobs, struct job *job)
{
	int fd = job->fd;

	job->fd = -1;
	jobs_end(jobs, job, JOB_OK);
	if (executable_is_read(jobs_exe(jobs, job)) ||
	    !jobs->ops->keep(jobs->ctx, job->exe, fd))
		close(fd);
}

/* Its worker died, or was killed, before it had answered; how: for the log. */
static void jobs_died(struct jobs *jobs, struct job *job, int verdict, const char *how)
{
	if (log_limited(&jobs->death_log))
		job_slot_log_death(job, verdict, how);
	jobs->stats->worker_deaths++;
	if (job_kind(job) == JOB_PROCESS && verdict == JOB_KILLED)
		job_quarantine_add(&jobs->quarantine, &job->process->process, now_ns());
	jobs_end(jobs, job, verdict);
}

/* --- slots ------------------------------------------------------------------ */

static int jobs_order(struct jobs *jobs, unsigned int slot, unsigned int type, int32_t cpu_s)
{
	struct msg_slot m = { .slot = slot, .status = cpu_s };

	return conn_send(&jobs->zygote, type, 0, &m, sizeof(m), NULL, 0, NULL, 0);
}

static void jobs_slot_kill(struct jobs *jobs, struct job_slot *slot)
{
	unsigned int i = (unsigned int)(slot - jobs->slots);

	if (slot->state != SLOT_STUCK)
		slot->state = SLOT_FAILED;
	slot->deadline_ns = now_ns() + JOB_DIES_NS;
	if (jobs_order(jobs, i, MSG_KILL, 0) < 0)
		log_err("cannot send to the zygote");
}

static void jobs_slot_fail(struct jobs *jobs, struct job_slot *slot, int verdict)
{
	if (slot->state == SLOT_BUSY)
		jobs_died(jobs, &slot->job, verdict, "timed out or sent an invalid answer");
	jobs_slot_kill(jobs, slot);
}

/* Give its job to a worker.  0; or -errno: the slot is as it was. */
static int jobs_slot_fork(struct jobs *jobs, struct job_slot *slot)
{
	unsigned int i = (unsigned int)(slot - jobs->slots);
	const struct job_process *p = slot->job.process;
	uint64_t now = now_ns();
	int32_t cpu_s = 0;
	int r;

	if (job_kind(&slot->job) == JOB_LINES)
		cpu_s = JOB_LINES_CPU_S;
	r = jobs_order(jobs, i, MSG_FORK, cpu_s);
	if (r < 0)
		return r;
	if (!p)
		job_slot_read(slot, jobs_exe(jobs, &slot->job));
	jobs->stats->worker_jobs++;
	job_slot_begin(slot, now);
	slot->deadline_ns = now + jobs->deadline_ns;
	r = job_slot_send(slot);
	if (p && !p->given) {
		close(slot->job.fd);
		slot->job.fd = -1;
	}
	if (r < 0)
		jobs_slot_fail(jobs, slot, JOB_NO_MEMORY);
	return 0;
}

static int jobs_slot_start(struct jobs *jobs, struct job_slot *slot)
{
	const struct job_process *p = slot->job.process;
	uint32_t owner = slot->job.owner;
	int r;

	slot->memory = false;
	if (!p)
		return jobs_slot_fork(jobs, slot);
	if (job_quarantine_has(&jobs->quarantine, &p->process, now_ns()))
		return -EPERM;	/* it was queued before */
	if (p->given)
		return jobs_slot_fork(jobs, slot);
	if (p->runtime != RUNTIME_NONE && !job_places_may_hang(jobs->slots, owner)) {
		jobs->stats->hang_refused++;
		return -EAGAIN;
	}
	slot->memory = p->runtime != RUNTIME_NONE;
	slot->state = SLOT_MEMORY;
	slot->question = JOBS_MEMORY_ID + jobs->questions++;
	slot->deadline_ns = now_ns() + MEMORY_WAIT_NS;
	r = jobs->ops->memory(jobs->ctx, slot->question, p);
	if (r < 0) {
		slot->state = SLOT_FREE;
		return r;
	}
	job_queue_asked(&jobs->queues[JOB_PROCESS], owner, now_ns());
	return 0;
}

/* Of the kind whose turn it is, or else of the other. */
static bool jobs_take_lane(struct jobs *jobs, bool slow, struct job *ret)
{
	for (int i = 0; i < JOB__KINDS; i++) {
		jobs->turn = (jobs->turn + 1) % JOB__KINDS;
		if (job_queue_take(&jobs->queues[jobs->turn], slow, jobs_wanted,
				   jobs, now_ns(), ret))
			return true;
	}
	return false;
}

/* A slow job has its worker before others; but only one. */
static bool jobs_take(struct jobs *jobs, struct job *ret)
{
	bool found = (!job_places_slow(jobs->slots) && jobs_take_lane(jobs, true, ret)) ||
		     jobs_take_lane(jobs, false, ret);

	jobs->stats->asks_put_off = jobs->queues[JOB_PROCESS].asks.put_off;
	return found;
}

/* Give the slot a job that can begin.  False: there is none. */
static bool jobs_slot_fill(struct jobs *jobs, struct job_slot *slot)
{
	while (slot->state == SLOT_FREE) {
		int r;

		if (!job_places_free(jobs->slots) || !jobs_take(jobs, &slot->job))
			return false;
		r = jobs_slot_start(jobs, slot);
		if (r < 0)
			jobs_end(jobs, &slot->job, r);
	}
	return true;
}

static void jobs_run_next(struct jobs *jobs)
{
	/* for what the answers lead to */
	if (!cpu_share_left(jobs->share, now_ns())) {
		jobs->stats->files_put_off += job_queue_put_all_off(&jobs->queues[JOB_FILE]);
		return;
	}
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (!jobs_slot_fill(jobs, &jobs->slots[i]))
			return;
	}
}

/* Its worker had the time that a job has while another is slow. */
static void jobs_slot_put_off(struct jobs *jobs, struct job_slot *slot)
{
	struct job job = slot->job;

	job.slow = true;
	slot->job.process = NULL;
	slot->job.fd = -1;
	jobs_slot_kill(jobs, slot);
	job_queue_again(&jobs->queues[slot->kind], &job);
}

/* It waits for memory no more: nobody else had the slot meanwhile, also if no worker
 * follows. */
static void jobs_slot_charge_wait(struct jobs *jobs, const struct job_slot *slot)
{
	job_queue_charge(&jobs->queues[job_kind(&slot->job)], slot->job.owner,
			 now_ns() - (slot->deadline_ns - MEMORY_WAIT_NS));
}

/* The slot waits for memory, and gets none. */
static void jobs_slot_give_up(struct jobs *jobs, struct job_slot *slot, int result)
{
	slot->state = SLOT_FREE;
	jobs_end(jobs, &slot->job, result);
}

void jobs_memory(struct jobs *jobs, uint64_t id, int fd, int reason)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];
		int r = -EIO;

		if (slot->state != SLOT_MEMORY || slot->question != id)
			continue;
		if (reason > 0)
			r = -reason;
		jobs_slot_charge_wait(jobs, slot);
		slot->job.fd = fd;
		if (fd >= 0)
			r = 0;
		if (fd >= 0 && jobs->ops->opened)
			r = jobs->ops->opened(jobs->ctx, slot->job.process, fd);
		if (fd >= 0 && !r)
			r = jobs_slot_fork(jobs, slot);
		if (r < 0)
			jobs_slot_give_up(jobs, slot, r);
		jobs_run_next(jobs);
		return;
	}
	if (fd >= 0)	/* too late, or not asked for */
		close(fd);
}

/* --- answers -------------------------------------------------------------- */

/* Map and check the symbols; an empty answer is fine.  Without memory it is the
 * same: that is not the worker's fault.  MSG_OK or an offence. */
static int jobs_take_symbols(struct jobs *jobs, const struct job *job, int fd)
{
	struct symbol_index idx = { 0 };
	const void *map = NULL;
	size_t len = 0;
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > SYMBOLS_BYTES_MAX)
		return MSG_BAD_CONTENT;
	if (jobs->ops->symbols_room(jobs->ctx, job->exe, (size_t)st.st_size))
		r = job_slot_symbols(fd, &map, &len, &idx);
	if (r && r != -ENOMEM)
		return MSG_BAD_CONTENT;
	executable_named(jobs_exe(jobs, job), map, len, &idx);
	return MSG_OK;
}

static int jobs_take_table(struct jobs *jobs, struct job_slot *slot, int fd)
{
	int r;

	slot->times.done_ns = now_ns();
	r = jobs->ops->table(jobs->ctx, slot->job.number, fd);
	slot->times.installed_ns = now_ns();
	job_times_log(&slot->times, jobs_exe(jobs, &slot->job));
	return r;
}

/* The part that is to be answered next. */
static enum job_part jobs_part(const struct job *job)
{
	if (job->parts & JOB_TABLE)
		return JOB_TABLE;
	return JOB_SYMBOLS;
}

static int jobs_on_done(struct jobs *jobs, struct job_slot *slot, struct msg *msg)
{
	struct job *job = &slot->job;
	struct msg_job_done m;
	int r = MSG_OK;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || job->process || m.exe != job->number ||
	    m.part != jobs_part(job) || !executable_known(jobs_exe(jobs, job), &m))
		return MSG_BAD_CONTENT;
	jobs->stats->versions_unknown +=
		executable_version_unknown(jobs_exe(jobs, job), &m);
	jobs->stats->too_large += m.too_large;
	if (m.part == JOB_SYMBOLS)
		r = jobs_take_symbols(jobs, job, msg->fds[0]);
	else if (jobs_meant(jobs, job))
		r = jobs_take_table(jobs, slot, msg->fds[0]);
	if (r)
		return r;
	job->parts &= ~m.part;
	if (!job->parts) {
		slot->state = SLOT_ANSWERED;
		jobs_end_file(jobs, job);
	}
	return MSG_OK;
}

static int jobs_on_names(struct jobs *jobs, struct job_slot *slot, const struct msg *msg)
{
	const struct job_process *p = slot->job.process;
	uint64_t begin = cpu_share_begin();
	struct job_names names;

	if (slot->state != SLOT_BUSY || !p || job_names_open(p, msg->fds[0], &names))
		return MSG_BAD_CONTENT;
	jobs->ops->names(jobs->ctx, p, &names, 0);
	job_names_close(&names);
	/* the file says how much there is to do with it */
	if (slot->kind == JOB_LINES && jobs->ops->used)
		jobs->ops->used(jobs->ctx, slot, cpu_share_begin() - begin);
	jobs_end(jobs, &slot->job, JOB_OK);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int jobs_on_failed(struct jobs *jobs, struct job_slot *slot, const struct msg *msg)
{
	struct msg_job_failed m;

	memcpy(&m, msg->buf, sizeof(m));
	if (slot->state != SLOT_BUSY || m.exe != slot->job.number ||
	    m.verdict == JOB_OK || m.verdict >= JOB__VERDICTS ||
	    m.verdict == JOB_KILLED)
		return MSG_BAD_CONTENT;
	if (m.verdict == JOB_TOO_LARGE)
		jobs->stats->too_large++;
	jobs_end(jobs, &slot->job, (int)m.verdict);
	slot->state = SLOT_ANSWERED;
	return MSG_OK;
}

static int jobs_on_debug_wanted(struct jobs *jobs, struct job_slot *slot,
				const struct msg *msg)
{
	struct msg_wanted m;
	int r = job_slot_debug_wanted(slot, msg, &m);

	if (r)
		return r;
	if (!jobs_meant(jobs, &slot->job) ||
	    jobs->ops->debug(jobs->ctx, slot->job.number, &m))
		(void)!job_slot_tell_debug(slot, -1, DEBUG_LOCAL);
	return MSG_OK;
}

void jobs_debug(struct jobs *jobs, uint32_t number, int fd, enum debug_source source)
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		struct job_slot *slot = &jobs->slots[i];

		if (slot->state == SLOT_BUSY && slot->waits && slot->job.number == number)
			(void)!job_slot_tell_debug(slot, fd, source);
	}
}

static int jobs_slot_handle(struct jobs *jobs, struct job_slot *slot, struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_JOB_DONE:
		return jobs_on_done(jobs, slot, msg);
	case MSG_JOB_FAILED:
		return jobs_on_failed(jobs, slot, msg);
	case MSG_NAMES:
		return jobs_on_names(jobs, slot, msg);
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
static int jobs_slot_drain(struct jobs *jobs, struct job_slot *slot, unsigned int max)
{
	struct msg msg;
	int r = 0;

	while (max-- > 0 && (r = conn_recv(&slot->conn, &msg)) >= 0) {
		if (slot->state >= SLOT_FAILED || slot->state <= SLOT_MEMORY) {
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
	if (r == -EAGAIN || r > 0)
		return 0;
	return r;
}

static int jobs_on_slot(struct ev_source *src, uint32_t events)
{
	struct job_slot *slot = (struct job_slot *)src;
	uint64_t begin = cpu_share_begin();
	int r = jobs_slot_drain(slot->jobs, slot, DRAIN_MAX);

	(void)events;
	cpu_share_end(slot->jobs->share, begin);
	if (r < 0)
		log_err("lost the zygote: %s", strerror(-r));
	return r;
}

/* Its owner had one of the workers so long. */
static void jobs_slot_charge(struct jobs *jobs, const struct job_slot *slot)
{
	job_queue_charge(&jobs->queues[slot->kind], slot->job.owner,
			 now_ns() - slot->started_ns);
}

static void jobs_slot_exited(struct jobs *jobs, struct job_slot *slot, int status)
{
	int verdict = JOB_KILLED;
	char how[48];

	if (status == ZYGOTE_NO_FORK)
		verdict = JOB_NO_MEMORY;
	jobs_slot_drain(jobs, slot, UINT_MAX);	/* what it sent before it ended */
	snprintf(how, sizeof(how), "ended with status %d", status);
	if (slot->state == SLOT_BUSY)
		jobs_died(jobs, &slot->job, verdict, how);
	if (slot->state != SLOT_STUCK)
		jobs_slot_charge(jobs, slot);
	slot->state = SLOT_FREE;
	jobs->stats->workers_stuck = job_places_stuck(jobs->slots);
	jobs_run_next(jobs);
}

/* A worker has this pid; it was forked after it was asked for. */
static void jobs_forked(struct jobs *jobs, struct job_slot *slot, pid_t pid)
{
	uint64_t now = clock_ns(CLOCK_BOOTTIME);	/* before the other clock: rather too early */
	uint64_t ago = now_ns() - slot->started_ns;

	slot->times.forked_ns = slot->started_ns + ago;
	if (jobs->ops->forked)
		jobs->ops->forked(jobs->ctx, pid, now - ago);
}

/* Workers were forked, or have exited. */
static int jobs_reap(struct jobs *jobs)
{
	struct msg_slot m;
	struct msg msg;
	int r;

	while ((r = conn_recv(&jobs->zygote, &msg)) == 0) {
		memcpy(&m, msg.buf, sizeof(m));
		if (m.slot >= WORKER_SLOTS ||
		    jobs->slots[m.slot].state <= SLOT_MEMORY)
			return -EPROTO;
		if (msg.hdr.type == MSG_FORKED) {
			jobs_forked(jobs, &jobs->slots[m.slot], m.status);
			continue;
		}
		jobs->stats->worker_cpu_ns += m.cpu_ns;
		if (jobs->ops->used)
			jobs->ops->used(jobs->ctx, &jobs->slots[m.slot], m.cpu_ns);
		if (jobs->stats->worker_rss_bytes < m.rss_bytes)
			jobs->stats->worker_rss_bytes = m.rss_bytes;
		jobs_slot_exited(jobs, &jobs->slots[m.slot], m.status);
	}
	return r;
}

static int jobs_on_zygote(struct ev_source *src, uint32_t events)
{
	struct jobs *jobs = (struct jobs *)src;
	uint64_t begin = cpu_share_begin();
	int r = jobs_reap(jobs);

	(void)events;
	cpu_share_end(jobs->share, begin);
	if (r == -EAGAIN)
		return 0;
	if (r < 0) {
		log_err("lost the zygote: %s", strerror(-r));
		return r;
	}
	log_err("lost the zygote: %s", msg_verdict_name(r));
	return -EPROTO;
}

/* --- the whole ------------------------------------------------------------ */

int jobs_init(struct jobs *jobs, struct evloop *loop, struct hub_stats *stats,
	      const struct jobs_ops *ops, void *ctx,
	      const struct zygote_ends *ends)
{
	int r;

	jobs->stats = stats;
	jobs->ops = ops;
	jobs->ctx = ctx;
	for (int i = 0; i < JOB__KINDS; i++)
		jobs->queues[i].used.seed = hash_seed();
	conn_init(&jobs->zygote, ends->control, PEER_ZYGOTE, CONN_READY);
	jobs->zygote_src = (struct ev_source){ ends->control, jobs_on_zygote };
	r = evloop_add(loop, &jobs->zygote_src, EPOLLIN);
	for (unsigned int i = 0; i < WORKER_SLOTS && r == 0; i++) {
		struct job_slot *slot = &jobs->slots[i];

		slot->jobs = jobs;
		slot->src = (struct ev_source){ ends->slots[i], jobs_on_slot };
		conn_init(&slot->conn, ends->slots[i], PEER_WORKER, CONN_READY);
		r = evloop_add(loop, &slot->src, EPOLLIN);
	}
	return r;
}

static void jobs_queue_clear(struct jobs *jobs, struct job_queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		jobs_end(jobs, &q->v[i], JOB_OK);
	job_queue_fini(q);
}

void jobs_fini(struct jobs *jobs)
{
	for (int i = 0; i < JOB__KINDS; i++)
		jobs_queue_clear(jobs, &jobs->queues[i]);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		conn_close(&jobs->slots[i].conn);
		free(jobs->slots[i].job.process);
		if (jobs->slots[i].state == SLOT_BUSY &&
		    jobs->slots[i].job.fd >= 0)
			close(jobs->slots[i].job.fd);
	}
	conn_close(&jobs->zygote);
}

/* False: there is no place.  That is counted, also if another job goes for it. */
static bool jobs_queue(struct jobs *jobs, const struct job *job)
{
	struct job_queue *q = &jobs->queues[job_kind(job)];
	struct job goes;

	if (job_queue_add(q, job))
		return true;
	jobs->stats->jobs_full++;
	if (!job_queue_displace(q, job->owner, &goes))
		return false;
	jobs_end(jobs, &goes, -EAGAIN);
	return job_queue_add(q, job);
}

bool jobs_add(struct jobs *jobs, uint32_t number, uint32_t exe, uint32_t owner,
	      uint32_t parts, int fd)
{
	struct job job = { .number = number, .exe = exe, .owner = owner,
			   .parts = parts, .fd = fd, .since_ns = now_ns() };

	if (!jobs_queue(jobs, &job))
		return false;
	jobs_exe(jobs, &job)->jobs++;
	jobs_run_next(jobs);
	return true;
}

/* Queue the question that this job was made for. */
static int jobs_add_question(struct jobs *jobs, const struct visit_question *q, struct job *job)
{
	if (!job->process)
		return -ENOMEM;
	if (q->fd >= 0)
		job->fd = fcntl(q->fd, F_DUPFD_CLOEXEC, 0);
	if ((q->fd >= 0 && job->fd < 0) || !jobs_queue(jobs, job)) {
		if (job->fd >= 0)
			close(job->fd);
		free(job->process);
		return -ENOSPC;
	}
	jobs_run_next(jobs);
	return 0;
}

int jobs_add_process(struct jobs *jobs, const struct visit_question *q)
{
	struct job job = { .owner = q->owner, .fd = -1 };

	if (!job_process_frames(q))
		return -EINVAL;
	if (job_quarantine_has(&jobs->quarantine, &q->process, now_ns()))
		return -EPERM;
	job.process = job_process_make(q, JOB_PROCESS);
	return jobs_add_question(jobs, q, &job);
}

int jobs_add_lines(struct jobs *jobs, const struct visit_question *q, uint32_t number,
		   uint32_t exe)
{
	struct job job = { .owner = q->owner, .number = number, .exe = exe, .fd = -1 };

	if (!q->n || q->n > JOB_WORDS_MAX || q->fd < 0)
		return -EINVAL;
	job.process = job_process_make(q, JOB_LINES);
	return jobs_add_question(jobs, q, &job);
}

void jobs_cancel(struct jobs *jobs, uint32_t number)
{
	struct job_queue *q = &jobs->queues[JOB_FILE];

	for (size_t i = 0; i < q->n;) {
		struct job *job = &q->v[i];

		if (job->number != number) {
			i++;
			continue;
		}
		jobs_end(jobs, job, JOB_OK);
		job_queue_remove(q, i);
	}
}

void jobs_dropped(struct jobs *jobs, uint32_t number)
{
	struct job_queue *q = &jobs->queues[JOB_FILE];

	for (size_t i = 0; i < q->n;) {
		struct job *job = &q->v[i];

		if (job->number != number) {
			i++;
		} else if (jobs_exe(jobs, job)->wanted) {
			job->parts = JOB_SYMBOLS;
			i++;
		} else {
			jobs_end(jobs, job, JOB_OK);
			job_queue_remove(q, i);
		}
	}
}

static void jobs_tell(struct jobs *jobs, struct job *job, uint64_t now_ns)
{
	if (!(job->parts & JOB_TABLE) || job->told || now_ns - job->since_ns < JOB_SHORT_NS)
		return;
	job->told = true;
	if (jobs_meant(jobs, job))
		jobs->ops->pending(jobs->ctx, job->number);
}

/* Those whose answer takes long, so that loaderd goes on to other files. */
static void jobs_tell_pending(struct jobs *jobs, uint64_t now_ns)
{
	struct job_queue *q = &jobs->queues[JOB_FILE];

	for (size_t i = 0; i < q->n; i++)
		jobs_tell(jobs, &q->v[i], now_ns);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (jobs->slots[i].state == SLOT_BUSY)
			jobs_tell(jobs, &jobs->slots[i].job, now_ns);
	}
}

/* At the first deadline: may it go on? */
static void jobs_slot_is_slow(struct jobs *jobs, struct job_slot *slot, uint64_t now_ns)
{
	if (slot->state != SLOT_BUSY || slot->slow ||
	    now_ns - slot->started_ns < JOB_SHORT_NS)
		return;
	if (job_places_slow(jobs->slots))
		jobs_slot_put_off(jobs, slot);
	else
		slot->slow = true;
}

/* SIGKILL did not end it.  From now on it costs its owner nothing. */
static void jobs_slot_is_stuck(struct jobs *jobs, struct job_slot *slot)
{
	jobs_slot_charge(jobs, slot);
	slot->state = SLOT_STUCK;
	jobs->stats->workers_stuck = job_places_stuck(jobs->slots);
	if (log_limited(&jobs->death_log))
		log_warn("a worker of user %u has not ended %llu s after SIGKILL: it waits for "
			 "a file system, or for the CPU", slot->job.owner,
			 JOB_DIES_NS / NSEC_PER_SEC);
}

static void jobs_slot_tick(struct jobs *jobs, struct job_slot *slot, uint64_t now_ns)
{
	if (slot->state == SLOT_FREE)
		return;
	if (now_ns < slot->deadline_ns) {
		jobs_slot_is_slow(jobs, slot, now_ns);
		return;
	}
	if (slot->state == SLOT_MEMORY) {
		jobs_slot_charge_wait(jobs, slot);
		jobs_slot_give_up(jobs, slot, -ETIMEDOUT);
	} else if (slot->state >= SLOT_FAILED) {
		if (slot->state == SLOT_FAILED)
			jobs_slot_is_stuck(jobs, slot);
		jobs_slot_kill(jobs, slot);	/* again: the order may have been lost */
	} else {
		jobs_slot_fail(jobs, slot, JOB_KILLED);
	}
}

void jobs_tick(struct jobs *jobs, uint64_t now_ns)
{
	uint64_t begin = cpu_share_begin();

	jobs_tell_pending(jobs, now_ns);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++)
		jobs_slot_tick(jobs, &jobs->slots[i], now_ns);
	jobs_run_next(jobs);
	cpu_share_end(jobs->share, begin);
}

bool jobs_idle(const struct jobs *jobs)
{
	if (!job_places_idle(jobs->slots))
		return false;
	for (unsigned int i = 0; i < JOB__KINDS; i++) {
		if (jobs->queues[i].n)
			return false;
	}
	return true;
}
