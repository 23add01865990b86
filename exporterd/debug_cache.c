// SPDX-License-Identifier: Apache-2.0
#include "exporterd/debug_cache.h"

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

#define CACHE_NAME_SIZE	(2 * BUILD_ID_MAX + 1)

void debug_cache_init(struct debug_cache *c)
{
	*c = (struct debug_cache){ .dir = -1, .new_fd = -1, .read_fd = -1 };
}

void debug_cache_fini(struct debug_cache *c)
{
	debug_cache_give_up(c);
	if (c->dir >= 0)
		close(c->dir);
	free(c->v);
	debug_cache_init(c);
}

void debug_cache_open(struct debug_cache *c, const char *path, uint64_t max_bytes, bool asked)
{
	c->path = path;
	c->max_bytes = max_bytes;
	if (!asked && access(path, F_OK) < 0 && errno == ENOENT) {
		log_info("debug files are kept in memory only: there is no %s", path);
		return;
	}
	c->dir = own_dir_open("cache of debug files", path);
	if (c->dir >= 0)
		return;
	c->dir = -1;
	log_warn("debug files are kept in memory only");
}

/* The disk failed: one line in the log until it accepts a file again. */
static int debug_cache_failed(struct debug_cache *c, const char *what, int r)
{
	c->errors++;
	if (!c->failing)
		log_err("cache of debug files %s: cannot %s: %s: they are kept in memory only",
			c->path, what, strerror(-r));
	c->failing = true;
	return r;
}

/* --- names ------------------------------------------------------------------- */

static void debug_cache_name(const uint8_t *id, uint32_t len, char ret[CACHE_NAME_SIZE])
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < len && i < BUILD_ID_MAX; i++)
		sprintf(ret + 2 * i, "%02x", id[i]);
}

/* -1: none */
static int debug_cache_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool debug_cache_read_name(const char *s, struct debug_cache_entry *ret)
{
	size_t n = strnlen(s, CACHE_NAME_SIZE);

	if (n % 2 || n < 2 * DEBUGINFO_ID_MIN || n >= CACHE_NAME_SIZE)
		return false;
	ret->id_len = (uint32_t)n / 2;
	for (size_t i = 0; i < n; i += 2) {
		int high = debug_cache_digit(s[i]), low = debug_cache_digit(s[i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret->id[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* --- the list ----------------------------------------------------------------- */

static struct debug_cache_entry *debug_cache_find(const struct debug_cache *c,
						  const uint8_t *id, uint32_t len)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->v[i].id_len == len && !memcmp(c->v[i].id, id, len))
			return &c->v[i];
	}
	return NULL;
}

static void debug_cache_forget(struct debug_cache *c, struct debug_cache_entry *e)
{
	c->bytes -= e->bytes;
	*e = c->v[--c->n];
}

/* Remove the entry and its file. */
static void debug_cache_remove(struct debug_cache *c, struct debug_cache_entry *e)
{
	char name[CACHE_NAME_SIZE];

	debug_cache_name(e->id, e->id_len, name);
	if (unlinkat(c->dir, name, 0) < 0 && errno != ENOENT)
		debug_cache_failed(c, "remove a file", -errno);
	debug_cache_forget(c, e);
}

/* Make room for one more file of this size.  False: it is too large. */
static bool debug_cache_make_room(struct debug_cache *c, uint64_t bytes)
{
	if (bytes > c->max_bytes)
		return false;
	while (c->n && (c->n >= DEBUG_CACHE_FILES_MAX || c->bytes > c->max_bytes - bytes)) {
		struct debug_cache_entry *old = &c->v[0];

		for (uint32_t i = 1; i < c->n; i++) {
			if (c->v[i].used_ns < old->used_ns)
				old = &c->v[i];
		}
		debug_cache_remove(c, old);
		c->evicted++;
	}
	return true;
}

/* --- files of a former exporterd ------------------------------------------------ */

static void debug_cache_find_file(void *arg, const char *name)
{
	struct debug_cache *c = arg;
	struct debug_cache_entry e = { .id_len = 0 };
	struct stat st;

	if (!debug_cache_read_name(name, &e) || !own_dir_has(c->dir, name, &st)) {
		c->refused++;
		return;
	}
	e.bytes = (uint64_t)st.st_size;
	e.used_ns = e.touched_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
				   (uint64_t)st.st_mtim.tv_nsec;
	if (vector_push(c, e))
		c->bytes += e.bytes;
}

void debug_cache_scan(struct debug_cache *c)
{
	int r;

	if (c->dir < 0)
		return;
	r = own_dir_probe(c->dir);
	if (r == 0)
		r = own_dir_list(c->dir, DEBUG_CACHE_SCAN_MAX, debug_cache_find_file, c);
	if (r < 0) {
		debug_cache_failed(c, "make, remove and list files", r);
		close(c->dir);
		c->dir = -1;
		return;
	}
	if (r)
		log_warn("cache of debug files %s: more than %d files: ignoring the others",
			 c->path, DEBUG_CACHE_SCAN_MAX);
	debug_cache_make_room(c, 0);
	if (c->refused)
		log_warn("cache of debug files %s: ignoring %llu files that trifold did not make",
			 c->path, (unsigned long long)c->refused);
	log_info("cache of debug files %s: %u files, %llu bytes", c->path, c->n,
		 (unsigned long long)c->bytes);
}

/* --- reading -------------------------------------------------------------------- */

static void debug_cache_touch(struct debug_cache_entry *e, int fd)
{
	e->used_ns = clock_ns(CLOCK_REALTIME);
	if (e->used_ns > e->touched_ns && e->used_ns - e->touched_ns < DEBUG_CACHE_TOUCH_NS)
		return;
	if (futimens(fd, NULL) == 0)
		e->touched_ns = e->used_ns;
}

int debug_cache_get(struct debug_cache *c, const struct msg_debuginfo_wanted *id)
{
	struct debug_cache_entry *e = debug_cache_find(c, id->build_id, id->build_id_len);
	char name[CACHE_NAME_SIZE];
	struct stat st;
	int fd;

	if (!e)
		return -ENOENT;
	debug_cache_name(e->id, e->id_len, name);
	fd = own_dir_read(c->dir, name, &st);
	if (fd >= 0 && (uint64_t)st.st_size == e->bytes && e->bytes) {
		debug_cache_touch(e, fd);
		return fd;
	}
	if (fd >= 0) {		/* it was changed */
		close(fd);
		debug_cache_remove(c, e);
	} else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM) {
		return -ENOENT;
	} else {
		debug_cache_forget(c, e);
	}
	c->errors++;
	return -ENOENT;
}

void debug_cache_drop(struct debug_cache *c, const struct msg_debuginfo_wanted *id)
{
	struct debug_cache_entry *e = debug_cache_find(c, id->build_id, id->build_id_len);

	if (e)
		debug_cache_remove(c, e);
}

/* --- writing ---------------------------------------------------------------------- */

int debug_cache_begin(struct debug_cache *c)
{
	int r;

	if (c->dir < 0)
		return -ENOENT;
	c->unsynced = 0;
	c->new_fd = own_dir_create(c->dir);
	if (c->new_fd < 0)
		return debug_cache_failed(c, "make a file", c->new_fd);
	c->read_fd = openat(c->dir, OWN_DIR_TEMPORARY, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (c->read_fd >= 0)
		return 0;
	r = -errno;
	debug_cache_give_up(c);
	return debug_cache_failed(c, "make a file", r);
}

void debug_cache_give_up(struct debug_cache *c)
{
	if (c->new_fd >= 0) {
		close(c->new_fd);
		unlinkat(c->dir, OWN_DIR_TEMPORARY, 0);
	}
	if (c->read_fd >= 0)
		close(c->read_fd);
	c->new_fd = c->read_fd = -1;
}

int debug_cache_sync(struct debug_cache *c)
{
	if (fsync(c->new_fd) < 0)
		return debug_cache_failed(c, "write a file", -errno);
	c->unsynced = 0;
	return 0;
}

int debug_cache_write(struct debug_cache *c, const void *data, size_t len)
{
	int r = write_all(c->new_fd, data, len);

	if (r < 0)
		return debug_cache_failed(c, "write a file", r);
	c->unsynced += len;
	if (c->unsynced < DEBUG_CACHE_SYNC_BYTES)
		return 0;
	return debug_cache_sync(c);
}

/* Rename the new file and enter it into the list.  0 or -errno. */
static int debug_cache_enter(struct debug_cache *c, const struct msg_debuginfo_wanted *id)
{
	struct debug_cache_entry e = { .id_len = id->build_id_len };
	char name[CACHE_NAME_SIZE];
	struct stat st;

	if (fstat(c->read_fd, &st) < 0)
		return -errno;
	if (!debug_cache_make_room(c, (uint64_t)st.st_size))
		return 0;
	memcpy(e.id, id->build_id, sizeof(e.id));
	e.bytes = (uint64_t)st.st_size;
	e.used_ns = e.touched_ns = clock_ns(CLOCK_REALTIME);
	if (!vector_push(c, e))
		return -ENOMEM;
	debug_cache_name(e.id, e.id_len, name);
	if (renameat(c->dir, OWN_DIR_TEMPORARY, c->dir, name) < 0) {
		c->n--;
		return -errno;
	}
	c->bytes += e.bytes;
	return 0;
}

int debug_cache_keep(struct debug_cache *c, const struct msg_debuginfo_wanted *id)
{
	int fd = c->read_fd, r;

	debug_cache_drop(c, id);
	r = debug_cache_enter(c, id);
	if (r < 0)
		debug_cache_failed(c, "keep a file", r);
	else if (c->failing)
		log_info("cache of debug files %s: takes files again", c->path);
	if (r == 0)
		c->failing = false;
	c->read_fd = -1;
	debug_cache_give_up(c);	/* removes the file if it was not renamed */
	return fd;
}

void debug_cache_stats(const struct debug_cache *c, struct exporter_stats *ret)
{
	ret->debuginfod_cache_files = c->n;
	ret->debuginfod_cache_bytes = c->bytes;
	ret->debuginfod_cache_evicted = c->evicted;
	ret->debuginfod_cache_errors = c->errors;
}
