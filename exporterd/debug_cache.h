/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_cache - debug files of debuginfod servers, on disk
 *
 * A file comes under another name (own_dir.h), is synced as it grows, and is renamed
 * when it is whole: its name is its build ID in lower-case hexadecimal digits.  So a
 * crash leaves one file that the next start removes.  What was used least recently goes
 * when there are too many files or bytes; that is a file's time of change, set when it
 * is used, an hour apart at least.
 *
 * Nobody here looks at what is in a file.  It is handed out by a descriptor to read
 * from, and a file that has gone stays with those who have it.  Only regular files of
 * our user with such a name are; all else is counted and left alone.  When the disk
 * takes nothing the log has a line, and the caller goes on without.
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
	uint64_t touched_ns;		/* what the file says of that */
};

struct debug_cache {
	int dir;			/* -1: there is no cache */
	const char *path;
	uint64_t max_bytes;
	struct debug_cache_entry *v;
	uint32_t n, cap;
	uint64_t bytes;			/* of all files */
	int new_fd, read_fd;		/* of the file that comes; -1 */
	uint64_t unsynced;		/* bytes of it */
	bool failing;			/* said that the disk takes nothing */
	uint64_t evicted, refused, errors;
};

/* No cache yet: there is nothing in it, and debug_cache_begin() is -ENOENT. */
void debug_cache_init(struct debug_cache *c);
void debug_cache_fini(struct debug_cache *c);

/* Open and lock the directory, as the user that it belongs to; path is borrowed.
 * asked: somebody named it; else it may not exist.  Without it there is no cache, and a
 * line in the log. */
void debug_cache_open(struct debug_cache *c, const char *path, uint64_t max_bytes, bool asked);

/* Find what a former exporterd left. */
void debug_cache_scan(struct debug_cache *c);

/* The file of this build ID: a descriptor to read from, the caller's; or -ENOENT. */
int debug_cache_get(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* It was of no use to anybody. */
void debug_cache_drop(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* A file comes: one at a time.  All return 0 or -errno; what was written of a file that
 * failed can still be read at read_fd, until debug_cache_give_up(). */
int debug_cache_begin(struct debug_cache *c);
int debug_cache_write(struct debug_cache *c, const void *data, size_t len);
void debug_cache_give_up(struct debug_cache *c);

/* It is whole: 0, or -errno as above. */
int debug_cache_sync(struct debug_cache *c);
/* Then keep it, if it finds room.  A descriptor to read from, the caller's. */
int debug_cache_keep(struct debug_cache *c, const struct msg_debuginfo_wanted *id);

/* Fill in the cache's numbers, nothing else. */
void debug_cache_stats(const struct debug_cache *c, struct exporter_stats *ret);

#endif /* EXPORTERD_DEBUG_CACHE_H */
