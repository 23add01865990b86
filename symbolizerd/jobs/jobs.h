/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs - what waits for a worker, and the workers
 *
 * A file has two parts, its table and its symbols.  The table is made when the file
 * comes, the symbols when a sample has met it: in the same visit if that was before
 * the visit began, else in another one, with the descriptor that was kept.
 *
 * There are two kinds of jobs, files and processes, each with a queue.  When
 * both wait they take turns, so neither starves the other.  The owner with
 * the least of the workers' time goes first; of its files first those that a sample
 * waits for, then the oldest; of its processes the oldest.
 *
 * A job that takes longer than JOB_SHORT_NS is slow.  One worker at a time may
 * have a slow job; if there is one already, the new one is killed and its job
 * begins again when the other has ended.  So the others always have a worker.
 *
 * A descriptor of a file is held while it waits or is worked on; a process's
 * memory is opened when it is its turn.  A file's question is answered after
 * JOB_SHORT_NS, so that loaderd goes on to files of others; its table comes when
 * it is done.  A worker that outlives the deadline is killed; one that dies, is
 * killed, or sends an invalid answer puts its executable or its process into quarantine.
 *
 * No job begins when the share of CPU time for files is used up (cpu_share.h).
 */
#ifndef SYMBOLIZERD_JOBS_JOBS_H
#define SYMBOLIZERD_JOBS_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/cpu_share.h"
#include "symbolizerd/knowledge/debug_files.h"
#include "symbolizerd/knowledge/executable.h"
#include "symbolizerd/knowledge/visits.h"
#include "symbolizerd/jobs/job_process.h"
#include "symbolizerd/jobs/job_queue.h"
#include "symbolizerd/jobs/job_slot.h"
#include "symbolizerd/worker/zygote.h"

#define JOB_DEADLINE_NS	10000000000ULL	/* outside of tests */
#define JOB_SHORT_NS	1000000000ULL	/* seen at a tick */
#define JOB_LINES_CPU_S	2	/* of a worker; it stops by itself after LINES_JOB_NS and a place */

/* What the workers' answers lead to.  i is an index in struct executables. */
struct jobs_ops {
	struct executable *(*exe)(void *ctx, uint32_t i);
	/* does the number still stand for entry i? */
	bool (*meant)(void *ctx, uint32_t number, uint32_t i);
	/* a table (fd borrowed): MSG_OK, or an offence of the worker */
	int (*table)(void *ctx, uint32_t number, int fd);
	/* verdict: why it has none */
	void (*no_table)(void *ctx, uint32_t number, int verdict);
	/* ask for a debug file; jobs_debug() gets the answer.  0 or -errno */
	int (*debug)(void *ctx, uint32_t number, const struct msg_wanted *m);
	void (*offence)(void *ctx, int verdict);
	/* Ask for the memory of a process; jobs_memory() gets the answer.  0 or
	 * -errno. */
	int (*memory)(void *ctx, uint64_t id, const struct job_process *p);
	/*
	 * Names of p's frames, or code of its file (borrowed, as p is), result 0.  Or NULL: -errno,
	 * its memory is not to be had (-EAGAIN: now), or it is in quarantine
	 * (-EPERM); or a job_verdict.  Once
	 * for each that was added and not cancelled; must not add another.
	 * May be NULL without jobs_add_process().
	 */
	void (*names)(void *ctx, const struct job_process *p,
		      const struct job_names *names, int result);
	/* It takes long: loaderd is to go on without the answer. */
	void (*pending)(void *ctx, uint32_t number);
	/* The table of entry i is made, and its symbols are not: true, fd is owned
	 * from now on. */
	bool (*keep)(void *ctx, uint32_t i, int fd);
	/* may entry i have symbols of len bytes? */
	bool (*symbols_room)(void *ctx, uint32_t i, size_t len);
	/* a worker lives that began at from_ns (CLOCK_BOOTTIME) or later; may
	 * be NULL */
	void (*forked)(void *ctx, pid_t pid, uint64_t from_ns);
	/* What jobs_memory() brings for p (fd borrowed): may a worker have it?  0 or
	 * -errno.  May be NULL. */
	int (*opened)(void *ctx, const struct job_process *p, int fd);
	/* A worker has ended, which used so much; or this process did, for an answer with lines.
	 * May be NULL. */
	void (*used)(void *ctx, const struct job_slot *slot, uint64_t cpu_ns);
};

/* Ids of questions for memory begin here.  Those for debug files are numbers
 * of files. */
#define JOBS_MEMORY_ID	(1ULL << 32)

struct jobs {
	struct ev_source zygote_src;
	struct conn zygote;
	struct job_slot slots[WORKER_SLOTS];
	struct job_queue queues[JOB__KINDS];
	enum job_kind turn;		/* of the job that was taken last */
	uint64_t questions;		/* for memory, until now */
	struct job_quarantine quarantine;	/* of processes */
	struct hub_stats *stats;	/* borrowed */
	struct cpu_share *share;	/* likewise */
	const struct jobs_ops *ops;
	void *ctx;
	uint64_t deadline_ns;		/* of a job, from its start */
	struct log_limit death_log;
};

/* Take over the descriptors of the zygote.  .deadline_ns and .share are the caller's to set.
 * 0 or -errno. */
int jobs_init(struct jobs *jobs, struct evloop *loop, struct hub_stats *stats,
	      const struct jobs_ops *ops, void *ctx,
	      const struct zygote_ends *ends);
void jobs_fini(struct jobs *jobs);

/* Queue these parts of executable exe, which has this number and owner; fd is
 * owned from now on.  False when the queue is full, or has too many of this
 * owner: fd stays the caller's. */
bool jobs_add(struct jobs *jobs, uint32_t number, uint32_t exe, uint32_t owner,
	      uint32_t parts, int fd);

/*
 * Queue frames of a process: q's words (copied), 1 to JOB_WORDS_MAX, of whole frames
 * that its runtime names.  RUNTIME_NONE: they are of any JIT, and what is asked for is
 * a perf map, not memory.  With q->fd the worker gets a copy of that, and nothing is
 * asked for.  0; -EINVAL, the words are not that; -EPERM, the process is in quarantine;
 * -ENOSPC, the queue is full; or -ENOMEM.
 */
int jobs_add_process(struct jobs *jobs, const struct visit_question *q);

/* Queue q's words, offsets in the file q->fd (copied), which has this number and is
 * entry exe, for their lines.  The same results; q is not quarantined. */
int jobs_add_lines(struct jobs *jobs, const struct visit_question *q, uint32_t number,
		   uint32_t exe);

/* Drop what is queued for this number. */
void jobs_cancel(struct jobs *jobs, uint32_t number);

/* The number stands for nothing any more: drop what is queued for it, but symbols
 * that are wanted. */
void jobs_dropped(struct jobs *jobs, uint32_t number);

/* The answer to a question for a debug file; fd borrowed, -1: none. */
void jobs_debug(struct jobs *jobs, uint32_t number, int fd, enum debug_source source);

/* The answer to question id for a process's memory; fd is owned from now on, -1:
 * none, for this reason (errno). */
void jobs_memory(struct jobs *jobs, uint64_t id, int fd, int reason);

/* No worker has a job, and none waits. */
bool jobs_idle(const struct jobs *jobs);

void jobs_tick(struct jobs *jobs, uint64_t now_ns);

#endif /* SYMBOLIZERD_JOBS_JOBS_H */
