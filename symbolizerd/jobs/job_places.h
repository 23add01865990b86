/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_places - how many workers may work, and which of them may hang
 *
 * WORKERS work at a time.  A worker that reads a process's memory may meet a page whose file
 * system does not answer (FUSE, of any user); there even SIGKILL is not heeded.  Such a worker
 * is stuck: it keeps its slot, counts no more among the WORKERS, and another one begins in
 * another slot.  The slots beyond WORKERS are the places of those: each worker that reads
 * memory takes one in advance.  An owner who has no less than are left for all but the last
 * gets none; the last one is root's.  Workers that read files take none: those lie where the
 * kernel alone answers (opener_trusts() of loaderd), but a disk may fail.
 */
#ifndef SYMBOLIZERD_JOBS_JOB_PLACES_H
#define SYMBOLIZERD_JOBS_JOB_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/jobs/job_slot.h"

#define JOB_STUCK_PLACES	(WORKER_SLOTS - WORKERS)
#define JOB_DIES_NS	2000000000ULL	/* after SIGKILL; then it is stuck */

/* Fewer than WORKERS work. */
bool job_places_free(const struct job_slot v[WORKER_SLOTS]);

/* May a worker of this owner read memory? */
bool job_places_may_hang(const struct job_slot v[WORKER_SLOTS], uint32_t owner);

/* One has a slow job, or waits for memory for it. */
bool job_places_slow(const struct job_slot v[WORKER_SLOTS]);

/* How many are stuck. */
unsigned int job_places_stuck(const struct job_slot v[WORKER_SLOTS]);

/* No slot has a job: stuck ones have none. */
bool job_places_idle(const struct job_slot v[WORKER_SLOTS]);

#endif /* SYMBOLIZERD_JOBS_JOB_PLACES_H */
