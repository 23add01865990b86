/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue - what waits for a worker, oldest first
 */
#ifndef SYMBOLIZERD_HUB_JOB_QUEUE_H
#define SYMBOLIZERD_HUB_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS_MAX	256

enum job_kind {
	JOB_FILE = 0,		/* a file: its table and symbols */
	JOB_PROCESS,		/* a process: descriptor of its memory */
};

struct job {
	enum job_kind kind;
	uint32_t number;	/* of the executable */
	uint32_t exe;		/* index in struct executables */
	int fd;			/* -1 once the worker has it */
};

struct job_queue {
	struct job *v;		/* JOBS_MAX of them; NULL until needed */
	size_t n;
};

/* False when it is full; the descriptor stays the caller's then. */
bool job_queue_add(struct job_queue *q, const struct job *job);
/* Take out the job that goes next: the first that wanted(exe) or else the
 * first.  False when there is none. */
bool job_queue_take(struct job_queue *q,
		    bool (*wanted)(void *ctx, uint32_t exe), void *ctx,
		    struct job *ret);

void job_queue_remove(struct job_queue *q, size_t i);

#endif /* SYMBOLIZERD_HUB_JOB_QUEUE_H */
