/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue - what waits for a worker, oldest first
 */
#ifndef SYMBOLIZERD_HUB_JOB_QUEUE_H
#define SYMBOLIZERD_HUB_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBS_MAX	256	/* of a kind */

/* Frames of a process that want names. */
struct job_process {
	uint64_t start_ns;	/* of the process, as in trace_rec */
	uint32_t tgid;
	uint32_t runtime;	/* enum runtime */
	uint32_t n_frames, n_words;
	uint64_t words[];	/* n_frames whole frames: bpf/frame.h */
};

struct job {
	struct job_process *process;	/* owned; NULL: a file */
	uint32_t number;	/* file: of the executable */
	uint32_t exe;		/* file: index in struct executables */
	int fd;			/* -1: the worker has it, or it is not opened */
};

struct job_queue {
	struct job *v;		/* JOBS_MAX of them; NULL until needed */
	size_t n;
};

/* False when it is full; the descriptor stays the caller's then. */
bool job_queue_add(struct job_queue *q, const struct job *job);
/* Take out the job that goes next: the first that is wanted or else the first.
 * False when there is none. */
bool job_queue_take(struct job_queue *q,
		    bool (*wanted)(void *ctx, const struct job *job), void *ctx,
		    struct job *ret);

void job_queue_remove(struct job_queue *q, size_t i);

#endif /* SYMBOLIZERD_HUB_JOB_QUEUE_H */
