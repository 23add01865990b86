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
#define HEADROOM		16	/* one part in so many is kept free */
#define FORGET_STEP		64	/* files a second: symbolizerd is told */

/* --- the queues ------------------------------------------------------------ */

static bool queue_has(const struct request_queue *q, const struct file_key *key)
{
	for (uint32_t i = 0; i < q->n; i++) {
		if (!memcmp(&q->need[(q->head + i) % REQUESTS_MAX].key, key,
			    sizeof(*key)))
			return true;
	}
	return false;
}

/* False when it is full. */
static bool queue_put(struct request_queue *q, const struct request_file *need)
{
	if (q->n == REQUESTS_MAX)
		return false;
	if (!queue_has(q, &need->key))
		q->need[(q->head + q->n++) % REQUESTS_MAX] = *need;
	return true;
}

static bool queue_get(struct request_queue *q, struct request_file *ret)
{
	if (!q->n)
		return false;
	*ret = q->need[q->head];
	q->head = (q->head + 1) % REQUESTS_MAX;
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

static bool files_wanted(struct files *f, const struct file_key *key)
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
	f->retired_elements += r->table.elements;
}

/* True if there is room that was not there before. */
static bool release_retired(struct files *f, uint64_t now)
{
	struct retired **p = &f->retired;
	bool released = !*p;

	while (*p) {
		struct retired *r = *p;

		if (now - r->since_ns < GRACE_NS) {
			p = &r->next;
			continue;
		}
		*p = r->next;
		f->retired_elements -= r->table.elements;
		tables_release(f->tables, &r->table);
		free(r);
		released = true;
	}
	return released;
}

/* The key goes first, its space and its number later.  False: not now. */
static bool forget(struct files *f, uint32_t exe)
{
	struct exe *e = &f->exes[exe];

	if (f->ops->dropped(f->ctx, exe) == -EAGAIN)
		return false;
	bpf_map_delete_elem(f->map_fd, &e->key);
	f->stats->files--;
	f->stats->tables -= e->table.pages != 0;
	f->jobs -= e->sent;
	f->waiting -= e->need != 0;
	retire(f, &e->table);
	*e = (struct exe){ .used_s = now_ns() / NSEC_PER_SEC };
	if (f->free_last)
		f->exes[f->free_last].next = exe;
	else
		f->free_first = exe;
	f->free_last = exe;
	return true;
}

static uint32_t last_use(struct files *f, const struct exe *e)
{
	struct file_entry entry;

	return entry_get(f, &e->key, &entry) ? 0 : entry.used_s;
}

/* Forget the file that was not used for the longest time; with_table: only one
 * whose table gives room back. */
static bool evict_one(struct files *f, uint32_t except, bool with_table)
{
	uint32_t now_s = now_ns() / NSEC_PER_SEC, found = 0;

	for (uint32_t i = EXE_FIRST; i < f->n; i++) {
		struct exe *e = &f->exes[i];

		if (e->used && f->uses_s != now_s)
			e->used_s = last_use(f, e);
		if (i == except || !e->used ||
		    (with_table && !e->table.n_runs) ||
		    (found && e->used_s >= f->exes[found].used_s))
			continue;
		found = i;
	}
	f->uses_s = now_s;
	if (!found || !forget(f, found))
		return false;
	f->stats->evicted++;
	return true;
}

/* Evict until, after the grace period, `need` more bytes will stay below. */
static void files_make_room(struct files *f, uint64_t below, uint64_t need,
			    uint32_t except)
{
	for (int i = 0; i < FORGET_STEP; i++) {
		uint64_t n = f->tables->elements - f->retired_elements;

		if (n * sizeof(union element) + need <= below ||
		    !evict_one(f, except, true))
			return;
	}
}

static int files_move(struct files *f, struct exe *e, uint32_t below)
{
	struct file_entry entry;
	struct table_ref copy;
	int r = entry_get(f, &e->key, &entry);

	if (!r)
		r = tables_copy(f->tables, &e->table, below, &copy);
	if (r)
		return r;
	entry.dir = copy.dir;
	bpf_map_update_elem(f->map_fd, &e->key, &entry, BPF_EXIST);
	retire(f, &e->table);
	e->table = copy;
	return 0;
}

/* So that slabs that are nearly empty become so: out of the last one. */
static void files_compact(struct files *f)
{
	uint32_t last = tables_spare(f->tables), left = FORGET_STEP / 4;

	for (uint32_t i = EXE_FIRST; last && left && i < f->n; i++) {
		struct exe *e = &f->exes[i];

		if (!e->used || !tables_in(&e->table, last))
			continue;
		if (files_move(f, e, last))
			return;
		left--;
	}
}

/* There may be room now for some tables that found none. */
static void ask_again(struct files *f)
{
	uint64_t room = f->tables->budget -
			f->tables->elements * sizeof(union element);

	for (uint32_t i = EXE_FIRST; f->waiting && i < f->n; i++) {
		if (!f->exes[i].need || f->exes[i].need > room)
			continue;
		room -= f->exes[i].need;
		f->exes[i].need = 0;
		f->waiting--;
		entry_put(f, i, FILE_PENDING | FILE_ASK);
	}
}

void files_mapped(struct files *f, const struct file_key *key)
{
	struct file_entry entry;

	if (!entry_get(f, key, &entry) && entry.exe < f->n)
		f->exes[entry.exe].mapped = true;
}

/* Where mappings cannot be listed, last use alone decides. */
static void sweep_begin(struct files *f)
{
	for (uint32_t i = EXE_FIRST; i < f->n; i++)
		f->exes[i].mapped = false;
	f->ops->list(f->ctx);
	f->listed_s = f->tick_s;
	f->sweep = EXE_FIRST;
}

static void sweep_on(struct files *f)
{
	int left = FORGET_STEP;

	for (; left && f->sweep && f->sweep < f->n; f->sweep++) {
		struct exe *e = &f->exes[f->sweep];

		if (!e->used || e->mapped || e->sent ||
		    (uint64_t)last_use(f, e) + f->idle_s > f->tick_s)
			continue;
		if (!forget(f, f->sweep))
			return;
		f->stats->forgotten++;
		left--;
	}
	if (f->sweep >= f->n)
		f->sweep = 0;
}

/* --- numbers ---------------------------------------------------------------- */

/* One that was freed so long ago that no record in the BPF ring has it: the
 * last tick came after the ring was drained.  0: none. */
static uint32_t number_again(struct files *f)
{
	uint32_t exe = f->free_first;

	if (!exe || (uint64_t)f->exes[exe].used_s + f->idle_s >= f->tick_s)
		return 0;
	f->free_first = f->exes[exe].next;
	if (!f->free_first)
		f->free_last = 0;
	return exe;
}

static int number_next(struct files *f)
{
	uint32_t cap = 2 * f->cap;
	struct exe *p;

	if (f->n > EXE_MAX)
		return -ENOSPC;
	if (f->n < f->cap)
		return f->n++;
	p = realloc(f->exes, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + f->cap, 0, (cap - f->cap) * sizeof(*p));
	f->exes = p;
	f->cap = cap;
	return f->n++;
}

/* A number for this identity: the one it has, a free one, or the next. */
static int number_for(struct files *f, const struct file_key *key)
{
	struct file_entry entry;
	int exe;

	if (!entry_get(f, key, &entry) && entry.exe < f->n)
		return entry.exe;
	exe = number_again(f);
	if (!exe)
		exe = number_next(f);
	if (exe < 0)
		return exe;
	f->exes[exe] = (struct exe){
		.key = *key, .used = true, .used_s = now_ns() / NSEC_PER_SEC,
	};
	f->stats->exes++;
	f->stats->files++;
	f->stats->numbers = f->n - EXE_FIRST;
	return exe;
}

static int files_pass_on(struct files *f, uint32_t exe, const char *path,
			 size_t len, int fd)
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
	       uint32_t idle_s, const struct files_ops *ops, void *ctx)
{
	*f = (struct files){
		.map_fd = map_fd, .tables = tables, .opener = opener,
		.stats = stats, .ops = ops, .ctx = ctx, .idle_s = idle_s,
		.n = EXE_FIRST, .cap = 256,
		.listed_s = now_ns() / NSEC_PER_SEC,
	};
	f->exes = calloc(f->cap, sizeof(*f->exes));
	return f->exes ? 0 : -ENOMEM;
}

int files_add_vdso(struct files *f, int fd)
{
	struct exe *e = &f->exes[EXE_VDSO];

	e->key = (struct file_key){ .size = 1 };
	e->used = true;
	return files_pass_on(f, EXE_VDSO, "[vdso]", 6, fd);
}

/* --- opening ---------------------------------------------------------------- */

static void next_open(struct files *f)
{
	while (f->connected && !f->opening && f->jobs < JOBS_MAX &&
	       (queue_get(&f->asked, &f->open) ||
		queue_get(&f->listed, &f->open))) {
		if (!files_wanted(f, &f->open.key))
			continue;
		if (opener_ask(f->opener, ++f->open_id, &f->open)) {
			f->stats->open_failed++;
			continue;
		}
		f->opening = true;
		f->open_since_ns = now_ns();
	}
}

void files_request(struct files *f, const struct request_file *need, bool listed)
{
	if (!listed)
		f->stats->file_requests++;
	if (!files_wanted(f, &need->key))
		return;
	/* an overlay's file has the identity of the file beneath it */
	if (!fs_trusted(need->key.magic)) {
		f->stats->fs_refused += !listed;
		return;
	}
	if (!queue_put(listed ? &f->listed : &f->asked, need) && listed)
		f->list_more = true;
	next_open(f);
}

bool files_list_again(struct files *f)
{
	if (!f->list_more || f->listed.n || f->list_exes == f->stats->exes)
		return false;
	f->list_more = false;
	f->list_exes = f->stats->exes;
	return true;
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
			files_pass_on(f, exe, (const char *)(o + 1),
				      o->path_len, fd);
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

	if (r == -ENOSPC) {
		files_make_room(f, f->tables->budget, len, exe);
		if (!f->retired)	/* no bytes are short, but rules */
			evict_one(f, exe, true);
		f->waiting += !e->need;
		e->need = len;
		entry_put(f, exe, FILE_PENDING);
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
	f->exes[EXE_VDSO].sent = false;
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
	f->tick_s = now / NSEC_PER_SEC;
	if (f->opening && now - f->open_since_ns > OPEN_DEADLINE_NS) {
		opener_kill(f->opener);
		f->stats->open_killed++;
		f->opening = false;
	}
	if (release_retired(f, now))
		ask_again(f);
	files_make_room(f, f->tables->budget, f->tables->budget / HEADROOM, 0);
	files_compact(f);
	sweep_on(f);
	if (!f->sweep && f->tick_s - f->listed_s >= f->idle_s)
		sweep_begin(f);
	next_open(f);
}
