// SPDX-License-Identifier: Apache-2.0
#include "loaderd/requests.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"

#define OPEN_DEADLINE_NS	(1 * NSEC_PER_SEC)

/* --- the queues ------------------------------------------------------------ */

/* Unless it is there, or this process has its share.  False: the queue is full.  Of those
 * who met a file the first may be gone before it is open, so another one's stays, too; of
 * lists, which are made again, none. */
static bool queue_put(struct request_queue *q, const struct request_file *r, uint32_t share)
{
	uint32_t same = 0, others = share > REQUESTS_SHARE;

	if (q->n == REQUESTS_MAX)
		return false;
	for (uint32_t i = 0; i < q->n; i++) {
		same += q->request[i].tgid == r->tgid;
		if (same == share || (!memcmp(&q->request[i].key, &r->key, sizeof(r->key)) &&
				      (q->request[i].tgid == r->tgid || others++)))
			return true;
	}
	q->request[q->n++] = *r;
	return true;
}

/* The oldest; or of a list, which has the oldest processes first, who runs now and
 * then the newest, which is more likely to. */
static bool queue_get(struct request_queue *q, struct request_file *ret, bool list)
{
	uint32_t at = 0;

	if (!q->n)
		return false;
	for (uint32_t i = 1; list && i < q->n; i++)
		at = q->request[i].runs >= q->request[at].runs ? i : at;
	*ret = q->request[at];
	memmove(q->request + at, q->request + at + 1, (--q->n - at) * sizeof(*ret));
	return true;
}

static bool requests_wanted(struct requests *rs, const struct request_file *r)
{
	struct file_entry entry;

	return entries_get(rs->entries, &r->key, &entry) || (entry.state & r->ask);
}

/* --- opening ---------------------------------------------------------------- */

/* False when the opener takes no more. */
static bool requests_open(struct requests *rs, struct pending_open *o,
			  enum msg_type type, const void *payload, size_t len)
{
	if (conn_send(&rs->opener->conn, type, ++rs->last_id, payload, len, NULL, 0, NULL, 0))
		return false;
	o->id = rs->last_id;
	o->since_ns = now_ns();
	o->type = type;
	return true;
}

static void requests_next(struct requests *rs)
{
	struct pending_open *o = &rs->open[0];

	while (rs->ready && !o->id && rs->unanswered < EXE_AHEAD &&
	       (queue_get(&rs->asked, &o->request, false) ||
		queue_get(&rs->listed, &o->request, true))) {
		if (requests_wanted(rs, &o->request) &&
		    !requests_open(rs, o, MSG_OPEN, &o->request, sizeof(o->request)))
			rs->entries->stats->open_failed++;
	}
}

void requests_add(struct requests *rs, const struct request_file *request, bool listed)
{
	rs->entries->stats->file_requests += !listed;
	if (!requests_wanted(rs, request))
		return;
	/* an overlay's file has the identity of the file beneath it */
	if (!opener_trusts(request->key.magic)) {
		rs->entries->stats->fs_refused += !listed;
		return;
	}
	if (!queue_put(listed ? &rs->listed : &rs->asked, request,
		       listed ? 32 * REQUESTS_SHARE : REQUESTS_SHARE))
		rs->list_more |= listed;
	requests_next(rs);
}

/* Does the kernel see, behind this descriptor, the file that was asked for, and
 * is its path the host's? */
static int confirm(struct requests *rs, struct msg_exe *exe, int fd)
{
	void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct file_key key;
	int r;

	if (p == MAP_FAILED)
		return -errno;
	r = bpf_identify(rs->entries->bpf, p, &key);
	munmap(p, 1);
	exe->host = r > 0;
	return r < 0 ? r : memcmp(&key, &exe->key, sizeof(key)) ? -ESTALE : 0;
}

static void opened_mapping(struct requests *rs, const struct request_file *r, const struct msg *m)
{
	struct msg_exe exe = { .key = r->key, .tgid = r->tgid, .begins = r->kind == REQUEST_EXEC };
	struct entries *e = rs->entries;
	uint64_t *failed = m->hdr.type == MSG_OPEN_FAILED ? &e->stats->open_failed :
			   confirm(rs, &exe, m->fds[0]) ? &e->stats->key_mismatch : NULL;

	if (failed) {
		++*failed;
		return;
	}
	exe.no_room = entries_confirmed(e, &r->key, false) == -E2BIG;
	if (hub_link_send(e->hub, MSG_EXE, ++rs->last_id, &exe, sizeof(exe),
			  m->buf, m->hdr.len, m->fds[0])) {
		entries_confirmed(e, &r->key, true);
		return;
	}
	rs->list_useful = true;
	rs->unanswered++;
}

/* --- for the hub -------------------------------------------------------------- */

/* What became of its question; if that does not get through, it goes on without.
 * fd is borrowed; -1: none, for this reason. */
static void requests_tell(struct requests *rs, uint64_t id, int fd, int reason)
{
	struct msg_open_failed failed = { .error = reason };
	bool none = fd < 0;

	(void)!hub_link_send(rs->entries->hub, none ? MSG_WANTED_NONE : MSG_WANTED_FILE, id,
			     &failed, none ? sizeof(failed) : 0, NULL, 0, fd);
}

static void on_alive(void *ctx, const struct request_file *r)
{
	struct requests *rs = ctx;
	struct pending_open *o = rs->asking;

	if (r->tgid != o->request.tgid || r->start_ns != o->request.start_ns)
		return;
	o->alive = true;
	o->request.ns_tgid = r->ns_tgid;
	requests_add(rs, r, true);	/* a jitdump may have been mapped lately */
}

static bool requests_alive(struct requests *rs, struct pending_open *o)
{
	rs->asking = o;
	o->alive = false;
	(void)!bpf_list(rs->entries->bpf, o->request.tgid, on_alive, rs);
	return o->alive;
}

void requests_asked(struct requests *rs, const struct msg *m)
{
	struct msg_wanted q = *(const struct msg_wanted *)m->buf;
	bool debug = m->hdr.type == MSG_DEBUG_WANTED;
	struct pending_open *o = rs->open + 1;

	while (o < rs->open + OPENS_MAX && o->id)
		o++;
	if (o == rs->open + OPENS_MAX ||
	    (debug ? q.paths[sizeof(q.paths) - 2] | q.paths[sizeof(q.paths) - 1] : rs->mems >= MEMS_A_SECOND)) {
		requests_tell(rs, m->hdr.id, -1, EAGAIN);
		return;
	}
	o->request = (struct request_file){ .tgid = q.tgid, .start_ns = q.start_ns };
	o->hub_id = m->hdr.id;
	rs->mems += !debug;
	if (m->hdr.type == MSG_PERF_MAP_WANTED && !requests_alive(rs, o))
		return requests_tell(rs, m->hdr.id, -1, ESRCH);
	q.ns_tgid = o->request.ns_tgid;
	if (!requests_open(rs, o, m->hdr.type, &q, sizeof(q)))
		requests_tell(rs, m->hdr.id, -1, EAGAIN);
}

/*
 * What was opened is the process's that was meant if that one is alive then: nobody
 * else had its number.
 */
static void opened_for_hub(struct requests *rs, struct pending_open *o, const struct msg *m)
{
	const struct msg_open_failed *failed = (const void *)m->buf;
	int fd = m->nfds ? m->fds[0] : -1, reason = fd < 0 ? failed->error : 0;

	if (fd >= 0 && o->type != MSG_DEBUG_WANTED && !requests_alive(rs, o)) {
		fd = -1;
		reason = ESRCH;
	}
	requests_tell(rs, o->hub_id, fd, reason);
}

void requests_opened(struct requests *rs, struct msg *m)
{
	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		/* an answer that a deadline has overtaken is for nobody */
		if (!o->id || o->id != m->hdr.id)
			continue;
		o->id = 0;
		if (o->type == MSG_OPEN)
			opened_mapping(rs, &o->request, m);
		else
			opened_for_hub(rs, o, m);
	}
	msg_close_fds(m);
	requests_next(rs);
}

/* --- the state of things -------------------------------------------------------- */

void requests_ready(struct requests *rs, bool ready)
{
	rs->ready = ready;
	rs->unanswered = 0;
	requests_next(rs);
}

void requests_answered(struct requests *rs)
{
	rs->unanswered -= rs->unanswered != 0;
	requests_next(rs);
}

bool requests_list_again(struct requests *rs)
{
	if (!rs->list_more || rs->listed.n || !rs->list_useful || rs->unanswered >= EXE_AHEAD)
		return false;
	rs->list_more = rs->list_useful = false;
	return true;
}

bool requests_idle(const struct requests *rs)
{
	return !rs->open[0].id && !rs->unanswered && !rs->asked.n && !rs->listed.n && !rs->list_more;
}

bool requests_tick(struct requests *rs, uint64_t now)
{
	bool late = false, waits = false;

	rs->mems = 0;
	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		waits |= o->id != 0;
		if (!o->id || now - o->since_ns < OPEN_DEADLINE_NS)
			continue;
		o->id = 0;
		late = true;
		if (o->type != MSG_OPEN)
			requests_tell(rs, o->hub_id, -1, ETIMEDOUT);
	}
	rs->entries->stats->open_killed += late;
	if (late)
		opener_kill(rs->opener);
	requests_next(rs);
	return waits;
}
