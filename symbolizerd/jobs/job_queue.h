/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue - what waits for a worker, fair by owner
 *
 * Each owner (symbolizerd/tables/owners.h) is charged with the time of workers.  Of the
 * owners whose jobs wait, the one with the least time is served first.  An owner who had
 * nothing waiting saves no time up: it starts from what the last one served had used.
 *
 * loaderd opens the memory or the perf map of JOB_ASKS processes a second, whether a worker
 * follows or not.  An owner has as many of these as are left: half of them alone.
 *
 * An owner whose part of the CPU time for all workers is used up (user_share.h) waits.
 */
#ifndef SYMBOLIZERD_JOBS_JOB_QUEUE_H
#define SYMBOLIZERD_JOBS_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/message_hub.h"
#include "ipc/message_loader.h"
#include "symbolizerd/knowledge/user_share.h"
#include "symbolizerd/tables/owners.h"

#define JOBS_MAX	256	/* of a kind */
#define JOBS_OWED	8	/* an owner who waits for CPU time has as many in any case */
#define JOB_ASKS	16	/* a second: MEMS_A_SECOND of loaderd */
#define JOB_ASKS_NS	1000000000ULL	/* that second */

/* Frames of a process that want names, or offsets in a file. */
struct job_process {
	enum job_kind kind;	/* JOB_PROCESS, JOB_LINES */
	struct process_id process;	/* lines: 0 */
	uint32_t runtime;	/* enum runtime */
	uint32_t n_frames, n_words;
	uint32_t target;	/* which question it is: visit_question.number */
	bool given;		/* the job's descriptor is what is to be read */
	uint64_t words[];	/* n_frames whole frames: bpf/frame.h; or offsets */
};

struct job {
	struct job_process *process;	/* owned; NULL: a file */
	uint32_t number;	/* file, lines: of the executable */
	uint32_t exe;		/* likewise: index in struct executables */
	uint32_t owner;		/* of the file, or of the process; OWNER_UNKNOWN */
	uint32_t parts;		/* file: enum job_part, still to be answered */
	int fd;			/* -1: it is not opened */
	bool slow;		/* it took longer than the first deadline */
	bool told;		/* file: loaderd does not wait for it */
	bool put_off;		/* file: waits for CPU time, and is counted; process: its owner
				 * has asked so often in this second */
	bool again;		/* file: read_again_given() */
	uint64_t since_ns;	/* when it came */
};

/* What was asked for last. */
struct job_asks {
	struct {
		uint64_t ns;		/* when */
		uint32_t owner;
	} v[JOB_ASKS];
	uint32_t n;			/* until now */
	uint64_t put_off;		/* jobs that had to wait for it, until now */
};

struct job_queue {
	struct job *v;		/* NULL until needed */
	size_t n;
	struct owners used;	/* ns; its .seed is the owner's to set */
	uint64_t floor;		/* ns that the last one had used that went */
	struct job_asks asks;
	/* of all workers; NULL: there is no limit.  Borrowed, as the counter. */
	struct user_share *share;
	uint64_t *put_off;		/* jobs that waited for their owner's part */
};

/* False: JOBS_MAX wait, or as many of this owner's as there are places left.  The
 * descriptor stays the caller's then. */
bool job_queue_add(struct job_queue *q, const struct job *job);

/* One of an owner whose part of the CPU time is used up, and who has JOBS_OWED others, goes
 * for a job of this owner: *ret is the caller's.  False: there is none. */
bool job_queue_displace(struct job_queue *q, uint32_t owner, struct job *ret);

/* Put one back that was taken out: there is always room, for WORKER_SLOTS. */
void job_queue_again(struct job_queue *q, const struct job *job);

/* Take out the job that goes next, of the slow ones or of the others: of the
 * owner with the least time, the first that is wanted or else the first; but none that is to
 * ask, if its owner may not now, and none of an owner whose part is used up: both are
 * counted.  False when there is none. */
bool job_queue_take(struct job_queue *q, bool slow,
		    bool (*wanted)(void *ctx, const struct job *job), void *ctx,
		    uint64_t now_ns, struct job *ret);

/* loaderd was asked for this owner. */
void job_queue_asked(struct job_queue *q, uint32_t owner, uint64_t now_ns);

/* A worker was busy for this owner so long. */
void job_queue_charge(struct job_queue *q, uint32_t owner, uint64_t ns);

/* All that waits is put off.  How many were not yet. */
uint64_t job_queue_put_all_off(struct job_queue *q);

void job_queue_remove(struct job_queue *q, size_t i);
void job_queue_fini(struct job_queue *q);	/* the jobs are the caller's */

#endif /* SYMBOLIZERD_JOBS_JOB_QUEUE_H */
