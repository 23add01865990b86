/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug - symbolizerd asks for the debug file of an executable
 *
 * A build ID is all it may name; the opener makes a path of it.  At most
 * DEBUG_MAX questions at a time: each comes from a worker that waits.
 */
#ifndef LOADERD_DEBUG_H
#define LOADERD_DEBUG_H

#include <stdint.h>

#include "loaderd/hub_link.h"
#include "loaderd/opener.h"

#define DEBUG_MAX	4
#define DEBUG_ID	(1ULL << 63)	/* bit of our ids at the opener */

struct debug {
	struct opener *opener;
	struct hub_link *hub;
	uint64_t last_id;
	struct debug_question {
		uint64_t id;		/* 0: free */
		uint64_t since_ns;
		uint32_t exe;
	} asked[DEBUG_MAX];
};

/* m: judged by its rule only.  tgid: a process that runs from the executable. */
void debug_wanted(struct debug *d, const struct msg_debug_wanted *m,
		  uint32_t tgid);

/* The opener's answer to an id with DEBUG_ID.  Takes over the descriptor. */
void debug_opened(struct debug *d, struct msg *m);

/* Each second: what hangs is killed, and answered. */
void debug_tick(struct debug *d, uint64_t now);

#endif /* LOADERD_DEBUG_H */
