// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/conn.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/knowledge/debug_paths.h"
#include "symbolizerd/tables/vdso.h"

#define TABLE_BYTES_MAX	(256u << 20)	/* of a worker's memfd */

/* --- to loaderd ------------------------------------------------------------- */

static void loader_files_send(void *ctx, unsigned int type, uint64_t id,
			      const void *payload, size_t len)
{
	struct loader_files *lf = ctx;

	loader_link_send(lf->link, type, id, payload, len, NULL, 0, -1);
}

/* Of the present connection. */
static struct slab_writer *loader_files_writer(struct loader_files *lf)
{
	if (!lf->writer.send)
		slab_writer_init(&lf->writer, loader_files_send, lf);
	if (lf->connection != lf->link->connection)
		slab_writer_reset(&lf->writer);
	lf->connection = lf->link->connection;
	return &lf->writer;
}

/* Messages about tables go in their order. */
static void loader_files_put(struct loader_files *lf, unsigned int type, uint64_t id,
			     const void *payload, size_t len)
{
	if (slab_writer_put(loader_files_writer(lf), type, id, payload, len))
		lf->link->clogged = true;
}

static void loader_files_install(void *ctx, uint64_t id, const struct file_key *key,
				 const struct file_entry *entry,
				 uint32_t n_runs, int fd)
{
	struct loader_files *lf = ctx;
	struct msg_entry m = { *key, *entry };

	if (slab_writer_install(loader_files_writer(lf), id, &m, n_runs, fd))
		lf->link->clogged = true;
}

static void loader_files_entry(void *ctx, uint64_t id, const struct file_key *key,
			       const struct file_entry *entry)
{
	struct msg_entry m = { *key, *entry };

	loader_files_put(ctx, MSG_ENTRY, id, &m, sizeof(m));
}

static void loader_files_slab_drop(void *ctx, uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	loader_files_put(ctx, MSG_SLAB_DROP, 0, &m, sizeof(m));
}

static void loader_files_drop(void *ctx, uint64_t id, const struct file_key *key)
{
	loader_files_put(ctx, MSG_DROP, id, key, sizeof(*key));
}

static void loader_files_list(void *ctx)
{
	loader_files_put(ctx, MSG_LIST, 0, NULL, 0);
}

/* --- numbers ----------------------------------------------------------------- */

static void loader_files_void(struct loader_files *lf, uint32_t number)
{
	const struct executable *e = executables_number(&lf->k->exes, number);

	processes_drop_number(&lf->k->processes, number, e ? e->path : NULL);
}

static void loader_files_dropped(void *ctx, uint32_t number)
{
	struct loader_files *lf = ctx;

	jobs_dropped(lf->jobs, number);
	loader_files_void(lf, number);
	/* without memory the number just stays */
	(void)!executables_retire(&lf->k->exes, number, lf->k->interval);
}

/*
 * A number that was dropped may be given to another file.  By then loaderd has
 * sent all records with the old meaning: take them, and make batches of them
 * first.  Most often the number was retired long before, and there is
 * nothing to do.
 */
static void loader_files_renumber(struct loader_files *lf, uint32_t number,
				  const struct file_key *key)
{
	const struct executable *e = executables_number(&lf->k->exes, number);

	if (!e || !memcmp(&e->key, key, sizeof(*key)))
		return;
	loader_link_drain(lf->link);
	interval_end(lf->k, true);
	loader_files_void(lf, number);
}

/* The entry for a key that has this number; NULL without memory. */
static struct executable *loader_files_assign(struct loader_files *lf, uint32_t number,
					      const struct file_key *key,
					      const char *path, size_t len,
					      bool host, uint32_t *i)
{
	loader_files_renumber(lf, number, key);
	*i = executables_mention(&lf->k->exes, key, lf->k->interval);
	if (path)
		len = process_path_len(path, len);
	if (*i == EXECUTABLE_NONE ||
	    executables_assign(&lf->k->exes, number, *i, path, len, host) < 0)
		return NULL;
	return executables_get(&lf->k->exes, *i);
}

static bool loader_files_adopted(void *ctx, uint32_t number, const struct file_key *key)
{
	const struct executable *e;
	uint32_t i;

	e = loader_files_assign(ctx, number, key, NULL, 0, false, &i);
	return e && e->known && e->path;
}

/* --- descriptors that are kept ------------------------------------------------ */

static void loader_files_let_go(struct loader_files *lf, uint32_t i)
{
	int fd = executables_take_fd(&lf->k->exes, i);

	if (fd >= 0)
		close(fd);
}

/* Have the symbols read, if they are wanted. */
static void loader_files_symbols(struct loader_files *lf, uint32_t i)
{
	struct executable *e = executables_get(&lf->k->exes, i);
	int fd;

	if (!e->wanted || e->fd < 0 || e->jobs)
		return;
	fd = executables_take_fd(&lf->k->exes, i);
	/* no place: tried again at the next tick */
	if (!jobs_add(lf->jobs, e->number, i, e->owner, JOB_SYMBOLS, fd) &&
	    !executables_keep(&lf->k->exes, i, fd, now_ns()))
		close(fd);
}

/* Its program began, and no sample has met it: so nothing holds on to it.  The first
 * sample asks for it. */
static bool loader_files_not_yet(struct loader_files *lf, const struct executable *e)
{
	if (executables_number(&lf->k->exes, e->number) == e)
		files_later(&lf->k->files, e->number);
	return false;
}

static bool loader_files_keep(void *ctx, uint32_t i, int fd)
{
	struct loader_files *lf = ctx;
	struct executables *x = &lf->k->exes;
	struct executable *e = executables_get(x, i);
	uint32_t first;

	if (e->fd >= 0 || (!e->numbers && !e->wanted))
		return false;
	if (e->begins && !e->wanted)
		return loader_files_not_yet(lf, e);
	while (!executables_may_keep(x, e->owner, &first)) {
		x->crowded++;
		loader_files_let_go(lf, first == EXECUTABLE_NONE ? i : first);
		if (first == EXECUTABLE_NONE)
			return false;
	}
	if (!executables_keep(x, i, fd, now_ns()))
		return false;
	loader_files_symbols(lf, i);
	return true;
}

/* Often of files that loaderd has not opened: then it costs next to nothing. */
void loader_files_wanted(struct loader_files *lf, struct executable *e)
{
	bool known = executables_number(&lf->k->exes, e->number) == e;
	bool ask = e->fd < 0 || (e->table_later && known);	/* loaderd waits for a table */
	uint64_t begin;

	if (e->jobs || (ask && !known))
		return;
	begin = cpu_share_begin();
	if (ask)
		files_later(&lf->k->files, e->number);
	else
		loader_files_symbols(lf, executables_find(&lf->k->exes, &e->key));
	cpu_share_end(&lf->k->share, begin);
}

/* Those for which there was no place in the queue: the last one first, since each
 * that gets one leaves the list. */
static void loader_files_retry(struct loader_files *lf)
{
	const struct executables *x = &lf->k->exes;

	for (uint32_t i = x->kept_list.n; i-- > 0;)
		loader_files_symbols(lf, x->kept_list.v[i]);
}

/* A descriptor keeps its file system busy, so close those of files that are not mapped
 * any more: their samples have come by now. */
static void loader_files_let_unmapped_go(struct loader_files *lf)
{
	const struct executables *x = &lf->k->exes;
	uint64_t now = now_ns();

	for (uint32_t i = x->kept_list.n; i-- > 0;) {
		uint32_t exe = x->kept_list.v[i];
		const struct executable *e = executables_get(x, exe);
		const struct known_file *f;

		if (e->wanted || now - e->kept_ns < x->kept_s * NSEC_PER_SEC)
			continue;
		f = files_get(&lf->k->files, e->number);
		if (f && f->mapped)
			continue;
		loader_files_let_go(lf, exe);
		/* BPF asks again when a process that maps it is sampled */
		if (executables_number(&lf->k->exes, e->number) == e)
			files_later(&lf->k->files, e->number);
	}
}

/* Whose file it is, and where it lies. */
static uint32_t loader_files_owner(int fd, uint64_t *layer)
{
	struct stat st;

	if (fstat(fd, &st))
		return OWNER_UNKNOWN;
	*layer = MSG_LAYER(st.st_dev, st.st_ino);
	return owner_of_uid(st.st_uid);
}

/* Its table is there, perhaps by a former hub.  True: the descriptor is taken
 * over. */
static bool loader_files_met_again(struct loader_files *lf, uint32_t number, uint32_t i, int fd)
{
	const struct executable *e = executables_get(&lf->k->exes, i);

	files_settled(&lf->k->files, number);
	return !executable_is_read(e) && !e->jobs && loader_files_keep(lf, i, fd);
}

/* It has none, for now: executable_want() asks for it again. */
static void loader_files_table_later(struct loader_files *lf, uint32_t number,
				     struct executable *e)
{
	e->table_later = true;
	files_no_table(&lf->k->files, number, FILE_BARE);
}

/* Have a worker read what is not known; the same. */
static bool loader_files_read(struct loader_files *lf, uint32_t number, uint32_t i, int fd)
{
	struct executable *e = executables_get(&lf->k->exes, i);
	uint32_t parts = JOB_TABLE;

	e->table_later = false;
	if (!e->wanted)		/* else its samples wait */
		e->named = e->s.map || e->s.partial;	/* there may be room now */
	if (number == EXE_VDSO)
		parts |= JOB_SYMBOLS;
	return jobs_add(lf->jobs, number, i, e->owner, parts, fd);
}

/* A jitdump is mapped to be found, not to run: it has no table, and loaderd sends it
 * again when it lists what its process maps. */
static bool loader_files_is_dump(struct loader_files *lf, const struct msg_exe *m,
				 const char *path, size_t len, int fd)
{
	if (!jit_early_is_dump(path, process_path_len(path, len)))
		return false;
	jit_dump(&lf->k->jit, &m->process, fd, now_ns());
	return true;
}

/* loaderd has the key of this file, whose path has len bytes, and waits, with
 * id, for what to do with it.  True: the descriptor is taken over. */
static bool loader_files_met(struct loader_files *lf, const struct msg_exe *m,
			     uint64_t id, const char *path, size_t len, int fd)
{
	uint64_t layer = 0;
	uint32_t owner = loader_files_owner(fd, &layer), i;
	struct executable *e;
	int number;

	number = files_exe(&lf->k->files, m, owner, id);
	if (number < 0)
		return false;
	jobs_cancel(lf->jobs, (uint32_t)number);
	e = loader_files_assign(lf, (uint32_t)number, &m->key, path, len, m->host, &i);
	if (e) {
		executable_give(e, owner);
		e->layer = layer;
		e->begins = m->begins;
	}
	if (!e || loader_files_is_dump(lf, m, path, len, fd))
		files_later(&lf->k->files, (uint32_t)number);
	else if (files_has_answer(&lf->k->files, (uint32_t)number) &&
		 (!e->table_later || e->quarantined))
		return loader_files_met_again(lf, (uint32_t)number, i, fd);
	else if (e->quarantined)
		loader_files_table_later(lf, (uint32_t)number, e);
	else if (loader_files_read(lf, (uint32_t)number, i, fd))
		return true;
	else
		files_later(&lf->k->files, (uint32_t)number);
	return false;
}

static void loader_files_vdso(void *ctx)
{
	struct msg_exe m = { .key = VDSO_KEY };
	int fd = vdso_image();

	if (fd >= 0 && !loader_files_met(ctx, &m, 0, "[vdso]", 6, fd))
		close(fd);
}

const struct tables_out loader_files_out = {
	loader_files_install, loader_files_entry, loader_files_slab_drop,
	loader_files_drop, loader_files_list, loader_files_vdso,
	loader_files_adopted, loader_files_dropped,
};

/* --- files that are put off -------------------------------------------------- */

/* A MSG_EXE that was judged. */
static void loader_files_meet(struct loader_files *lf, struct msg *msg)
{
	const char *path = (const char *)msg->buf + sizeof(struct msg_exe);
	size_t len = msg->hdr.len - sizeof(struct msg_exe);
	struct msg_exe m;

	memcpy(&m, msg->buf, sizeof(m));
	if (loader_files_met(lf, &m, msg->hdr.id, path, len, msg->fds[0]))
		msg_take_fd(msg, 0);
}

/* Hold the message, and take over its descriptor.  False: there is no room. */
static bool loader_files_hold(struct loader_files *lf, struct msg *msg)
{
	struct msg *m = NULL;

	if (lf->n_held < EXE_AHEAD)
		m = malloc(sizeof(*m));
	if (!m)
		return false;
	*m = *msg;
	msg_take_fd(msg, 0);
	lf->held[lf->n_held++] = m;
	lf->k->stats.files_put_off++;
	return true;
}

/* The first n are done with. */
static void loader_files_release(struct loader_files *lf, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		msg_close_fds(lf->held[i]);
		free(lf->held[i]);
	}
	lf->n_held -= n;
	memmove(lf->held, lf->held + n, lf->n_held * sizeof(lf->held[0]));
}

static void loader_files_take_up(struct loader_files *lf)
{
	uint32_t n = 0;

	while (n < lf->n_held && cpu_share_left(&lf->k->share, now_ns()))
		loader_files_meet(lf, lf->held[n++]);
	loader_files_release(lf, n);
}

void loader_files_tick(struct loader_files *lf)
{
	const struct executables *x = &lf->k->exes;
	uint64_t begin = cpu_share_begin();

	if (!lf->link->adopted)		/* loaderd does not wait for an answer */
		loader_files_release(lf, lf->n_held);
	loader_files_take_up(lf);
	loader_files_retry(lf);
	visits_ask(&lf->k->lines.visits, true, now_ns());
	debug_files_tick(&lf->k->debug_files, &lf->k->exes, lf->k->interval, now_ns());
	lf->k->files.list_s = x->kept.total ? x->kept_s : 0;
	cpu_share_end(&lf->k->share, begin);
}

void loader_files_fini(struct loader_files *lf)
{
	loader_files_release(lf, lf->n_held);
	owners_fini(&lf->hangs.by_owner);
	slab_writer_reset(loader_files_writer(lf));
}

/* --- from loaderd ------------------------------------------------------------ */

/* Left by a former hub, or asked for by this one. */
static int loader_files_on_slab(struct loader_files *lf, struct msg *msg)
{
	struct slab_writer *w = loader_files_writer(lf);
	bool left = !lf->link->adopted;
	struct msg_slab m;
	void *map;

	memcpy(&m, msg->buf, sizeof(m));
	if ((!left && !slab_writer_asked(w, m.slab)) ||
	    !slab_writer_take(w, m.slab, msg->fds[0]))
		return MSG_BAD_CONTENT;
	msg_take_fd(msg, 0);
	if (!left) {
		if (slab_writer_go(w))
			lf->link->clogged = true;
		return MSG_OK;
	}
	map = mmap(NULL, sizeof(struct slab_copy), PROT_READ, MAP_SHARED, w->fd[m.slab], 0);
	if (map == MAP_FAILED)
		return MSG_BAD_CONTENT;
	if (files_adopt_slab(&lf->k->files, m.slab, map))
		return MSG_OK;
	munmap(map, sizeof(struct slab_copy));
	return MSG_BAD_CONTENT;
}

static int loader_files_on_known(struct loader_files *lf, const struct msg *msg)
{
	const struct msg_entry *known;
	struct msg_known m;
	bool vdso = false;
	const void *map;
	size_t len;

	memcpy(&m, msg->buf, sizeof(m));
	len = (m.n ? m.n : 1) * sizeof(struct msg_entry);
	if (lf->link->adopted || m.n > FILES_MAX ||
	    sealed_map(msg->fds[0], len, len, &map, &len) < 0)
		return MSG_BAD_CONTENT;
	known = map;
	loader_files_release(lf, lf->n_held);		/* of a former connection */
	files_adopt(&lf->k->files, known, m.n);
	for (uint32_t i = 0; i < m.n; i++)
		vdso |= vdso_is(&known[i].key);
	munmap((void *)map, len);
	lf->link->adopted = true;
	if (lf->k->files.stats.files)
		log_info("loaderd has the tables of %u files already",
			 (unsigned int)lf->k->files.stats.files);
	if (vdso)
		loader_files_vdso(lf);
	return MSG_OK;
}

static int loader_files_on_exe(struct loader_files *lf, struct msg *msg)
{
	const char *path = (const char *)msg->buf + sizeof(struct msg_exe);
	size_t len = msg->hdr.len - sizeof(struct msg_exe);
	struct msg_exe m;

	memcpy(&m, msg->buf, sizeof(m));
	if (!lf->link->adopted || !msg->hdr.id || m.no_room > 1 ||
	    m.host > 1 || m.begins > 1 || m.pad ||
	    memchr(path, '\0', len))
		return MSG_BAD_CONTENT;
	if (cpu_share_left(&lf->k->share, now_ns()) || !loader_files_hold(lf, msg))
		loader_files_meet(lf, msg);
	return MSG_OK;
}

static int loader_files_on_mapped(struct loader_files *lf, const struct msg *msg)
{
	const void *map;
	size_t len;

	if (sealed_map(msg->fds[0], MAPPED_BYTES, MAPPED_BYTES, &map, &len) < 0)
		return MSG_BAD_CONTENT;
	files_mapped(&lf->k->files, map);
	loader_files_let_unmapped_go(lf);
	munmap((void *)map, len);
	return MSG_OK;
}

/* The answer to a worker's question, by the number of its file; fd: owned, -1: none. */
static void loader_files_debug_came(struct loader_files *lf, uint32_t number, int fd)
{
	jobs_debug(lf->jobs, number, fd, DEBUG_LOCAL);
	if (fd < 0)
		debug_files_no_alternate(&lf->k->debug_files, number, now_ns());
	else
		close(fd);
}

/* A file system of this user's process did not answer. */
static void loader_files_hung(struct loader_files *lf, uint32_t owner)
{
	if (hangs_note(&lf->hangs, owner))
		log_warn("too many file systems of processes do not answer: debug files are "
			 "searched for on the host alone, and no perf map is opened any more");
}

/* False, and counted: it is not to be entered. */
static bool loader_files_may_enter(struct loader_files *lf, uint32_t owner)
{
	if (hangs_allow(&lf->hangs, owner))
		return true;
	lf->k->stats.hang_refused++;
	return false;
}

/* The answer to a question for a debug file by this number. */
static void loader_files_debug_hung(struct loader_files *lf, uint32_t number)
{
	const struct known_file *f = files_get(&lf->k->files, number);

	if (f)
		loader_files_hung(lf, f->runs_as);
}

/* The answer to a question for memory or for a debug file: by its id. */
static int loader_files_on_wanted(struct loader_files *lf, struct msg *msg)
{
	struct msg_open_failed none = { .error = 0 };
	uint64_t id = msg->hdr.id;
	int fd = -1;

	if (msg->hdr.type == MSG_WANTED_FILE)
		fd = msg_take_fd(msg, 0);
	else
		memcpy(&none, msg->buf, sizeof(none));
	if (none.error == ETIMEDOUT && (id < JOBS_MEMORY_ID || id >= DEBUG_AGAIN_ID))
		loader_files_debug_hung(lf, (uint32_t)id);
	else if (none.error == ETIMEDOUT)
		none.error = HANG;
	if (id < JOBS_MEMORY_ID)
		loader_files_debug_came(lf, (uint32_t)id, fd);
	else if (id >= DEBUG_AGAIN_ID)
		debug_files_answer(&lf->k->debug_files, &lf->k->exes, (uint32_t)id, fd, now_ns());
	else
		jobs_memory(lf->jobs, id, fd, (int)(none.error & 0xfff));
	return MSG_OK;
}

static int loader_files_handle(struct loader_files *lf, struct msg *msg)
{
	switch (msg->hdr.type) {
	case MSG_SLAB:
		return loader_files_on_slab(lf, msg);
	case MSG_KNOWN:
		return loader_files_on_known(lf, msg);
	case MSG_EXE:
		return loader_files_on_exe(lf, msg);
	case MSG_MAPPED:
		return loader_files_on_mapped(lf, msg);
	case MSG_WANTED_FILE:
	case MSG_WANTED_NONE:
		return loader_files_on_wanted(lf, msg);
	default:
		return MSG_BAD_TYPE;
	}
}

int loader_files_on_message(void *ctx, struct msg *msg)
{
	struct loader_files *lf = ctx;
	uint64_t begin = cpu_share_begin();
	int r = loader_files_handle(lf, msg);

	cpu_share_end(&lf->k->share, begin);
	return r;
}

/* --- from the workers ---------------------------------------------------------- */

static struct executable *loader_files_exe(void *ctx, uint32_t i)
{
	return executables_get(&((struct loader_files *)ctx)->k->exes, i);
}

/* The number still stands for this file. */
static bool loader_files_meant(void *ctx, uint32_t number, uint32_t i)
{
	struct loader_files *lf = ctx;

	return files_get(&lf->k->files, number) &&
	       executables_number(&lf->k->exes, number) == executables_get(&lf->k->exes, i);
}

static int loader_files_table(void *ctx, uint32_t number, int fd)
{
	struct loader_files *lf = ctx;
	const struct executable *e = executables_number(&lf->k->exes, number);
	const void *map;
	size_t len;
	int r = sealed_map(fd, sizeof(struct table_hdr), TABLE_BYTES_MAX, &map, &len);

	if (r == -ENOMEM) {	/* ours, not the worker's fault */
		files_later(&lf->k->files, number);
		return MSG_OK;
	}
	if (r)
		return MSG_BAD_CONTENT;
	files_runtime(&lf->k->files, number, e ? e->runtime : RUNTIME_NONE);
	files_table(&lf->k->files, number, map, len);
	munmap((void *)map, len);
	return MSG_OK;
}

static void loader_files_no_table(void *ctx, uint32_t number, int verdict)
{
	struct knowledge *k = ((struct loader_files *)ctx)->k;
	struct executable *e = executables_number(&k->exes, number);
	enum file_state state = FILE_BARE;

	if (verdict == JOB_CODE)
		state = FILE_CODE;
	if (e)
		e->table_later = executable_later(verdict);
	files_no_table(&k->files, number, state);
}

static void loader_files_pending(void *ctx, uint32_t number)
{
	files_pending(&((struct loader_files *)ctx)->k->files, number);
}

/* loaderd opens a debug file as a process that ran the executable would; q: what a
 * worker says of its name. */
static int loader_files_look(struct loader_files *lf, uint64_t id, uint32_t number,
			     const struct build_id *build_id, const struct msg_wanted *q)
{
	const struct executable *e = executables_number(&lf->k->exes, number);
	const struct known_file *f = files_get(&lf->k->files, number);
	struct msg_wanted m = { .layer = 0 };

	if (!e || !f || !f->tgid)
		return -ENOENT;
	if (loader_files_may_enter(lf, f->runs_as))
		m.process.tgid = f->tgid;
	m.layer = e->layer;
	if (q->alternate == DEBUG_ALTERNATE)
		debug_paths_alternate(&m, build_id, q->paths);
	else if (q->alternate == DEBUG_PACKAGE)
		debug_paths_package(&m, e->path, q->paths);
	else
		debug_paths_set(&m, build_id, e->path, q->paths);
	return loader_link_send(lf->link, MSG_DEBUG_WANTED, id, &m, sizeof(m), NULL, 0, -1);
}

/* A worker wants a debug file.  loaderd's question has the file's number as id. */
static int loader_files_debug(void *ctx, uint32_t number, const struct msg_wanted *q)
{
	struct loader_files *lf = ctx;
	struct executable *e = executables_number(&lf->k->exes, number);
	struct build_id id = { .len = q->build_id_len };
	const struct debug_at_hand *h = NULL;

	memcpy(id.bytes, q->build_id, sizeof(id.bytes));
	if (e)
		h = debug_files_get(&lf->k->debug_files, &id, e->owner, now_ns());
	if (e && !h) {
		debug_files_wants(&lf->k->debug_files, e, q);
		executable_missed_debug(e);
	}
	if (!h)
		return loader_files_look(lf, number, number, &id, q);
	jobs_debug(lf->jobs, number, h->fd, h->source);
	return 0;
}

static int loader_files_ask_again(void *ctx, uint32_t number, const struct build_id *id)
{
	static const struct msg_wanted by_id;

	return loader_files_look(ctx, DEBUG_AGAIN_ID + number, number, id, &by_id);
}

const struct debug_files_ops loader_files_debug_ops = { .ask = loader_files_ask_again };

/* Whose the process is of which a perf map is wanted. */
static uint32_t loader_files_map_owner(const struct loader_files *lf, const struct job_process *p)
{
	const struct visit_target *t = visits_find(&lf->k->jit.visits, p->target);

	return t ? t->owner : OWNER_UNKNOWN;
}

/* The opener opens it, loaderd vouches that it is this process's. */
static int loader_files_memory(void *ctx, uint64_t id, const struct job_process *p)
{
	struct msg_wanted m = { .process = p->process };
	unsigned int type = MSG_MEM_WANTED;
	struct loader_files *lf = ctx;

	if (p->runtime == RUNTIME_NONE) {
		type = MSG_PERF_MAP_WANTED;
		if (!loader_files_may_enter(lf, loader_files_map_owner(lf, p)))
			return -EPERM;
	}
	return loader_link_send(lf->link, type, id, &m, sizeof(m), NULL, 0, -1);
}

static int loader_files_opened(void *ctx, const struct job_process *p, int fd)
{
	struct knowledge *k = ((struct loader_files *)ctx)->k;
	uint64_t boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	if (p->runtime != RUNTIME_NONE)
		return 0;
	return jit_opened(&k->jit, p->target, fd, boot_ns + p->process.start_ns);
}

static void loader_files_names(void *ctx, const struct job_process *p,
			       const struct job_names *names, int result)
{
	struct loader_files *lf = ctx;
	struct knowledge *k = lf->k;
	struct visits *visits = &k->managed.visits;

	if (result == -HANG && p->runtime == RUNTIME_NONE)
		loader_files_hung(lf, loader_files_map_owner(lf, p));
	else if (result == -HANG)	/* no file system: it may be had later */
		result = -ETIMEDOUT;

	if (p->kind == JOB_LINES)
		visits = &k->lines.visits;
	else if (p->runtime == RUNTIME_NONE)
		visits = &k->jit.visits;
	if (names && p->kind == JOB_LINES)
		source_lines_answer(&k->lines, p->target, &names->codes, now_ns());
	else
		visits_answer(visits, p->target, names ? &names->names : NULL, result, now_ns());
}

static bool loader_files_symbols_room(void *ctx, uint32_t i, size_t len)
{
	struct knowledge *k = ((struct loader_files *)ctx)->k;

	return executables_symbols_room(&k->exes, executables_get(&k->exes, i), len, k->interval);
}

static void loader_files_offence(void *ctx, int verdict)
{
	knowledge_offence(((struct loader_files *)ctx)->k, "worker", verdict);
}

static void loader_files_forked(void *ctx, pid_t pid, uint64_t from_ns)
{
	own_note_worker(&((struct loader_files *)ctx)->k->own, pid, from_ns);
}

static void loader_files_used(void *ctx, const struct job_slot *slot, uint64_t cpu_ns)
{
	struct knowledge *k = ((struct loader_files *)ctx)->k;

	user_share_use(&k->workers, slot->job.owner, cpu_ns);
	if (slot->kind == JOB_LINES)
		source_lines_used(&k->lines, slot->job.owner, cpu_ns);
	if (slot->job.again)
		read_again_used(&k->exes.again, slot->job.owner, cpu_ns);
}

const struct jobs_ops loader_files_jobs = {
	loader_files_exe, loader_files_meant, loader_files_table, loader_files_no_table,
	loader_files_debug, loader_files_offence, loader_files_memory, loader_files_names,
	loader_files_pending, loader_files_keep, loader_files_symbols_room, loader_files_forked,
	loader_files_opened, loader_files_used,
};
