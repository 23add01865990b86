/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_process - a job that is asked for by words and answered by names, and the processes
 * that get none
 */
#ifndef SYMBOLIZERD_JOBS_JOB_PROCESS_H
#define SYMBOLIZERD_JOBS_JOB_PROCESS_H

#include "symbolizerd/jobs/job_queue.h"
#include "symbolizerd/knowledge/visits.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/line_codes.h"

#define JOBS_QUARANTINE	64	/* processes; the oldest is tried again */
#define JOBS_QUARANTINE_NS	VISITS_CLOSED_NS

/* Processes whose worker died, was killed, or sent an invalid answer. */
struct job_quarantine {
	struct {
		struct process_id process;
		uint64_t since_ns;
	} v[JOBS_QUARANTINE];
	uint32_t n;		/* processes, until now */
};

/* For JOBS_QUARANTINE_NS. */
void job_quarantine_add(struct job_quarantine *q, const struct process_id *process,
			uint64_t now_ns);
bool job_quarantine_has(const struct job_quarantine *q, const struct process_id *process,
			uint64_t now_ns);

/* How many frames the words are; 0: none, too many, or the last one is not whole. */
uint32_t job_process_frames(const struct visit_question *q);

/* A copy of the question; malloc'ed, NULL without memory. */
struct job_process *job_process_make(const struct visit_question *q, enum job_kind kind);

/* What a worker answers: by the job's kind one of the two. */
struct job_names {
	const void *map;
	size_t len;
	struct frame_names names;
	struct line_codes codes;	/* JOB_LINES */
};

/* Judge an answer.  0 or -EPROTO. */
int job_names_open(const struct job_process *p, int fd, struct job_names *ret);
void job_names_close(struct job_names *n);

static inline enum job_kind job_kind(const struct job *job)
{
	return job->process ? job->process->kind : JOB_FILE;
}

#endif /* SYMBOLIZERD_JOBS_JOB_PROCESS_H */
