/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs - what waits for a worker, and the workers
 *
 * A descriptor is held only while its file waits or is worked on.  What a
 * sample waits for goes first, then the oldest.  A worker that outlives the
 * deadline is killed; one that dies, is killed, or answers nonsense puts its
 * executable into quarantine.
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
};

enum slot_state {
	SLOT_FREE = 0,
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
	bool asks;			/* for a debug file, once a job */
	bool waits;			/* for the answer */
};

struct jobs {
	struct ev_source zygote_src;
	struct conn zygote;
	struct job_slot slots[WORKER_SLOTS];
	struct job_queue queue;
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
bool jobs_add(struct jobs *jobs, enum job_kind kind, uint32_t number,
	      uint32_t exe, int fd);

/* Drop what is queued for this number. */
void jobs_cancel(struct jobs *jobs, uint32_t number);

/* loaderd's answer to a question for a debug file; fd borrowed, -1: none. */
void jobs_debug(struct jobs *jobs, uint32_t number, int fd);

void jobs_tick(struct jobs *jobs, uint64_t now_ns);

#endif /* SYMBOLIZERD_HUB_JOBS_H */
