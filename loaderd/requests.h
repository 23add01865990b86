/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests - from a request for a file to its descriptor at the hub
 *
 * A request (from BPF, or from the list of mappings) names a mapping and the
 * file identity that the kernel saw there.  Unless that identity is known
 * already: have the opener open it, let the kernel confirm that the descriptor
 * is that very file, and pass it to the hub.  One mapping is opened at a time,
 * without asking the hub first: the process may be about to end.
 *
 * The hub may also ask for the debug file of a build ID, and for the memory or the
 * perf map of a process, which it gets to read.
 */
#ifndef LOADERD_REQUESTS_H
#define LOADERD_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "loaderd/entries.h"
#include "loaderd/opener.h"

#define REQUESTS_MAX	1024	/* waiting; the rest is asked for again */
#define REQUESTS_SHARE	8	/* of them, of one process; of lists 32 times as many */
#define REQUESTS_USER	512	/* of them, of one user's processes */
/* No file of a process is opened within HANG_NS of one that hung, and none of a user with
 * HANGS_USER of these; while so many openers were killed and have not ended, however long
 * ago that was. */
#define HANG_NS		(60 * NSEC_PER_SEC)
#define HANGS_USER	4
#define HANGS_STUCK	16
#define HANGS_MAX	64	/* the last ones */
#define OPENS_MAX	5	/* with the opener: a mapping, and what the hub
				 * asks for */
#define MEMS_A_SECOND	16	/* processes whose memory or perf map is opened */

struct request_queue {
	struct request_file request[REQUESTS_MAX];	/* the oldest first */
	uint32_t n;
};

struct pending_open {		/* with the opener */
	uint64_t id;		/* 0: none */
	enum msg_type type;	/* MSG_OPEN, or a question of the hub */
	uint64_t hub_id;	/* of that question */
	bool alive;		/* .request's process was listed */
	struct request_file request;	/* the mapping; or the process */
};

struct hang {			/* an open that was killed */
	struct process_id process;	/* whose mapping it was */
	uint32_t owner;
	uint64_t end_ns;	/* it counts until then */
};

struct requests {
	struct entries *entries;
	struct opener *opener;
	bool ready;		/* the hub may be sent files */
	struct request_queue asked, listed;	/* requests of samples go first */
	bool list_more;		/* the list did not fit its queue */
	bool list_useful;	/* a file went to the hub since it was read */
	struct pending_open open[OPENS_MAX];	/* [0]: the mapping */
	uint64_t last_id;
	uint64_t heard_ns;	/* from the opener; or when it got work, having had none */
	uint32_t unanswered;	/* MSG_EXE with the hub */
	struct hang hang[HANGS_MAX];	/* a ring: by the number of openers that were killed */
	uint32_t mems;		/* opened since the last tick */
	struct pending_open *asking;	/* the one whose process requests_alive() lists */
};

/* A request came in; listed: from the list of mappings, less urgent. */
void requests_add(struct requests *rs, const struct request_file *request, bool listed);

/* The hub has been told all that there is and takes files; or (false) it is gone. */
void requests_ready(struct requests *rs, bool ready);

/* The hub is done with a file. */
void requests_answered(struct requests *rs);

/* MSG_DEBUG_WANTED, MSG_MEM_WANTED or MSG_PERF_MAP_WANTED.  Of m only the rule of its type
 * was checked. */
void requests_asked(struct requests *rs, const struct msg *m);

/* An answer of the opener.  Takes over the descriptor. */
void requests_opened(struct requests *rs, struct msg *m);

/* Are mappings to be listed again?  They are if the last list did not fit into its queue,
 * which is empty now, and led to a file for the hub.  True once after each list. */
bool requests_list_again(struct requests *rs);

/* Nothing is waiting, being opened, or with the hub. */
bool requests_idle(const struct requests *rs);

/* Each second: has the opener answered nothing for too long, then it hangs in what it was asked
 * for first.  That is ended; the others are the next opener's.  Had it something to open? */
bool requests_tick(struct requests *rs, uint64_t now);

#endif /* LOADERD_REQUESTS_H */
