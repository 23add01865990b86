// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_files.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/clock.h"
#include "ipc/conn_more.h"
#include "ipc/sealed.h"
#include "symbolizerd/hub/hub.h"
#include "symbolizerd/hub/interval.h"

#define TABLE_BYTES_MAX	(256u << 20)	/* of a worker's memfd */

/* --- to loaderd ------------------------------------------------------------- */

static void loader_files_install(void *ctx, uint64_t id,
				 const struct file_key *key,
				 const struct file_entry *entry,
				 uint32_t n_runs, int fd)
{
	struct msg_install m = { *key, *entry, n_runs, 0 };

	loader_link_send(ctx, MSG_INSTALL, id, &m, sizeof(m), NULL, 0, fd);
}

static void loader_files_entry(void *ctx, uint64_t id,
			       const struct file_key *key,
			       const struct file_entry *entry)
{
	struct msg_entry m = { *key, *entry };

	loader_link_send(ctx, MSG_ENTRY, id, &m, sizeof(m), NULL, 0, -1);
}

static void loader_files_free(void *ctx, uint64_t id,
			      const struct table_span *spans, uint32_t n)
{
	struct msg_free m = { .n = n };

	loader_link_send(ctx, MSG_FREE, id, &m, sizeof(m), spans,
			 n * sizeof(*spans), -1);
}

static void loader_files_drop(void *ctx, uint64_t id,
			      const struct file_key *key)
{
	struct msg_drop m = { *key };

	loader_link_send(ctx, MSG_DROP, id, &m, sizeof(m), NULL, 0, -1);
}

static void loader_files_list(void *ctx)
{
	loader_link_send(ctx, MSG_LIST, 0, NULL, 0, NULL, 0, -1);
}

/* --- numbers ----------------------------------------------------------------- */

static void loader_files_void(struct hub *hub, uint32_t number)
{
	const struct executable *e = executables_number(&hub->exes, number);

	processes_drop_number(&hub->processes, number, e ? e->path : NULL);
}

static void loader_files_dropped(void *ctx, uint32_t number)
{
	struct hub *hub = ctx;

	jobs_cancel(&hub->jobs, number);
	loader_files_void(hub, number);
	/* without memory the number just stays */
	(void)!executables_retire(&hub->exes, number, hub->interval);
}

/*
 * A number that was dropped may come to mean another file.  loaderd has put all
 * records that carry the old meaning into the ring by then, so take them and be
 * done with them first.  Most often the number was retired long before, and
 * nothing is to be done.
 */
static void loader_files_renumber(struct hub *hub, uint32_t number,
				  const struct file_key *key)
{
	const struct executable *e = executables_number(&hub->exes, number);

	if (!e || !memcmp(&e->key, key, sizeof(*key)))
		return;
	loader_link_drain(hub);
	interval_end(hub, true);
	loader_files_void(hub, number);
}

/* The entry for a key that has this number; NULL without memory. */
static struct executable *loader_files_assign(struct hub *hub, uint32_t number,
					      const struct file_key *key,
					      const char *path, size_t len,
					      uint32_t *i)
{
	loader_files_renumber(hub, number, key);
	*i = executables_mention(&hub->exes, key, hub->interval, now_ns());
	if (*i == EXECUTABLE_NONE ||
	    executables_assign(&hub->exes, number, *i, path, len) < 0)
		return NULL;
	return executables_get(&hub->exes, *i);
}

static bool loader_files_adopted(void *ctx, uint32_t number,
				 const struct file_key *key)
{
	const struct executable *e;
	uint32_t i;

	e = loader_files_assign(ctx, number, key, NULL, 0, &i);
	return e && e->known && e->path;
}

const struct tables_out loader_files_out = {
	loader_files_install, loader_files_entry, loader_files_free,
	loader_files_drop, loader_files_list, loader_files_adopted,
	loader_files_dropped,
};

/* --- from loaderd ------------------------------------------------------------ */

int loader_files_on_slab(struct hub *hub, const struct msg *msg)
{
	struct msg_slab m;
	const void *map;
	size_t len;

	memcpy(&m, msg->buf, sizeof(m));
	if (hub->loader.adopted ||
	    sealed_map(msg->fds[0], sizeof(struct slab_copy),
		       sizeof(struct slab_copy), &map, &len) < 0)
		return MSG_BAD_CONTENT;
	if (files_adopt_slab(&hub->files, m.slab, map))
		return MSG_OK;
	munmap((void *)map, len);
	return MSG_BAD_CONTENT;
}

int loader_files_on_known(struct hub *hub, const struct msg *msg)
{
	struct msg_known m;
	const void *map;
	size_t len;

	memcpy(&m, msg->buf, sizeof(m));
	len = (m.n ? m.n : 1) * sizeof(struct msg_entry);
	if (hub->loader.adopted || m.n > FILES_MAX ||
	    sealed_map(msg->fds[0], len, len, &map, &len) < 0)
		return MSG_BAD_CONTENT;
	files_adopt(&hub->files, map, m.n);
	munmap((void *)map, len);
	hub->loader.adopted = true;
	if (m.n)
		log_info("found %u files of a former hub",
			 (unsigned int)hub->files.stats.files);
	return MSG_OK;
}

int loader_files_on_exe(struct hub *hub, struct msg *msg)
{
	const char *path = (const char *)msg->buf + sizeof(struct msg_exe);
	struct executable *e;
	struct msg_exe m;
	int number;
	uint32_t i;

	memcpy(&m, msg->buf, sizeof(m));
	if (!hub->loader.adopted || !msg->hdr.id || m.no_room > 1 ||
	    m.path_len != msg->hdr.len - sizeof(m) ||
	    memchr(path, '\0', m.path_len))
		return MSG_BAD_CONTENT;
	number = files_exe(&hub->files, &m, msg->hdr.id);
	if (number < 0)
		return MSG_OK;
	jobs_cancel(&hub->jobs, (uint32_t)number);
	e = loader_files_assign(hub, (uint32_t)number, &m.key, path,
				m.path_len, &i);
	if (!e)
		files_later(&hub->files, (uint32_t)number);
	else if (e->known && files_has_answer(&hub->files, (uint32_t)number))
		files_settled(&hub->files, (uint32_t)number);
	else if (e->quarantined)
		files_no_table(&hub->files, (uint32_t)number);
	else if (!jobs_add(&hub->jobs, JOB_FILE, (uint32_t)number, i,
			   msg_take_fd(msg, 0)))
		files_later(&hub->files, (uint32_t)number);
	return MSG_OK;
}

int loader_files_on_mapped(struct hub *hub, const struct msg *msg)
{
	const void *map;
	size_t len;

	if (sealed_map(msg->fds[0], MAPPED_BYTES, MAPPED_BYTES, &map, &len) < 0)
		return MSG_BAD_CONTENT;
	files_mapped(&hub->files, map);
	munmap((void *)map, len);
	return MSG_OK;
}

/* All records that carry numbers dropped before are in the ring by now. */
int loader_files_on_freed(struct hub *hub, const struct msg *msg)
{
	loader_link_drain(hub);
	return files_freed(&hub->files, msg->hdr.id) ? MSG_OK :
						       MSG_BAD_CONTENT;
}

/* --- from the workers ---------------------------------------------------------- */

static struct executable *loader_files_exe(void *ctx, uint32_t i)
{
	return executables_get(&((struct hub *)ctx)->exes, i);
}

/* The number still stands for this file. */
static bool loader_files_meant(void *ctx, uint32_t number, uint32_t i)
{
	struct hub *hub = ctx;

	return files_get(&hub->files, number) &&
	       executables_number(&hub->exes, number) ==
		       executables_get(&hub->exes, i);
}

static int loader_files_table(void *ctx, uint32_t number, int fd)
{
	struct hub *hub = ctx;
	const struct executable *e = executables_number(&hub->exes, number);
	const void *map;
	size_t len;

	if (sealed_map(fd, sizeof(struct table_hdr), TABLE_BYTES_MAX, &map,
		       &len) < 0)
		return MSG_BAD_CONTENT;
	files_runtime(&hub->files, number, e ? e->runtime : RUNTIME_NONE);
	files_table(&hub->files, number, map, len);
	munmap((void *)map, len);
	return MSG_OK;
}

static void loader_files_no_table(void *ctx, uint32_t number)
{
	files_no_table(&((struct hub *)ctx)->files, number);
}

/* A worker wants a debug file: loaderd opens it as a process that ran the
 * executable would. */
static int loader_files_debug(void *ctx, struct msg_debug_wanted *m)
{
	struct hub *hub = ctx;
	const struct known_file *f = files_get(&hub->files, m->exe);

	m->tgid = f ? f->tgid : 0;
	m->pad = 0;
	return m->tgid ? loader_link_send(hub, MSG_DEBUG_WANTED, 0, m,
					  sizeof(*m), NULL, 0, -1) : -ENOENT;
}

static void loader_files_offence(void *ctx, int verdict)
{
	hub_offence(ctx, "worker", verdict);
}

const struct jobs_ops loader_files_jobs = {
	loader_files_exe, loader_files_meant, loader_files_table,
	loader_files_no_table, loader_files_debug, loader_files_offence,
};

void loader_files_used(struct hub *hub)
{
	for (uint32_t n = EXE_VDSO; n < hub->exes.numbers_room; n++) {
		const struct executable *e = executables_number(&hub->exes, n);

		if (e && e->used == hub->interval)
			files_used(&hub->files, n);
	}
}
