/* SPDX-License-Identifier: Apache-2.0 */
/* job_times - where the time goes that a file waits for its table: a line of --debug */
#ifndef SYMBOLIZERD_JOBS_JOB_TIMES_H
#define SYMBOLIZERD_JOBS_JOB_TIMES_H

#include <stdint.h>

#include "symbolizerd/knowledge/executable.h"

/* CLOCK_MONOTONIC; 0: it did not happen. */
struct job_times {
	uint64_t came_ns;		/* the file, with its descriptor */
	uint64_t started_ns;		/* a worker was asked for */
	uint64_t forked_ns;		/* there is one */
	uint64_t asked_ns, told_ns;	/* for its debug file, and the answer */
	uint64_t done_ns;		/* its table is there */
	uint64_t installed_ns;		/* and was sent on */
};

/* tests/bench/new_files.py reads it. */
void job_times_log(const struct job_times *t, const struct executable *e);

#endif /* SYMBOLIZERD_JOBS_JOB_TIMES_H */
