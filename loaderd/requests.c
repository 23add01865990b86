// SPDX-License-Identifier: Apache-2.0
#include "loaderd/requests.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"

#define OPEN_DEADLINE_NS	(1 * NSEC_PER_SEC)

/* --- the queues ------------------------------------------------------------ */

/*
 * How many requests of one process, and how many of other processes for one file, may be
 * in a queue; of a user REQUESTS_USER.  The list of mappings is made again.  A process that met a file may end before
 * the file is open, so another one's request for it is kept, too.
 */
struct queue_limits {
	uint32_t of_process, of_file;
};
static const struct queue_limits asked_limits = { REQUESTS_SHARE, 2 };
static const struct queue_limits listed_limits = { 32 * REQUESTS_SHARE, 1 };

/* Add r; not if its process asked for this file already, or enough others did.
 * False: there is no room for it. */
static bool request_queue_put(struct request_queue *q, const struct request_file *r,
		      const struct queue_limits *limits)
{
	uint32_t of_process = 0, of_file = 0, of_user = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		bool same_process = q->request[i].process.tgid == r->process.tgid;
		bool same_file = !memcmp(&q->request[i].key, &r->key, sizeof(r->key));

		if (same_process && same_file)
			return true;
		if (same_process)
			of_process++;
		if (same_file)
			of_file++;
		if (owner_of_uid(q->request[i].uid) == owner_of_uid(r->uid))
			of_user++;
	}
	if (of_file >= limits->of_file)
		return true;
	if (q->n == REQUESTS_MAX || of_process >= limits->of_process || of_user >= REQUESTS_USER)
		return false;
	q->request[q->n] = *r;
	q->n++;
	return true;
}

/*
 * Take the oldest request.  Of the list of mappings, which has the oldest processes first:
 * the newest process that was running, or else the newest of all, since it is the most
 * likely to run.  False: the queue is empty.
 */
static bool request_queue_get(struct request_queue *q, struct request_file *ret, bool listed)
{
	uint32_t at = 0;

	if (!q->n)
		return false;
	if (listed) {
		for (uint32_t i = 1; i < q->n; i++) {
			if (q->request[i].runs >= q->request[at].runs)
				at = i;
		}
	}
	*ret = q->request[at];
	q->n--;
	memmove(q->request + at, q->request + at + 1, (q->n - at) * sizeof(*ret));
	return true;
}

static bool requests_wanted(struct requests *rs, const struct request_file *r)
{
	struct file_entry entry;

	return entries_get(rs->entries, &r->key, &entry) || (entry.state & r->ask);
}

/* --- opening ---------------------------------------------------------------- */

/* What the opener works on: it takes one after the other.  NULL: it has nothing to do. */
static struct pending_open *requests_first(struct requests *rs)
{
	struct pending_open *first = NULL;

	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		if (o->id && (!first || o->id < first->id))
			first = o;
	}
	return first;
}

/* False: the opener takes no more. */
static bool requests_open(struct requests *rs, struct pending_open *o,
			  enum msg_type type, const void *payload, size_t len)
{
	rs->last_id++;
	if (conn_send(&rs->opener->conn, type, rs->last_id, payload, len, NULL, 0, NULL, 0))
		return false;
	if (!requests_first(rs))
		rs->heard_ns = now_ns();
	o->id = rs->last_id;
	o->type = type;
	return true;
}

/*
 * Has an open hung for this process, or for several of its user?  A process can hold its
 * mmap lock for ever, which the kernel takes to look the mapping up.
 */
static bool requests_held(const struct requests *rs, const struct request_file *r)
{
	uint64_t now = now_ns();
	uint32_t of_user = 0;

	if (rs->opener->shared->stuck >= HANGS_STUCK)
		now = 0;
	for (int i = 0; i < HANGS_MAX; i++) {
		const struct hang *h = &rs->hang[i];

		if (h->end_ns <= now)
			continue;
		if (same_process(&h->process, &r->process))
			return true;
		if (h->owner == owner_of_uid(r->uid))
			of_user++;
	}
	return of_user >= HANGS_USER;
}

/* Open the next mapping, unless one is being opened. */
static void requests_next(struct requests *rs)
{
	struct pending_open *o = &rs->open[0];

	while (rs->ready && !o->id && rs->unanswered < EXE_AHEAD) {
		if (!request_queue_get(&rs->asked, &o->request, false) &&
		    !request_queue_get(&rs->listed, &o->request, true))
			return;
		if (requests_wanted(rs, &o->request) &&
		    (requests_held(rs, &o->request) ||
		     !requests_open(rs, o, MSG_OPEN, &o->request, sizeof(o->request))))
			rs->entries->stats->open_failed++;
	}
}

void requests_add(struct requests *rs, const struct request_file *request, bool listed)
{
	struct loader_stats *stats = rs->entries->stats;

	if (!listed)
		stats->file_requests++;
	if (!requests_wanted(rs, request))
		return;
	/* an overlay's file has the identity of the file beneath it */
	if (!opener_trusts(request->key.magic)) {
		if (!listed)
			stats->fs_refused++;
		return;
	}
	if (listed) {
		if (!request_queue_put(&rs->listed, request, &listed_limits))
			rs->list_more = true;
	} else if (!request_queue_put(&rs->asked, request, &asked_limits)) {
		stats->requests_full++;
	}
	requests_next(rs);
}

/* Does the kernel see, under this descriptor, the file that was asked for?  Notes
 * whether its path is the host's. */
static bool requests_confirm(struct requests *rs, struct msg_exe *exe, int fd)
{
	void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct file_key key;
	int r;

	if (p == MAP_FAILED)
		return false;
	r = bpf_identify(rs->entries->bpf, p, &key);
	munmap(p, 1);
	exe->host = r > 0;
	return r >= 0 && !memcmp(&key, &exe->key, sizeof(key));
}

/* The opener's answer about a mapping: pass the file to the hub. */
static void requests_mapping_opened(struct requests *rs, const struct request_file *r,
				    const struct msg *m)
{
	struct msg_exe exe = { .key = r->key, .process = r->process, .uid = r->uid,
			       .begins = r->kind == REQUEST_EXEC };
	struct entries *e = rs->entries;

	if (m->hdr.type == MSG_OPEN_FAILED) {
		e->stats->open_failed++;
		return;
	}
	if (!requests_confirm(rs, &exe, m->fds[0])) {
		e->stats->key_mismatch++;
		return;
	}
	exe.no_room = entries_confirmed(e, &r->key, false) == -E2BIG;
	rs->last_id++;
	if (hub_link_send(e->hub, MSG_EXE, rs->last_id, &exe, sizeof(exe),
			  m->buf, m->hdr.len, m->fds[0])) {
		entries_confirmed(e, &r->key, true);
		return;
	}
	rs->list_useful = true;
	rs->unanswered++;
}

/* --- for the hub -------------------------------------------------------------- */

/* Answer the hub's question with a descriptor (borrowed), or if there is none (-1) with
 * the reason, an errno.  If the answer does not get through, the hub goes on without. */
static void requests_answer(struct requests *rs, uint64_t id, int fd, uint32_t reason)
{
	struct msg_open_failed failed = { .error = reason };

	if (fd >= 0)
		hub_link_send(rs->entries->hub, MSG_WANTED_FILE, id, NULL, 0, NULL, 0, fd);
	else
		hub_link_send(rs->entries->hub, MSG_WANTED_NONE, id, &failed, sizeof(failed),
			      NULL, 0, -1);
}

static void requests_note_alive(void *ctx, const struct request_file *r)
{
	struct requests *rs = ctx;
	struct pending_open *o = rs->asking;

	if (!same_process(&r->process, &o->request.process))
		return;
	o->alive = true;
	o->request = *r;
	requests_add(rs, r, true);	/* a jitdump may have been mapped lately */
}

/* Does the process that a question of the hub is about still run? */
static bool requests_alive(struct requests *rs, struct pending_open *o)
{
	rs->asking = o;
	o->alive = false;
	(void)!bpf_list(rs->entries->bpf, o->request.process.tgid, requests_note_alive, rs);
	return o->alive;
}

/* Where to note another question of the hub; NULL: there is no room. */
static struct pending_open *requests_free_place(struct requests *rs)
{
	for (int i = 1; i < OPENS_MAX; i++) {
		if (!rs->open[i].id)
			return &rs->open[i];
	}
	return NULL;
}

/* Pass a question of the hub to the opener.  0, or the errno that says why not. */
static int requests_pass_on(struct requests *rs, const struct msg *m)
{
	struct msg_wanted q = *(const struct msg_wanted *)m->buf;
	struct pending_open *o = requests_free_place(rs);

	if (!o)
		return EAGAIN;
	if (m->hdr.type == MSG_DEBUG_WANTED) {
		if (memcmp(q.paths + sizeof(q.paths) - 2, "\0", 2))
			return EAGAIN;
	} else {
		if (rs->mems >= MEMS_A_SECOND)
			return EAGAIN;
		rs->mems++;
	}
	o->request = (struct request_file){ .process = q.process };
	o->hub_id = m->hdr.id;
	if (m->hdr.type == MSG_PERF_MAP_WANTED &&
	    (!requests_alive(rs, o) || !opener_trusts(o->request.root_magic)))
		return ESRCH;
	q.ns_tgid = o->request.ns_tgid;
	return requests_open(rs, o, m->hdr.type, &q, sizeof(q)) ? 0 : EAGAIN;
}

void requests_asked(struct requests *rs, const struct msg *m)
{
	int reason = requests_pass_on(rs, m);

	if (reason)
		requests_answer(rs, m->hdr.id, -1, reason);
}

/*
 * The opener's answer to a question of the hub.  A process's number is given to another
 * one only after it has ended: if it is alive now, what was opened is its own.
 */
static void requests_hub_opened(struct requests *rs, struct pending_open *o, const struct msg *m)
{
	const struct msg_open_failed *failed = (const void *)m->buf;

	if (m->hdr.type == MSG_OPEN_FAILED)
		requests_answer(rs, o->hub_id, -1, failed->error);
	else if (o->type != MSG_DEBUG_WANTED && !requests_alive(rs, o))
		requests_answer(rs, o->hub_id, -1, ESRCH);
	else
		requests_answer(rs, o->hub_id, m->fds[0], 0);
}

void requests_opened(struct requests *rs, struct msg *m)
{
	rs->heard_ns = now_ns();
	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		/* an answer that comes after its deadline is dropped */
		if (!o->id || o->id != m->hdr.id)
			continue;
		o->id = 0;
		if (o->type == MSG_OPEN)
			requests_mapping_opened(rs, &o->request, m);
		else
			requests_hub_opened(rs, o, m);
	}
	msg_close_fds(m);
	requests_next(rs);
}

/* --- state and time --------------------------------------------------------- */

void requests_ready(struct requests *rs, bool ready)
{
	rs->ready = ready;
	rs->unanswered = 0;
	requests_next(rs);
}

void requests_answered(struct requests *rs)
{
	if (rs->unanswered)
		rs->unanswered--;
	requests_next(rs);
}

bool requests_list_again(struct requests *rs)
{
	if (!rs->list_more || !rs->list_useful || rs->listed.n || rs->unanswered >= EXE_AHEAD)
		return false;
	rs->list_more = false;
	rs->list_useful = false;
	return true;
}

bool requests_idle(const struct requests *rs)
{
	return !rs->open[0].id && !rs->unanswered && !rs->asked.n && !rs->listed.n && !rs->list_more;
}

bool requests_tick(struct requests *rs, uint64_t now)
{
	struct pending_open *o = requests_first(rs);

	rs->mems = 0;
	if (o && now - rs->heard_ns >= OPEN_DEADLINE_NS) {
		rs->heard_ns = now;
		o->id = 0;
		if (o->type != MSG_OPEN)
			requests_answer(rs, o->hub_id, -1, ETIMEDOUT);
		else
			rs->hang[rs->entries->stats->open_killed % HANGS_MAX] = (struct hang){
				o->request.process, owner_of_uid(o->request.uid), now + HANG_NS };
		rs->entries->stats->open_killed++;
		opener_kill(rs->opener);
	}
	requests_next(rs);
	return o != NULL;
}
