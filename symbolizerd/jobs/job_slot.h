/* SPDX-License-Identifier: Apache-2.0 */
/* job_slot - a worker, the job that it has, and how far that is */
#ifndef SYMBOLIZERD_JOBS_JOB_SLOT_H
#define SYMBOLIZERD_JOBS_JOB_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/evloop.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/jobs/job_queue.h"
#include "symbolizerd/knowledge/debug_files.h"

/* Where the time goes that a file waits for its table.  CLOCK_MONOTONIC; 0: it did not
 * happen. */
struct job_times {
	uint64_t came_ns;		/* the file, with its descriptor */
	uint64_t started_ns;		/* a worker was asked for */
	uint64_t forked_ns;		/* there is one */
	uint64_t asked_ns, told_ns;	/* for its debug file, and the answer */
	uint64_t done_ns;		/* its table is there */
	uint64_t installed_ns;		/* and was sent on */
};

/* With --debug; tests/bench/new_files.py reads it. */
void job_times_log(const struct job_times *t, const struct executable *e);

enum slot_state {
	SLOT_FREE = 0,
	SLOT_MEMORY,		/* waits for its process's memory: no worker */
	SLOT_BUSY,		/* no answer yet */
	SLOT_ANSWERED,		/* answer taken; the worker is to exit */
	SLOT_FAILED,		/* killed; what it still says is discarded */
	SLOT_STUCK,		/* likewise, and it does not die: job_places.h */
};

struct jobs;

struct job_slot {
	struct ev_source src;		/* first */
	struct jobs *jobs;
	struct conn conn;
	struct job job;
	enum job_kind kind;
	uint64_t started_ns;		/* the worker */
	struct job_times times;		/* of its file */
	uint64_t deadline_ns;
	bool slow;			/* the worker has a slow job */
	bool memory;			/* its job is to read a process's memory */
	enum slot_state state;
	uint64_t question;		/* id of that for memory */
	/* once a job each: for its debug file, that one's alternate file, its package */
	bool asked[DEBUG_PACKAGE + 1];
	bool waits;			/* for the answer */
};

/* A worker died, or was killed, before it had answered; how: as in "a worker <how>". */
void job_slot_log_death(const struct job *job, int verdict, const char *how);

/* Its job is to read this: the symbols, too, if a sample wants them. */
void job_slot_read(struct job_slot *slot, struct executable *e);

/* A worker was asked for just now: it has this job from now on. */
void job_slot_begin(struct job_slot *slot, uint64_t now_ns);

/* Map and check the symbols that a worker sent.  0; -ENOMEM; or another -errno, they are not
 * symbols.  *map, of *len bytes, is the caller's. */
int job_slot_symbols(int fd, const void **map, size_t *len, struct symbol_index *ret);

/* Send the worker its job.  0 or -errno. */
int job_slot_send(struct job_slot *slot);

/* The worker asks for a debug file (MSG_DEBUG_WANTED): *ret is what it asks for.
 * MSG_OK, or an offence: it may ask once a job, and only for a file's; in one of lines
 * for its alternate file and its package, too. */
int job_slot_debug_wanted(struct job_slot *slot, const struct msg *msg, struct msg_wanted *ret);

/* The answer to that; fd borrowed, -1: there is none.  0 or -errno. */
int job_slot_tell_debug(struct job_slot *slot, int fd, enum debug_source source);

#endif /* SYMBOLIZERD_JOBS_JOB_SLOT_H */
