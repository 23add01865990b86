/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes - the kernel's figures of each of trifold's processes
 *
 * The daemons report their own use (ipc/counters.h).  This covers all
 * processes, also those that report nothing: the supervisor, the children of
 * the daemons, the live page, a recorder.
 */
#ifndef CLI_STATUS_PROCESSES_H
#define CLI_STATUS_PROCESSES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/vector.h"

struct own_process {
	pid_t pid, parent;
	unsigned int depth;	/* below the first one */
	char name[32];		/* of the program, or its own (PR_SET_NAME) */
	uint64_t cpu_ns;	/* user and system, without children */
	uint64_t rss_bytes;	/* resident, shared pages too */
};

struct own_processes {
	VECTOR(struct own_process);	/* a parent before its children */
};

/*
 * Find processes that run a program "trifold...": top and its descendants through
 * such processes; of a service manager only the descendants.  Processes that
 * cannot be read are left out.  0 or -errno; processes_free() accepts either.
 */
int processes_find(pid_t top, struct own_processes *ret);

/* CPU time (ns) of those that do not report theirs in struct status. */
uint64_t processes_silent_ns(const struct own_processes *p);

void processes_free(struct own_processes *p);

#endif /* CLI_STATUS_PROCESSES_H */
