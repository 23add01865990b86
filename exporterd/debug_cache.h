/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_cache - debug files of debuginfod servers, on disk
 *
 * A file is written under a temporary name (own_dir.h), synced as it grows, and renamed
 * when it is complete: its name is its build ID in lower-case hexadecimal digits.  So a
 * crash leaves one file that the next start removes.  Beyond the limits of files and
 * bytes the least recently used file is removed; the time of use is the file's time of
 * change, updated once an hour at most.
 *
 * The content is not read here.  A file is handed out as a descriptor to read from, which
 * stays valid when the file is removed.  Only regular files of our user with such a name
 * are used; all others are counted and left alone.  A failure of the disk is logged, and
 * the caller goes on without the cache.
 */
#ifndef EXPORTERD_DEBUG_CACHE_H
#define EXPORTERD_DEBUG_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/counters.h"
#include "ipc/message_hub.h"

#define DEBUG_CACHE_FILES_MAX	4096
#define DEBUG_CACHE_SCAN_MAX	65536	/* names that are looked at */
#define DEBUG_CACHE_SYNC_BYTES	(4u << 20)	/* so much is not on the disk yet */
#define DEBUG_CACHE_TOUCH_NS	(3600 * NSEC_PER_SEC)

struct debug_cache_entry {
	uint8_t id[BUILD_ID_MAX];
	uint32_t id_len;
	uint64_t bytes;			/* of the file */
	uint64_t used_ns;		/* CLOCK_REALTIME */
	uint64_t touched_ns;		/* the file's time of change */
};

struct debug_cache {
	int dir;			/* -1: there is no cache */
	const char *path;
	uint64_t max_bytes;
	struct debug_cache_entry *v;
	uint32_t n, cap;
	uint64_t bytes;			/* of all files */
	int new_fd, read_fd;		/* of the file being written; -1: none */
	uint64_t unsynced;		/* bytes of it */
	bool failing;			/* the disk's failure is in the log */
	uint64_t evicted, refused, errors;
};

/* No cache yet: it is empty, and debug_cache_begin() returns -ENOENT. */
void debug_cache_init(struct debug_cache *c);
void debug_cache_fini(struct debug_cache *c);

/* Open and lock the directory, as the user that owns it; path is borrowed.  asked: it
 * was configured; otherwise it need not exist.  Without it there is no cache, and a line
 * in the log. */
void debug_cache_open(struct debug_cache *c, const char *path, uint64_t max_bytes, bool asked);

/* Find the files of a former exporterd. */
void debug_cache_scan(struct debug_cache *c);

/* The file of this build ID: a descriptor to read from, the caller's; or -ENOENT. */
int debug_cache_get(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* Remove it: it was useless. */
void debug_cache_drop(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* Write a new file, one at a time.  All return 0 or -errno; after a failure, what was
 * written can still be read at read_fd, until debug_cache_give_up(). */
int debug_cache_begin(struct debug_cache *c);
int debug_cache_write(struct debug_cache *c, const void *data, size_t len);
void debug_cache_give_up(struct debug_cache *c);

/* It is complete: 0, or -errno as above. */
int debug_cache_sync(struct debug_cache *c);
/* Then keep it, if there is room.  A descriptor to read from, the caller's. */
int debug_cache_keep(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* Fill in the cache's numbers only. */
void debug_cache_stats(const struct debug_cache *c, struct exporter_stats *ret);

#endif /* EXPORTERD_DEBUG_CACHE_H */
