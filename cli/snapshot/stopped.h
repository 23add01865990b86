/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped - all threads of a process stand still, and run on
 *
 * By ptrace(2), PTRACE_SEIZE: no signal is sent, and when we die in between, the
 * kernel lets them run on.
 */
#ifndef CLI_SNAPSHOT_STOPPED_H
#define CLI_SNAPSHOT_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buffer.h"
#include "common/vector.h"

#define STOPPED_THREADS_MAX	1024	/* have their stacks kept; all stop */
#define STOPPED_NS	2000000000ULL	/* within this; a thread in vfork(2), or in a file system
					 * that does not answer, does not */

struct stopped_thread {
	pid_t tid;
	int signal;		/* that came in between; delivered as it runs on */
};

struct stopped {
	pid_t pid;
	uint64_t deadline_ns;	/* until all stand */
	VECTOR(struct stopped_thread) threads;	/* the main thread first */
};

/*
 * Stop all threads of a process.  0 or -errno: -EPERM: may not; -ESRCH: there is no
 * such process; -EBUSY: a thread does not stop.  On failure nothing stands still; that
 * thread would stop when it returns to user space, unless we have ended by then.
 */
int stopped_begin(struct stopped *s, pid_t pid);

/* Append a line "thread ..." for each (docs/SNAPSHOT.md).  0; -ENOEXEC: it is no
 * 64-bit process; or -errno. */
int stopped_describe(const struct stopped *s, struct buffer *to);

/* Let all run on. */
void stopped_end(struct stopped *s);

#endif /* CLI_SNAPSHOT_STOPPED_H */
