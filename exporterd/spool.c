// SPDX-License-Identifier: Apache-2.0
#include "exporterd/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/read_all.h"
#include "common/vector.h"
#include "exporterd/own_dir.h"
#include "ipc/sealed.h"

void spool_init(struct spool *s,
		void (*lost)(void *arg, uint64_t id, uint64_t samples,
			     enum batch_outcome o), void *arg)
{
	*s = (struct spool){ .dir = -1, .lost = lost, .arg = arg };
}

void spool_fini(struct spool *s)
{
	if (s->dir >= 0)
		close(s->dir);
	free(s->v);
	spool_init(s, s->lost, s->arg);
}

/* --- the directory ---------------------------------------------------------- */

int spool_open(struct spool *s, const char *path, uint64_t max_bytes)
{
	int fd = own_dir_open("spool", path);

	s->path = path;
	s->max_bytes = max_bytes;
	if (fd < 0)
		return fd;
	s->dir = fd;
	return 0;
}

/* The disk failed: one line in the log until it accepts a batch again. */
static int spool_failed(struct spool *s, const char *what, int r)
{
	s->errors++;
	if (!s->failing)
		log_err("spool %s: cannot %s: %s: batches wait in memory only",
			s->path, what, strerror(-r));
	s->failing = true;
	return r;
}

/* --- the list ---------------------------------------------------------------- */

/* Index of the first entry whose id is not lower. */
static uint32_t spool_find(const struct spool *s, uint64_t id)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].name.id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool spool_has(const struct spool *s, uint64_t id)
{
	uint32_t i = spool_find(s, id);

	return i < s->n && s->v[i].name.id == id;
}

static int spool_list(struct spool *s, const struct spool_entry *e)
{
	uint32_t i = spool_find(s, e->name.id);

	if (!vector_push(s, *e))
		return -ENOMEM;
	memmove(&s->v[i + 1], &s->v[i], (s->n - 1 - i) * sizeof(*s->v));
	s->v[i] = *e;
	s->bytes += e->bytes;
	s->waiting += e->name.n;
	return 0;
}

/* Remove entry i and its file. */
static void spool_remove(struct spool *s, uint32_t i)
{
	struct spool_entry *e = &s->v[i];
	char name[SPOOL_NAME_SIZE];

	spool_name_write(&e->name, name);
	if (unlinkat(s->dir, name, 0) < 0 && errno != ENOENT)
		spool_failed(s, "remove a file", -errno);
	s->bytes -= e->bytes;
	if (!e->loaded)
		s->waiting -= e->name.n;
	memmove(e, e + 1, (s->n - i - 1) * sizeof(*e));
	s->n--;
}

/* The same; its samples are counted as lost. */
static void spool_lose(struct spool *s, uint32_t i, uint64_t *count,
		       enum batch_outcome o, const char *why)
{
	struct spool_name name = s->v[i].name;

	if (log_limited(&s->log))
		log_warn("spool %s: %u samples of batch %llx are dropped: %s",
			 s->path, name.n, (unsigned long long)name.id, why);
	*count += name.n;
	spool_remove(s, i);
	s->lost(s->arg, name.id, name.n, o);
}

/* Make room for one more file.  Returns 0 or -ENOSPC. */
static int spool_make_room(struct spool *s, uint64_t bytes)
{
	uint32_t i = 0;

	if (bytes > s->max_bytes)
		return -EFBIG;
	while (s->n >= SPOOL_FILES_MAX || s->bytes > s->max_bytes - bytes) {
		while (i < s->n && s->v[i].loaded)
			i++;
		if (i >= s->n)
			return -ENOSPC;
		spool_lose(s, i, &s->full, BATCH_QUEUE_FULL,
			   "the spool is full, and they are the oldest");
	}
	return 0;
}

/* --- batches of a former exporterd -------------------------------------------- */

static void spool_find_file(void *arg, const char *name)
{
	struct spool *s = arg;
	struct spool_entry e = { .loaded = false };
	struct stat st;

	if (spool_name_read(name, &e.name) < 0 || spool_has(s, e.name.id) ||
	    !own_dir_has(s->dir, name, &st)) {
		s->refused++;
		return;
	}
	e.bytes = (uint64_t)st.st_size;
	e.since_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC;
	/* each event has a time of 8 bytes: a name cannot claim more events */
	if (e.bytes > SPOOL_FILE_MAX || e.name.n > e.bytes / sizeof(uint64_t) ||
	    spool_list(s, &e) < 0)
		s->refused++;
}

void spool_scan(struct spool *s)
{
	int r;

	if (s->dir < 0)
		return;
	r = own_dir_probe(s->dir);
	if (r < 0) {
		spool_failed(s, "make and remove a file", r);
		return;
	}
	r = own_dir_list(s->dir, SPOOL_SCAN_MAX, spool_find_file, s);
	if (r < 0) {
		spool_failed(s, "list files", r);
		return;
	}
	if (r)
		log_warn("spool %s: more than %d files: ignoring the others",
			 s->path, SPOOL_SCAN_MAX);
	spool_make_room(s, 0);
	if (s->refused)
		log_warn("spool %s: ignoring %llu files that trifold did not make", s->path,
			 (unsigned long long)s->refused);
	log_info("spool %s: %u batches with %llu samples wait", s->path, s->n,
		 (unsigned long long)s->waiting);
}

/* --- writing -------------------------------------------------------------------- */

/* Returns 0 when the file is on the disk under that name, or -errno. */
static int spool_store(struct spool *s, const struct spool_hdr *hdr,
		       const struct batch *b, const char *name)
{
	int fd = own_dir_create(s->dir), r;

	if (fd < 0)
		return fd;
	r = write_all(fd, hdr, sizeof(*hdr));
	if (r == 0)
		r = write_all(fd, b->hdr, hdr->bytes);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	close(fd);
	if (r == 0 && renameat(s->dir, OWN_DIR_TEMPORARY, s->dir, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(s->dir, OWN_DIR_TEMPORARY, 0);
		return r;
	}
	if (fsync(s->dir) < 0) {
		r = -errno;
		unlinkat(s->dir, name, 0);
	}
	return r;
}

int spool_put(struct spool *s, uint64_t id, const struct batch *b)
{
	struct spool_hdr hdr = {
		.magic = SPOOL_MAGIC, .version = SPOOL_VERSION, .id = id,
		.samples = batch_n(b, BATCH_TIMES), .bytes = b->hdr->bytes,
	};
	struct spool_entry e = {
		.name = { id, 0, (uint32_t)hdr.samples },
		.bytes = sizeof(hdr) + hdr.bytes,
		.since_ns = clock_ns(CLOCK_REALTIME),
	};
	char name[SPOOL_NAME_SIZE];
	int r;

	if (s->dir < 0)
		return -ENOENT;
	if (spool_has(s, id))
		return -EEXIST;
	r = spool_make_room(s, e.bytes);
	hdr.hash = spool_hash(&hdr, b->hdr);
	spool_name_write(&e.name, name);
	if (r == 0)
		r = spool_store(s, &hdr, b, name);
	if (r == 0 && spool_list(s, &e) < 0) {
		unlinkat(s->dir, name, 0);
		r = -ENOMEM;
	}
	if (r < 0)
		return spool_failed(s, "keep a batch", r);
	if (s->failing)
		log_info("spool %s: takes batches again", s->path);
	s->failing = false;
	s->written++;
	return 0;
}

/* --- reading -------------------------------------------------------------------- */

/* Read len bytes.  0; -EPROTO: there are fewer; or -errno. */
static int spool_read_bytes(int fd, char *to, size_t len)
{
	while (len) {
		ssize_t n = read(fd, to, len);

		if (n < 0)
			return -errno;
		if (n == 0)
			return -EPROTO;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Read all of a file, which is malloc'ed.  0; -ENOMEM, -EMFILE or -ENFILE: not
 * now; another -errno: it cannot be read. */
static int spool_read(struct spool *s, const struct spool_entry *e, void **ret)
{
	char name[SPOOL_NAME_SIZE];
	void *data = NULL;
	struct stat st;
	int fd, r;

	spool_name_write(&e->name, name);
	fd = own_dir_read(s->dir, name, &st);
	if (fd < 0)
		return fd;
	r = (uint64_t)st.st_size == e->bytes ? 0 : -EPROTO;
	if (r == 0) {
		data = malloc(e->bytes + 1);
		r = data ? spool_read_bytes(fd, data, e->bytes) : -ENOMEM;
	}
	close(fd);
	if (r < 0) {
		free(data);
		return r;
	}
	*ret = data;
	return 0;
}

/* Returns a memfd; -EPROTO: damaged; -ESTALE: too old; another -errno. */
static int spool_load(struct spool *s, const struct spool_entry *e)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	void *data = NULL;
	struct iovec part;
	struct batch b;
	int r;

	if (now > e->since_ns && now - e->since_ns > SPOOL_AGE_NS)
		return -ESTALE;
	r = spool_read(s, e, &data);
	if (r < 0)
		return r;
	r = spool_file_check(data, e->bytes, &e->name, &b);
	if (r == 0) {
		part = (struct iovec){ (void *)b.hdr, b.hdr->bytes };
		r = sealed_make("batch", &part, 1);
		if (r == -ENOSPC)	/* of memory */
			r = -ENOMEM;
	}
	free(data);
	return r;
}

int spool_next(struct spool *s, struct spool_name *ret)
{
	while (s->waiting) {
		struct spool_entry *e;
		uint32_t i = 0;
		int r;

		while (s->v[i].loaded)
			i++;
		e = &s->v[i];
		r = spool_load(s, e);
		if (r >= 0) {
			e->loaded = true;
			s->waiting -= e->name.n;
			*ret = e->name;
			return r;
		}
		if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
			return r;
		if (r == -ESTALE)
			spool_lose(s, i, &s->old, BATCH_GAVE_UP,
				   "older than a day");
		else
			spool_lose(s, i, &s->damaged, BATCH_GAVE_UP,
				   r == -EPROTO ? "the file is damaged" :
				   strerror(-r));
	}
	return -ENOENT;
}

void spool_done(struct spool *s, uint64_t id, uint64_t n)
{
	uint32_t i = spool_find(s, id);
	char was[SPOOL_NAME_SIZE], is[SPOOL_NAME_SIZE];
	struct spool_entry *e = &s->v[i];

	if (i >= s->n || e->name.id != id)
		return;
	if (n >= e->name.n) {
		spool_remove(s, i);
		return;
	}
	spool_name_write(&e->name, was);
	e->name.first += (uint32_t)n;
	e->name.n -= (uint32_t)n;
	if (!e->loaded)
		s->waiting -= n;
	spool_name_write(&e->name, is);
	if (renameat(s->dir, was, s->dir, is) < 0)
		spool_failed(s, "rename a file", -errno);
}

void spool_stats(const struct spool *s, struct exporter_stats *ret)
{
	ret->spool_samples = 0;
	for (uint32_t i = 0; i < s->n; i++)
		ret->spool_samples += s->v[i].name.n;
	ret->spool_batches = s->n;
	ret->spool_bytes = s->bytes;
	ret->spool_written = s->written;
	ret->spool_full = s->full;
	ret->spool_old = s->old;
	ret->spool_damaged = s->damaged;
	ret->spool_refused = s->refused;
	ret->spool_errors = s->errors;
}
