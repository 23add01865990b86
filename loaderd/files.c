// SPDX-License-Identifier: Apache-2.0
#include "loaderd/files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "ipc/sealed.h"
#include "loaderd/fs.h"

#define OPEN_DEADLINE_NS	(1 * NSEC_PER_SEC)
#define GRACE_NS		(1 * NSEC_PER_SEC)	/* BPF runs for less */
#define TABLE_BYTES_MAX		(256u << 20)

/* --- the queues ------------------------------------------------------------ */

static bool queue_has(const struct need_queue *q, const struct file_key *key)
{
	for (uint32_t i = 0; i < q->n; i++) {
		if (!memcmp(&q->need[(q->head + i) % NEEDS_MAX].key, key,
			    sizeof(*key)))
			return true;
	}
	return false;
}

static void queue_put(struct need_queue *q, const struct need_file *need)
{
	if (q->n == NEEDS_MAX || queue_has(q, &need->key))
		return;
	q->need[(q->head + q->n++) % NEEDS_MAX] = *need;
}

static bool queue_get(struct need_queue *q, struct need_file *ret)
{
	if (!q->n)
		return false;
	*ret = q->need[q->head];
	q->head = (q->head + 1) % NEEDS_MAX;
	q->n--;
	return true;
}

/* --- what BPF knows --------------------------------------------------------- */

static int entry_get(struct files *f, const struct file_key *key,
		     struct file_entry *ret)
{
	return bpf_map_lookup_elem(f->map_fd, key, ret) ? -errno : 0;
}

static int entry_put(struct files *f, uint32_t exe, uint32_t state)
{
	const struct exe *e = &f->exes[exe];
	struct file_entry entry = {
		.exe = exe, .dir = e->table.dir, .pages = e->table.pages,
		.state = state, .used_s = now_ns() / NSEC_PER_SEC,
	};

	return bpf_map_update_elem(f->map_fd, &e->key, &entry, BPF_ANY) ?
	       -errno : 0;
}

static uint32_t state_of(const struct exe *e)
{
	return e->table.pages ? FILE_TABLE : FILE_BARE;
}

static bool wanted(struct files *f, const struct file_key *key)
{
	struct file_entry entry;

	return entry_get(f, key, &entry) || (entry.state & FILE_ASK);
}

/* --- forgetting ------------------------------------------------------------ */

static void retire(struct files *f, struct table_ref *table)
{
	struct retired *r;

	if (!table->n_runs)
		return;
	r = malloc(sizeof(*r));
	if (!r)
		return;		/* its space stays taken: safe, and rare */
	*r = (struct retired){ *table, now_ns(), f->retired };
	*table = (struct table_ref){ 0 };
	f->retired = r;
}

/* Forget the file that was not used for the longest time; with_table: only one
 * whose table gives room back. */
static bool evict_one(struct files *f, uint32_t except, bool with_table)
{
	uint32_t oldest = UINT32_MAX, found = 0;
	struct file_entry entry;

	for (uint32_t i = EXE_FIRST; i < f->n; i++) {
		if (i == except || !f->exes[i].used ||
		    (with_table && !f->exes[i].table.n_runs) ||
		    entry_get(f, &f->exes[i].key, &entry) ||
		    entry.used_s >= oldest)
			continue;
		oldest = entry.used_s;
		found = i;
	}
	if (!found)
		return false;
	bpf_map_delete_elem(f->map_fd, &f->exes[found].key);
	f->stats->tables -= f->exes[found].table.pages != 0;
	f->stats->evicted++;
	f->jobs -= f->exes[found].sent;
	retire(f, &f->exes[found].table);
	f->exes[found].used = f->exes[found].sent = false;
	f->ops->dropped(f->ctx, found);
	return true;
}

/* --- numbers ---------------------------------------------------------------- */

/* A number for this identity: the one it has, or the next. */
static int number_for(struct files *f, const struct file_key *key)
{
	struct file_entry entry;

	if (!entry_get(f, key, &entry) && entry.exe < f->n)
		return entry.exe;
	if (f->n > EXE_MAX)
		return -ENOSPC;
	if (f->n == f->cap) {
		uint32_t cap = 2 * f->cap;
		struct exe *p = realloc(f->exes, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		memset(p + f->cap, 0, (cap - f->cap) * sizeof(*p));
		f->exes = p;
		f->cap = cap;
	}
	f->exes[f->n] = (struct exe){ .key = *key, .used = true };
	f->stats->exes++;
	return f->n++;
}

static int pass_on(struct files *f, uint32_t exe, const char *path, size_t len,
		   int fd)
{
	struct exe *e = &f->exes[exe];
	int r = f->ops->send(f->ctx, exe, &e->key, path, len, fd);
	uint32_t state = (e->table.pages ? FILE_TABLE : FILE_PENDING) |
			 (r ? FILE_ASK : 0);

	if (entry_put(f, exe, state) == -E2BIG && evict_one(f, exe, false))
		entry_put(f, exe, state);
	if (!r && !e->sent) {
		e->sent = true;
		f->jobs++;
	}
	return r;
}

int files_init(struct files *f, int map_fd, struct tables *tables,
	       struct opener *opener, struct loader_stats *stats,
	       const struct files_ops *ops, void *ctx)
{
	*f = (struct files){
		.map_fd = map_fd, .tables = tables, .opener = opener,
		.stats = stats, .ops = ops, .ctx = ctx,
		.n = EXE_FIRST, .cap = 256,
	};
	f->exes = calloc(f->cap, sizeof(*f->exes));
	return f->exes ? 0 : -ENOMEM;
}

int files_add_vdso(struct files *f, int fd)
{
	struct exe *e = &f->exes[EXE_VDSO];

	e->key = (struct file_key){ .size = 1 };
	e->used = true;
	return pass_on(f, EXE_VDSO, "[vdso]", 6, fd);
}

/* --- opening ---------------------------------------------------------------- */

static void next_open(struct files *f)
{
	while (f->connected && !f->opening && f->jobs < JOBS_MAX &&
	       (queue_get(&f->asked, &f->open) ||
		queue_get(&f->listed, &f->open))) {
		if (!wanted(f, &f->open.key))
			continue;
		if (opener_ask(f->opener, ++f->open_id, &f->open)) {
			f->stats->open_failed++;
			continue;
		}
		f->opening = true;
		f->open_since_ns = now_ns();
	}
}

void files_need(struct files *f, const struct need_file *need, bool listed)
{
	if (!listed)
		f->stats->needs++;
	if (!wanted(f, &need->key))
		return;
	/* an overlay's file has the identity of the file beneath it */
	if (!fs_trusted(need->key.magic)) {
		f->stats->fs_refused += !listed;
		return;
	}
	queue_put(listed ? &f->listed : &f->asked, need);
	next_open(f);
}

/* Does the kernel see, behind this descriptor, the file that was asked for? */
static int confirm(struct files *f, int fd)
{
	struct file_key key;
	void *p;
	int r;

	p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r = f->ops->identify(f->ctx, p, &key);
	munmap(p, 1);
	if (r)
		return r;
	return memcmp(&key, &f->open.key, sizeof(key)) ? -ESTALE : 0;
}

static void take_opened(struct files *f, struct msg *m)
{
	const struct msg_opened *o = (const void *)m->buf;
	int fd = msg_take_fd(m, 0), exe;

	if (confirm(f, fd)) {
		f->stats->key_mismatch++;
	} else {
		exe = number_for(f, &f->open.key);
		if (exe < 0)
			f->stats->table_full++;
		else
			pass_on(f, exe, (const char *)(o + 1), o->path_len, fd);
		if (exe >= 0)
			f->exes[exe].tgid = f->open.tgid;
	}
	close(fd);
}

static void open_failed(struct files *f, const struct msg_open_failed *m)
{
	f->stats->open_failed++;
	log_debug("open %u %llx-%llx: %s", f->open.tgid,
		  (unsigned long long)f->open.start,
		  (unsigned long long)f->open.end, strerror(m->error));
}

void files_opened(struct files *f, struct msg *m)
{
	/* an answer that a deadline has overtaken is for nobody */
	if (f->opening && m->hdr.id == f->open_id) {
		f->opening = false;
		if (m->hdr.type == MSG_OPENED)
			take_opened(f, m);
		else
			open_failed(f, (const void *)m->buf);
	}
	msg_close_fds(m);
	next_open(f);
}

/* --- tables ----------------------------------------------------------------- */

static void install(struct files *f, uint32_t exe, const void *data, size_t len)
{
	struct exe *e = &f->exes[exe];
	int r = tables_install(f->tables, data, len, &e->table);

	if (r == -ENOSPC && evict_one(f, exe, true)) {
		/* room only after the grace period: ask again then */
		entry_put(f, exe, FILE_PENDING | FILE_ASK);
		return;
	}
	if (r == -EPROTO)
		f->stats->table_bad++;
	else if (r)
		f->stats->table_full++;
	f->stats->tables += e->table.pages != 0;
	entry_put(f, exe, state_of(e));
}

void files_table(struct files *f, uint32_t exe, int fd)
{
	struct exe *e = exe < f->n ? &f->exes[exe] : NULL;
	const void *data;
	size_t len;

	if (!e || !e->used || !e->sent)
		return;
	e->sent = false;
	f->jobs--;
	if (e->table.pages) {
		entry_put(f, exe, FILE_TABLE);	/* it had one from before */
	} else if (fd < 0) {
		entry_put(f, exe, FILE_BARE);
	} else if (sealed_map(fd, sizeof(struct table_hdr), TABLE_BYTES_MAX,
			      &data, &len)) {
		f->stats->table_bad++;
		entry_put(f, exe, FILE_BARE);
	} else {
		install(f, exe, data, len);
		munmap((void *)data, len);
	}
	next_open(f);
}

void files_connected(struct files *f, bool connected)
{
	struct file_entry entry;

	f->connected = connected;
	f->jobs = 0;
	for (uint32_t i = EXE_FIRST; i < f->n; i++) {
		f->exes[i].sent = false;
		if (f->exes[i].used && !entry_get(f, &f->exes[i].key, &entry))
			entry_put(f, i, entry.state | FILE_ASK);
	}
	next_open(f);
}

uint32_t files_tgid(const struct files *f, uint32_t exe)
{
	return exe < f->n ? f->exes[exe].tgid : 0;
}

bool files_idle(const struct files *f)
{
	return !f->opening && !f->jobs && !f->asked.n && !f->listed.n;
}

void files_tick(struct files *f, uint64_t now)
{
	struct retired **p = &f->retired;

	if (f->opening && now - f->open_since_ns > OPEN_DEADLINE_NS) {
		opener_kill(f->opener);
		f->stats->open_killed++;
		f->opening = false;
	}
	while (*p) {
		struct retired *r = *p;

		if (now - r->since_ns < GRACE_NS) {
			p = &r->next;
			continue;
		}
		*p = r->next;
		tables_release(f->tables, &r->table);
		free(r);
	}
	next_open(f);
}
