// SPDX-License-Identifier: Apache-2.0
#include "loaderd/requests.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "loaderd/fs.h"

#define OPEN_DEADLINE_NS	(1 * NSEC_PER_SEC)

/* --- the queues ------------------------------------------------------------ */

static bool queue_has(const struct request_queue *q, const struct file_key *key)
{
	for (uint32_t i = 0; i < q->n; i++) {
		if (!memcmp(&q->request[(q->head + i) % REQUESTS_MAX].key, key,
			    sizeof(*key)))
			return true;
	}
	return false;
}

/* False when it is full. */
static bool queue_put(struct request_queue *q, const struct request_file *r)
{
	if (q->n == REQUESTS_MAX)
		return false;
	if (!queue_has(q, &r->key))
		q->request[(q->head + q->n++) % REQUESTS_MAX] = *r;
	return true;
}

static bool queue_get(struct request_queue *q, struct request_file *ret)
{
	if (!q->n)
		return false;
	*ret = q->request[q->head];
	q->head = (q->head + 1) % REQUESTS_MAX;
	q->n--;
	return true;
}

static bool requests_wanted(struct requests *rs, const struct file_key *key)
{
	struct file_entry entry;

	return entries_get(rs->entries, key, &entry) || (entry.state & FILE_ASK);
}

/* --- opening ---------------------------------------------------------------- */

static void requests_next(struct requests *rs)
{
	struct pending_open *o = &rs->open[0];

	while (rs->ready && !o->id && rs->unanswered < EXE_AHEAD &&
	       (queue_get(&rs->asked, &o->request) ||
		queue_get(&rs->listed, &o->request))) {
		if (!requests_wanted(rs, &o->request.key))
			continue;
		if (opener_ask(rs->opener, ++rs->last_id, &o->request)) {
			rs->entries->stats->open_failed++;
			continue;
		}
		o->id = rs->last_id;
		o->since_ns = now_ns();
	}
}

void requests_add(struct requests *rs, const struct request_file *request,
		   bool listed)
{
	rs->entries->stats->file_requests += !listed;
	if (!requests_wanted(rs, &request->key))
		return;
	/* an overlay's file has the identity of the file beneath it */
	if (!fs_trusted(request->key.magic)) {
		rs->entries->stats->fs_refused += !listed;
		return;
	}
	if (!queue_put(listed ? &rs->listed : &rs->asked, request) && listed)
		rs->list_more = true;
	requests_next(rs);
}

/* Does the kernel see, behind this descriptor, the file that was asked for? */
static int confirm(struct requests *rs, const struct file_key *wanted, int fd)
{
	struct file_key key;
	void *p;
	int r;

	p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r = bpf_identify(rs->entries->bpf, p, &key);
	munmap(p, 1);
	if (r)
		return r;
	return memcmp(&key, wanted, sizeof(key)) ? -ESTALE : 0;
}

static void requests_send(struct requests *rs, const struct file_key *key,
		       uint32_t tgid, const char *path, size_t len, int fd)
{
	struct entries *e = rs->entries;
	struct msg_exe m = { .key = *key, .tgid = tgid, .path_len = len };

	m.no_room = entries_confirmed(e, key, false) == -E2BIG;
	if (hub_link_send(e->hub, MSG_EXE, ++rs->last_id, &m, sizeof(m), path,
			  len, fd)) {
		entries_confirmed(e, key, true);
		return;
	}
	rs->list_useful = true;
	rs->unanswered++;
}

static void opened_debug(struct requests *rs, uint32_t exe, int fd)
{
	struct msg_debug m = { .exe = exe };

	/* if it does not get through, the worker goes on without */
	(void)!hub_link_send(rs->entries->hub,
			     fd < 0 ? MSG_DEBUG_NONE : MSG_DEBUG_FILE, 0, &m,
			     sizeof(m), NULL, 0, fd);
}

static void opened_mapping(struct requests *rs, const struct request_file *request,
			   const struct msg *m)
{
	const struct msg_open_failed *failed = (const void *)m->buf;
	const struct msg_opened *o = (const void *)m->buf;

	if (m->hdr.type == MSG_OPEN_FAILED) {
		rs->entries->stats->open_failed++;
		log_debug("open %u %llx-%llx: %s", request->tgid,
			  (unsigned long long)request->start,
			  (unsigned long long)request->end,
			  strerror(failed->error));
	} else if (confirm(rs, &request->key, m->fds[0])) {
		rs->entries->stats->key_mismatch++;
	} else {
		requests_send(rs, &request->key, request->tgid,
			   (const char *)(o + 1), m->hdr.len - sizeof(*o), m->fds[0]);
	}
}

void requests_opened(struct requests *rs, struct msg *m)
{
	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		/* an answer that a deadline has overtaken is for nobody */
		if (!o->id || o->id != m->hdr.id)
			continue;
		o->id = 0;
		if (i == 0)
			opened_mapping(rs, &o->request, m);
		else
			opened_debug(rs, o->exe, m->nfds ? m->fds[0] : -1);
	}
	msg_close_fds(m);
	requests_next(rs);
}

void requests_debug_wanted(struct requests *rs, const struct msg_debug_wanted *m)
{
	struct msg_open_debug q = {
		.tgid = m->tgid, .build_id_len = m->build_id_len,
	};
	int i = 1;

	while (i < OPENS_MAX && rs->open[i].id)
		i++;
	memcpy(q.build_id, m->build_id, sizeof(q.build_id));
	if (i == OPENS_MAX || m->build_id_len < 2 ||
	    m->build_id_len > BUILD_ID_MAX ||
	    opener_ask_debug(rs->opener, ++rs->last_id, &q)) {
		opened_debug(rs, m->exe, -1);
		return;
	}
	rs->open[i] = (struct pending_open){
		.id = rs->last_id, .since_ns = now_ns(), .exe = m->exe,
	};
}

/* --- the hub ------------------------------------------------------------------ */

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
	if (!rs->list_more || rs->listed.n || !rs->list_useful)
		return false;
	rs->list_more = rs->list_useful = false;
	return true;
}

bool requests_idle(const struct requests *rs)
{
	return !rs->open[0].id && !rs->unanswered && !rs->asked.n && !rs->listed.n;
}

void requests_tick(struct requests *rs, uint64_t now)
{
	bool late = false;

	for (int i = 0; i < OPENS_MAX; i++) {
		struct pending_open *o = &rs->open[i];

		if (!o->id || now - o->since_ns < OPEN_DEADLINE_NS)
			continue;
		o->id = 0;
		late = true;
		if (i > 0)
			opened_debug(rs, o->exe, -1);
	}
	if (late) {
		opener_kill(rs->opener);
		rs->entries->stats->open_killed++;
	}
	requests_next(rs);
}
