// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_slot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"
#include "common/log.h"
#include "ipc/sealed.h"
#include "symbolizerd/jobs/job_process.h"

/* Microseconds since the file came. */
static unsigned long long job_times_us(const struct job_times *t, uint64_t ns)
{
	return ns > t->came_ns ? (ns - t->came_ns) / 1000 : 0;
}

void job_times_log(const struct job_times *t, const struct executable *e)
{
	const char *path = e->path ? e->path : "";
	char shown[256];

	log_debug("table: came %llu, job %llu, forked %llu, asked %llu, told %llu, done %llu, "
		  "installed %llu: %s", (unsigned long long)t->came_ns / 1000,
		  job_times_us(t, t->started_ns), job_times_us(t, t->forked_ns),
		  job_times_us(t, t->asked_ns), job_times_us(t, t->told_ns),
		  job_times_us(t, t->done_ns), job_times_us(t, t->installed_ns),
		  log_quote(path, strlen(path), shown, sizeof(shown)));
}

void job_slot_log_death(const struct job *job, int verdict, const char *how)
{
	const char *what = "executable", *result = "is quarantined";
	uint32_t number = job->number;

	if (job_kind(job) == JOB_PROCESS) {
		what = "process";
		number = job->process->process.tgid;
	}
	if (verdict != JOB_KILLED)
		result = "gets no answer for now";
	else if (job_kind(job) == JOB_LINES)
		result = "has no lines";
	log_warn("a worker %s: %s %u %s", how, what, number, result);
}

void job_slot_read(struct job_slot *slot, struct executable *e)
{
	if (e->wanted)
		slot->job.parts |= JOB_SYMBOLS;
	if (read_again_given(&e->again, slot->job.parts & JOB_SYMBOLS))
		slot->job.again = true;
}

void job_slot_begin(struct job_slot *slot, uint64_t now_ns)
{
	slot->state = SLOT_BUSY;
	slot->kind = job_kind(&slot->job);
	slot->slow = slot->job.slow;
	memset(slot->asked, 0, sizeof(slot->asked));
	slot->waits = false;
	slot->started_ns = now_ns;
	slot->times = (struct job_times){
		.came_ns = slot->job.since_ns, .started_ns = now_ns,
	};
}

int job_slot_symbols(int fd, const void **map, size_t *len, struct symbol_index *ret)
{
	int r = sealed_map(fd, sizeof(struct symbols_hdr), SYMBOLS_BYTES_MAX, map, len);

	if (r || symbols_open(*map, *len, ret) == 0)
		return r;
	munmap((void *)*map, *len);
	*map = NULL;
	return -EPROTO;
}

int job_slot_send(struct job_slot *slot)
{
	const struct job_process *p = slot->job.process;
	struct msg_job m = {
		.kind = slot->kind, .exe = slot->job.number, .parts = slot->job.parts,
	};
	const uint64_t *words = NULL;
	size_t n = 0;

	if (p) {
		m.runtime = p->runtime;
		m.n_frames = p->n_frames;
		words = p->words;
		n = p->n_words;
	}
	/* the slot's socket is empty: always room for one */
	return conn_send(&slot->conn, MSG_JOB, 0, &m, sizeof(m), words, n * sizeof(*words),
			 &slot->job.fd, 1);
}

/* By build ID, by a name that may be, or both. */
static bool job_slot_asks_for(const struct msg_wanted *q)
{
	if (q->alternate == DEBUG_ALTERNATE)
		return q->build_id_len && msg_debug_alternate(q->paths);
	if (q->alternate == DEBUG_PACKAGE)
		return !q->build_id_len && (!q->paths[0] || msg_debug_link(q->paths));
	if (q->paths[0])
		return msg_debug_link(q->paths);
	return q->build_id_len;
}

int job_slot_debug_wanted(struct job_slot *slot, const struct msg *msg, struct msg_wanted *ret)
{
	uint32_t last = 0;

	if (slot->kind == JOB_LINES)
		last = DEBUG_PACKAGE;
	memcpy(ret, msg->buf, sizeof(*ret));
	if (slot->state != SLOT_BUSY || slot->waits || slot->kind == JOB_PROCESS ||
	    ret->alternate > last || slot->asked[ret->alternate] ||
	    ret->build_id_len == 1 || ret->build_id_len > BUILD_ID_MAX ||
	    !memchr(ret->paths, '\0', sizeof(ret->paths)) || !job_slot_asks_for(ret))
		return MSG_BAD_CONTENT;
	slot->asked[ret->alternate] = true;
	slot->waits = true;
	slot->times.asked_ns = now_ns();
	return MSG_OK;
}

int job_slot_tell_debug(struct job_slot *slot, int fd, enum debug_source source)
{
	struct msg_open_failed failed = { .error = ENOENT };

	slot->waits = false;
	slot->times.told_ns = now_ns();
	if (fd < 0)
		return conn_send(&slot->conn, MSG_WANTED_NONE, 0, &failed, sizeof(failed),
				 NULL, 0, NULL, 0);
	return conn_send(&slot->conn, MSG_WANTED_FILE, source, NULL, 0, NULL, 0, &fd, 1);
}
