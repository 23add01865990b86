/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader - the confined process that reads what the target wrote
 *
 * trifold-symbolizerd --snapshot (symbolizerd/snapshot_main.h).
 */
#ifndef CLI_SNAPSHOT_READER_H
#define CLI_SNAPSHOT_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "cli/snapshot/mapped.h"
#include "common/buffer.h"

struct reader {
	pid_t pid;
	int to, from;		/* pipes: what we say, what it says */
	int result;		/* memfd */
};

/* Start it; libexec: as libexec_find() takes it; memory: /proc/PID/mem, or a core file,
 * borrowed; word: for a core file, of ipc/snapshot_fds.h, else NULL.  0, or -1, said. */
int reader_start(struct reader *r, const char *libexec, int memory,
		 const struct mapped *m, const char *word);

/* Have it walk what the text says, for at most so long.  0, or -1, said. */
int reader_walk(struct reader *r, const struct buffer *text, int timeout_ms);

/* The end of it: what it says, at most so many bytes.  0, or -1, said. */
int reader_finish(struct reader *r, size_t max, struct buffer *said);
#define READER_SUMMARY_MAX	4096
#define READER_PATHS_MAX	(4u << 20)

/* Kill it if it is still there. */
void reader_end(struct reader *r);

#endif /* CLI_SNAPSHOT_READER_H */
