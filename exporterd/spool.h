/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool - batches on disk that the first receiver has not answered
 *
 * Every batch is stored before it is sent, and before the next one is taken
 * from the hub: a file for each (spool_file.h), written under a temporary name,
 * synced, renamed.  So no batch is lost when exporterd is killed: the next one has all
 * but the last ones, which the hub still holds (batches_hello() of
 * symbolizerd/knowledge/batches.h).  A file is removed before the hub gets the outcome.
 *
 * Only a directory of exporterd's own user, closed to others, is used (own_dir.h), and
 * only regular files with a name of spool_file.h; all others are counted and left alone.
 * Damaged and too old batches are removed and given up; beyond the limits the oldest
 * batch that is not being sent is removed.  When the disk fails, the caller keeps the
 * batch in memory.
 */
#ifndef EXPORTERD_SPOOL_H
#define EXPORTERD_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "exporterd/spool_file.h"
#include "ipc/counters.h"

#define SPOOL_FILES_MAX	4000	/* below BATCHES_MAX of the hub */
#define SPOOL_SCAN_MAX	65536	/* names that are read */
#define SPOOL_AGE_NS	(86400 * NSEC_PER_SEC)	/* older ones are given up */

struct spool_entry {
	struct spool_name name;
	uint64_t bytes;			/* of the file */
	uint64_t since_ns;		/* CLOCK_REALTIME: its last write */
	bool loaded;			/* spool_next() returned it */
};

struct spool {
	int dir;			/* -1: there is no spool */
	const char *path;
	uint64_t max_bytes;
	struct spool_entry *v;		/* by id */
	uint32_t n, cap;
	uint64_t bytes;			/* of all files */
	uint64_t waiting;		/* samples that spool_next() has not returned */
	bool failing;			/* the disk's failure is in the log */
	struct log_limit log;
	/* as in struct exporter_stats */
	uint64_t written, full, old, damaged, refused, errors;
	/* these samples of a batch will not be sent; called by any function below,
	 * when the file is removed already */
	void (*lost)(void *arg, uint64_t id, uint64_t samples,
		     enum batch_outcome o);
	void *arg;
};

/* No spool yet: the functions below do nothing, and spool_put() returns -ENOENT. */
void spool_init(struct spool *s,
		void (*lost)(void *arg, uint64_t id, uint64_t samples,
			     enum batch_outcome o), void *arg);
void spool_fini(struct spool *s);

/* Open and lock the directory; path is borrowed, and may be a link, as
 * StateDirectory= of systemd is with DynamicUser=.  Call as the user that owns
 * it.  Returns 0, or -errno after a line in the log. */
int spool_open(struct spool *s, const char *path, uint64_t max_bytes);

/* Find the batches of a former exporterd.  None are used where files cannot be
 * removed: they would be sent twice. */
void spool_scan(struct spool *s);

/* Store a batch.  Returns 0; -EEXIST: it is stored already; another -errno, with a line
 * in the log for the first of them. */
int spool_put(struct spool *s, uint64_t id, const struct batch *b);

/*
 * The oldest batch that was not returned yet: a sealed memfd, the caller's, and in *ret
 * the events that are to be sent.  -ENOENT: there is none; another -errno: not now.
 */
int spool_next(struct spool *s, struct spool_name *ret);

/* The first n samples of the rest of a batch have an outcome.  Does nothing when it is
 * not stored. */
void spool_done(struct spool *s, uint64_t id, uint64_t n);

bool spool_has(const struct spool *s, uint64_t id);

/* Fill in the spool's numbers only. */
void spool_stats(const struct spool *s, struct exporter_stats *ret);

#endif /* EXPORTERD_SPOOL_H */
