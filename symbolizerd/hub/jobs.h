/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs - what waits for a worker, and the workers
 *
 * There are two kinds of jobs, files and processes, each with a queue.  When
 * both wait they take turns, so neither starves the other.  Of files goes first
 * what a sample waits for, then the oldest; of processes the oldest.
 *
 * A descriptor of a file is held while it waits or is worked on; a process's
 * memory is opened when it is its turn.  A worker that outlives the deadline is
 * killed; one that dies, is killed, or answers nonsense puts its executable or
 * its process into quarantine.
 */
#ifndef SYMBOLIZERD_HUB_JOBS_H
#define SYMBOLIZERD_HUB_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/hub/executable.h"
#include "symbolizerd/hub/job_queue.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/worker/zygote.h"

#define JOB_DEADLINE_NS	10000000000ULL	/* outside of tests */

/* What the workers' answers lead to.  i is an index in struct executables. */
struct jobs_ops {
	struct executable *(*exe)(void *ctx, uint32_t i);
	/* does the number still stand for entry i? */
	bool (*meant)(void *ctx, uint32_t number, uint32_t i);
	/* a table (fd borrowed): MSG_OK, or an offence of the worker */
	int (*table)(void *ctx, uint32_t number, int fd);
	void (*no_table)(void *ctx, uint32_t number);
	/* ask for a debug file; jobs_debug() gets the answer.  0 or -errno */
	int (*debug)(void *ctx, uint32_t number, struct msg_wanted *m);
	void (*offence)(void *ctx, int verdict);
	/* Ask for the memory of a process; jobs_memory() gets the answer.  0 or
	 * -errno. */
	int (*memory)(void *ctx, uint64_t id, const struct job_process *p);
	/*
	 * Names of p's frames (borrowed, as p is), result 0.  Or NULL: -errno,
	 * its memory is not to be had (-EAGAIN: now), or it is in quarantine
	 * (-EPERM); or a job_verdict.  Once
	 * for each that was added and not cancelled; must not add another.
	 * NULL if nobody calls jobs_add_process().
	 */
	void (*names)(void *ctx, const struct job_process *p,
		      const struct frame_names *names, int result);
};

enum slot_state {
	SLOT_FREE = 0,
	SLOT_MEMORY,		/* waits for its process's memory: no worker */
	SLOT_BUSY,		/* no answer yet */
	SLOT_ANSWERED,		/* answer taken; the worker is to exit */
	SLOT_FAILED,		/* killed; what it still says is discarded */
};

struct job_slot {
	struct ev_source src;		/* first */
	struct jobs *jobs;
	struct conn conn;
	struct job job;
	uint64_t deadline_ns;
	enum slot_state state;
	uint64_t question;		/* id of that for memory */
	bool asks;			/* for a debug file, once a job */
	bool waits;			/* for the answer */
};

/* Ids of questions for memory begin here.  Those for debug files are numbers
 * of files. */
#define JOBS_MEMORY_ID	(1ULL << 32)
#define JOBS_QUARANTINE	64	/* processes; the oldest is tried again */

struct jobs {
	struct ev_source zygote_src;
	struct conn zygote;
	struct job_slot slots[WORKER_SLOTS];
	struct job_queue queues[JOB__KINDS];
	enum job_kind turn;		/* of the job that was taken last */
	uint64_t questions;		/* for memory, until now */
	struct {
		uint64_t start_ns;
		uint32_t tgid;
	} quarantine[JOBS_QUARANTINE];
	uint32_t quarantined;		/* processes, until now */
	struct hub_stats *stats;	/* borrowed */
	const struct jobs_ops *ops;
	void *ctx;
	uint64_t deadline_ns;		/* of a job, from its start */
	struct log_limit death_log;
};

/* Take over the descriptors of the zygote.  .deadline_ns is the caller's to set.
 * 0 or -errno. */
int jobs_init(struct jobs *jobs, struct evloop *loop, struct hub_stats *stats,
	      const struct jobs_ops *ops, void *ctx,
	      const struct zygote_ends *ends);
void jobs_fini(struct jobs *jobs);

/* Queue fd (owned from now on) of executable exe, which has this number.  False
 * when the queue is full: fd stays the caller's. */
bool jobs_add(struct jobs *jobs, uint32_t number, uint32_t exe, int fd);

/*
 * Queue frames of a process that began at start_ns: n words (copied), 1 to
 * JOB_WORDS_MAX, of whole frames that this runtime names.  0; -EINVAL, the
 * words are not that; -EPERM, the process is in quarantine; -ENOSPC, the queue
 * is full; or -ENOMEM.
 */
int jobs_add_process(struct jobs *jobs, uint32_t tgid, uint64_t start_ns,
		     uint32_t runtime, const uint64_t *words, size_t n);

/* Drop what is queued for this number. */
void jobs_cancel(struct jobs *jobs, uint32_t number);

/* Drop what no worker has yet for this process. */
void jobs_cancel_process(struct jobs *jobs, uint32_t tgid, uint64_t start_ns);

/* loaderd's answer to a question for a debug file; fd borrowed, -1: none. */
void jobs_debug(struct jobs *jobs, uint32_t number, int fd);

/* The answer to question id for a process's memory; fd is owned from now on, -1:
 * none, for this reason (errno). */
void jobs_memory(struct jobs *jobs, uint64_t id, int fd, int reason);

void jobs_tick(struct jobs *jobs, uint64_t now_ns);

#endif /* SYMBOLIZERD_HUB_JOBS_H */
