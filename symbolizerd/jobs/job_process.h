/* SPDX-License-Identifier: Apache-2.0 */
/* job_process - a job that is asked for by words, and answered by names */
#ifndef SYMBOLIZERD_JOBS_JOB_PROCESS_H
#define SYMBOLIZERD_JOBS_JOB_PROCESS_H

#include "symbolizerd/jobs/job_queue.h"
#include "symbolizerd/knowledge/jit.h"

/* How many frames the words are; 0: none, too many, or the last one is not whole. */
uint32_t job_process_frames(const struct jit_question *q);

/* A copy of the question; malloc'ed, NULL without memory. */
struct job_process *job_process_make(const struct jit_question *q, enum job_kind kind,
				     uint32_t runtime);

static inline enum job_kind job_kind(const struct job *job)
{
	return job->process ? job->process->kind : JOB_FILE;
}

#endif /* SYMBOLIZERD_JOBS_JOB_PROCESS_H */
