/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs - files waiting for a worker, and the workers
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
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/hub/job_queue.h"
#include "symbolizerd/worker/zygote.h"

#define JOB_DEADLINE_NS	10000000000ULL

struct hub;

enum slot_state {
	SLOT_FREE = 0,
	SLOT_BUSY,		/* no answer yet */
	SLOT_ANSWERED,		/* answer taken; the worker is to exit */
	SLOT_FAILED,		/* killed; what it still says is discarded */
};

struct job_slot {
	struct ev_source src;		/* first */
	struct hub *hub;
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
	uint32_t life;		/* present one of loaderd */
};

/* Take over the descriptors of the zygote.  0 or -errno. */
int jobs_init(struct hub *hub, const struct zygote_ends *ends);
void jobs_fini(struct hub *hub);

/*
 * Queue the file fd (owned from now on) of executable exe, which loaderd calls
 * number.  0, or the enum job_verdict for which there will be no table.
 */
int jobs_add(struct hub *hub, uint32_t number, uint32_t exe, int fd);

/* loaderd does not want the table of this number any more. */
void jobs_cancel(struct hub *hub, uint32_t number);

/* loaderd's answer to a question for a debug file; fd borrowed, -1: none. */
void jobs_debug(struct hub *hub, uint32_t number, int fd);

/* Another loaderd: what is queued is void, what runs is for us only. */
void jobs_new_life(struct hub *hub);

void jobs_tick(struct hub *hub, uint64_t now_ns);

#endif /* SYMBOLIZERD_HUB_JOBS_H */
