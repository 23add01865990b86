// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_files.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/conn_more.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/interval.h"
#include "symbolizerd/tables/vdso.h"

#define TABLE_BYTES_MAX	(256u << 20)	/* of a worker's memfd */

/* No tail. */
static void loader_files_send(void *ctx, enum msg_type type, uint64_t id,
			      const void *payload, size_t len, int fd)
{
	struct loader_files *lf = ctx;

	loader_link_send(lf->link, type, id, payload, len, NULL, 0, fd);
}

/* --- to loaderd ------------------------------------------------------------- */

static void loader_files_install(void *ctx, uint64_t id,
				 const struct file_key *key,
				 const struct file_entry *entry,
				 uint32_t n_runs, int fd)
{
	struct msg_install m = { *key, *entry, n_runs, 0 };

	loader_files_send(ctx, MSG_INSTALL, id, &m, sizeof(m), fd);
}

static void loader_files_entry(void *ctx, uint64_t id,
			       const struct file_key *key,
			       const struct file_entry *entry)
{
	struct msg_entry m = { *key, *entry };

	loader_files_send(ctx, MSG_ENTRY, id, &m, sizeof(m), -1);
}

static void loader_files_slab_drop(void *ctx, uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	loader_files_send(ctx, MSG_SLAB_DROP, 0, &m, sizeof(m), -1);
}

static void loader_files_drop(void *ctx, uint64_t id,
			      const struct file_key *key)
{
	loader_files_send(ctx, MSG_DROP, id, key, sizeof(*key), -1);
}

static void loader_files_list(void *ctx)
{
	loader_files_send(ctx, MSG_LIST, 0, NULL, 0, -1);
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

	jobs_cancel(lf->jobs, number);
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
static struct executable *loader_files_assign(struct loader_files *lf,
					      uint32_t number,
					      const struct file_key *key,
					      const char *path, size_t len,
					      uint32_t *i)
{
	loader_files_renumber(lf, number, key);
	*i = executables_mention(&lf->k->exes, key, lf->k->interval, now_ns());
	if (*i == EXECUTABLE_NONE ||
	    executables_assign(&lf->k->exes, number, *i, path, len) < 0)
		return NULL;
	return executables_get(&lf->k->exes, *i);
}

static bool loader_files_adopted(void *ctx, uint32_t number,
				 const struct file_key *key)
{
	const struct executable *e;
	uint32_t i;

	e = loader_files_assign(ctx, number, key, NULL, 0, &i);
	return e && e->known && e->path;
}

/* loaderd has the key of this file, whose path has len bytes, and waits, with
 * id, for what to do with it.  True: the descriptor is taken over. */
static bool loader_files_met(struct loader_files *lf, const struct msg_exe *m,
			     uint64_t id, const char *path, size_t len, int fd)
{
	struct executable *e;
	int number;
	uint32_t i;

	number = files_exe(&lf->k->files, m, id);
	if (number < 0)
		return false;
	jobs_cancel(lf->jobs, (uint32_t)number);
	e = loader_files_assign(lf, (uint32_t)number, &m->key, path, len, &i);
	if (!e)
		files_later(&lf->k->files, (uint32_t)number);
	else if (e->known && files_has_answer(&lf->k->files, (uint32_t)number))
		files_settled(&lf->k->files, (uint32_t)number);
	else if (e->quarantined)
		files_no_table(&lf->k->files, (uint32_t)number);
	else if (jobs_add(lf->jobs, (uint32_t)number, i, fd))
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

/* --- from loaderd ------------------------------------------------------------ */

static int loader_files_on_slab(struct loader_files *lf, const struct msg *msg)
{
	struct msg_slab m;
	const void *map;
	size_t len;

	memcpy(&m, msg->buf, sizeof(m));
	if (lf->link->adopted ||
	    sealed_map(msg->fds[0], sizeof(struct slab_copy),
		       sizeof(struct slab_copy), &map, &len) < 0)
		return MSG_BAD_CONTENT;
	if (files_adopt_slab(&lf->k->files, m.slab, map))
		return MSG_OK;
	munmap((void *)map, len);
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
	files_adopt(&lf->k->files, known, m.n);
	for (uint32_t i = 0; i < m.n; i++)
		vdso |= vdso_is(&known[i].key);
	munmap((void *)map, len);
	lf->link->adopted = true;
	if (lf->k->files.stats.files)
		log_info("found %u files of a former hub",
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
	    memchr(path, '\0', len))
		return MSG_BAD_CONTENT;
	if (loader_files_met(lf, &m, msg->hdr.id, path, len, msg->fds[0]))
		msg_take_fd(msg, 0);
	return MSG_OK;
}

static int loader_files_on_mapped(struct loader_files *lf, const struct msg *msg)
{
	const void *map;
	size_t len;

	if (sealed_map(msg->fds[0], MAPPED_BYTES, MAPPED_BYTES, &map, &len) < 0)
		return MSG_BAD_CONTENT;
	files_mapped(&lf->k->files, map);
	munmap((void *)map, len);
	return MSG_OK;
}

/* The answer to a question for memory or for a debug file: by its id. */
static int loader_files_on_wanted(struct loader_files *lf, struct msg *msg)
{
	struct msg_open_failed none = { .error = 0 };
	bool file = msg->hdr.type == MSG_WANTED_FILE;

	if (!file)
		memcpy(&none, msg->buf, sizeof(none));
	if (msg->hdr.id < JOBS_MEMORY_ID)
		jobs_debug(lf->jobs, (uint32_t)msg->hdr.id,
			   file ? msg->fds[0] : -1);
	else
		jobs_memory(lf->jobs, msg->hdr.id,
			    file ? msg_take_fd(msg, 0) : -1,
			    (int)(none.error & 0xfff));
	return MSG_OK;
}

int loader_files_on_message(void *ctx, struct msg *msg)
{
	struct loader_files *lf = ctx;

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
	       executables_number(&lf->k->exes, number) ==
		       executables_get(&lf->k->exes, i);
}

static int loader_files_table(void *ctx, uint32_t number, int fd)
{
	struct loader_files *lf = ctx;
	const struct executable *e = executables_number(&lf->k->exes, number);
	const void *map;
	size_t len;

	if (sealed_map(fd, sizeof(struct table_hdr), TABLE_BYTES_MAX, &map,
		       &len) < 0)
		return MSG_BAD_CONTENT;
	files_runtime(&lf->k->files, number, e ? e->runtime : RUNTIME_NONE);
	files_table(&lf->k->files, number, map, len);
	munmap((void *)map, len);
	return MSG_OK;
}

static void loader_files_no_table(void *ctx, uint32_t number)
{
	files_no_table(&((struct loader_files *)ctx)->k->files, number);
}

/* A worker wants a debug file: loaderd opens it as a process that ran the
 * executable would.  The question's id is the file's number. */
static int loader_files_debug(void *ctx, uint32_t number, struct msg_wanted *m)
{
	struct loader_files *lf = ctx;
	const struct known_file *f = files_get(&lf->k->files, number);

	m->tgid = f ? f->tgid : 0;
	return m->tgid ? loader_link_send(lf->link, MSG_DEBUG_WANTED, number, m,
					  sizeof(*m), NULL, 0, -1) : -ENOENT;
}

/* The opener opens it, loaderd vouches that it is this process's. */
static int loader_files_memory(void *ctx, uint64_t id,
			       const struct job_process *p)
{
	struct msg_wanted m = { .tgid = p->tgid, .start_ns = p->start_ns };

	return loader_link_send(((struct loader_files *)ctx)->link,
				MSG_MEM_WANTED, id, &m, sizeof(m), NULL, 0, -1);
}

static void loader_files_offence(void *ctx, int verdict)
{
	knowledge_offence(((struct loader_files *)ctx)->k, "worker",
			  verdict);
}

const struct jobs_ops loader_files_jobs = {
	loader_files_exe, loader_files_meant, loader_files_table,
	loader_files_no_table, loader_files_debug, loader_files_offence,
	loader_files_memory, NULL,
};
