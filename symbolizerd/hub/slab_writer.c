// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/slab_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/sealed.h"
#include "symbolizerd/tables/out.h"

#define SLAB_OF(pos)	((pos) >> SLAB_SHIFT)
#define SLAB_BYTES	sizeof(struct slab_copy)
#define INSTALL		0	/* type of a table that waits: of no message */

struct waiting_install {	/* .fd of the message: the runs */
	struct msg_entry entry;
	uint32_t n_runs;
};

void slab_writer_init(struct slab_writer *w, slab_writer_send send, void *ctx)
{
	*w = (struct slab_writer){ .send = send, .ctx = ctx };
	memset(w->fd, -1, sizeof(w->fd));
}

static void slab_writer_close(struct slab_writer *w, uint32_t slab)
{
	if (w->fd[slab] >= 0)
		close(w->fd[slab]);
	w->fd[slab] = -1;
	w->asked[slab] = false;
}

void slab_writer_reset(struct slab_writer *w)
{
	outbox_clear(&w->waiting);
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		slab_writer_close(w, i);
}

bool slab_writer_asked(const struct slab_writer *w, uint32_t slab)
{
	return slab < SLABS_MAX && w->asked[slab];
}

/* A BPF map, of whose mapping the kernel checks the length; it has no file type.  Or
 * memory that has this length for good. */
static bool slab_writer_fits(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return !(st.st_mode & S_IFMT) ||
	       (seals >= 0 && seals & F_SEAL_SHRINK && seals & F_SEAL_GROW &&
		st.st_size == (off_t)SLAB_BYTES);
}

bool slab_writer_take(struct slab_writer *w, uint32_t slab, int fd)
{
	if (slab >= SLABS_MAX || w->fd[slab] >= 0 || !slab_writer_fits(fd))
		return false;
	w->fd[slab] = fd;
	return true;
}

/* --- writing ---------------------------------------------------------------------- */

/* Is it there?  If not, it is asked for. */
static bool slab_writer_has(struct slab_writer *w, uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	if (w->fd[slab] < 0 && !w->asked[slab]) {
		w->asked[slab] = true;
		w->send(w->ctx, MSG_SLAB_WANTED, 0, &m, sizeof(m));
	}
	return w->fd[slab] >= 0;
}

static union element *slab_writer_at(struct slab_writer *w, uint32_t pos)
{
	struct slab_copy **at = &w->at[SLAB_OF(pos)];
	void *p;

	if (!*at) {
		p = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 w->fd[SLAB_OF(pos)], 0);
		*at = p == MAP_FAILED ? NULL : p;
	}
	if (!*at)
		return NULL;
	return &(*at)->element[pos & (SLAB_ELEMENTS - 1)];
}

static void slab_writer_unmap(struct slab_writer *w)
{
	for (uint32_t i = 0; i < SLABS_MAX; i++) {
		if (w->at[i])
			munmap(w->at[i], SLAB_BYTES);
		w->at[i] = NULL;
	}
}

static int slab_writer_run(struct slab_writer *w, const struct table_run *run,
			   const union element **data)
{
	union element *to = slab_writer_at(w, run->pos);
	const union element *from = *data;

	if (run->from != TABLE_RUN_NEW)
		from = slab_writer_at(w, run->from);
	else
		*data += run->n;
	if (!to || !from)
		return -ENOMEM;
	memmove(to, from, run->n * sizeof(*to));
	return 0;
}

/* 0; -EAGAIN: a slab is not there; -errno. */
static int slab_writer_write(struct slab_writer *w, const struct table_run *run, uint32_t n)
{
	const union element *data = (const void *)(run + n);
	bool there = true;
	int r = 0;

	for (uint32_t i = 0; i < n; i++) {
		there &= slab_writer_has(w, SLAB_OF(run[i].pos));
		if (run[i].from != TABLE_RUN_NEW)
			there &= slab_writer_has(w, SLAB_OF(run[i].from));
	}
	if (!there)
		return -EAGAIN;
	for (uint32_t i = 0; i < n && !r; i++)
		r = slab_writer_run(w, &run[i], &data);
	slab_writer_unmap(w);
	return r;
}

/* --- messages --------------------------------------------------------------------- */

static int slab_writer_finish(struct slab_writer *w, struct out_msg *m)
{
	const struct waiting_install *in = (const void *)m->payload;
	const void *data;
	size_t len;
	int r;

	if (m->type == MSG_SLAB_DROP)
		slab_writer_close(w, ((const struct msg_slab *)m->payload)->slab);
	if (m->type != INSTALL) {
		w->send(w->ctx, m->type, m->id, m->payload, m->len);
		return 0;
	}
	r = sealed_map(m->fd, in->n_runs * sizeof(struct table_run), INSTALL_BYTES_MAX,
		       &data, &len);
	if (r)
		return r;
	r = slab_writer_write(w, data, in->n_runs);
	munmap((void *)data, len);
	if (!r)
		w->send(w->ctx, MSG_ENTRY, m->id, &in->entry, sizeof(in->entry));
	return r;
}

int slab_writer_go(struct slab_writer *w)
{
	int r = 0;

	while (w->waiting.first && !r) {
		r = slab_writer_finish(w, w->waiting.first);
		if (!r)
			outbox_pop(&w->waiting);
	}
	return r == -EAGAIN ? 0 : r;
}

int slab_writer_put(struct slab_writer *w, unsigned int type, uint64_t id,
		    const void *payload, size_t len)
{
	int r = outbox_put(&w->waiting, type, id, payload, len, NULL, 0, -1);

	if (r)
		return r;
	return slab_writer_go(w);
}

int slab_writer_install(struct slab_writer *w, uint64_t id, const struct msg_entry *entry,
			uint32_t n_runs, int fd)
{
	struct waiting_install in = { *entry, n_runs };
	int r = outbox_put(&w->waiting, INSTALL, id, &in, sizeof(in), NULL, 0, fd);

	if (r)
		return r;
	return slab_writer_go(w);
}
