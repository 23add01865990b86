/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes_wanted - for which runtimes loaderd is to load the sampler
 *
 * For those that have a file in loaderd's map.  loaderd is asked before the first entry
 * of such a file (MSG_RUNTIMES); while it samples at most once in RUNTIMES_EVERY_NS, and
 * never before it has answered.  Before it samples, those of the first files that it asks
 * about cost one load, if they are found within RUNTIMES_GATHER_NS.  A runtime is given up RUNTIMES_REST_NS after its last file
 * was dropped: who makes files appear and vanish costs a load when they appear, and
 * another one at the earliest a rest later.  What the kernel refuses to load is left out, and
 * tried again after RUNTIMES_RETRY_NS; of several at once each is then tried by itself.
 *
 * A hub that begins anew asks at once, and forgets what was used a moment ago.
 */
#ifndef SYMBOLIZERD_TABLES_RUNTIMES_WANTED_H
#define SYMBOLIZERD_TABLES_RUNTIMES_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/runtime.h"
#include "common/clock.h"
#include "ipc/counters_loader.h"

#define RUNTIMES_EVERY_NS	(2 * NSEC_PER_SEC)
#define RUNTIMES_GATHER_NS	(250 * NSEC_PER_MSEC)
#define RUNTIMES_REST_NS	(60 * NSEC_PER_SEC)
#define RUNTIMES_RETRY_NS	(600 * NSEC_PER_SEC)

struct runtimes_wanted {	/* zero-initialised */
	uint64_t in_force;	/* by loaderd's last word */
	uint64_t asked;		/* for these last */
	uint64_t asked_ns;
	uint64_t since_ns;	/* others are wanted than were asked for; 0: none are */
	bool waiting;		/* for the answer */
	bool heard;		/* loaderd has said what it has */
	bool sampling;		/* loaderd samples: a load keeps it from that */
	uint64_t failed;	/* left out since failed_ns */
	bool apart;		/* several were refused together: each is tried by itself */
	uint64_t failed_ns;
	uint64_t said;		/* that they failed */
	uint64_t used_ns[RUNTIME__MAX];	/* when each had a file last */
};

/* Another connection: what loaderd has is not known, nor what it does. */
void runtimes_wanted_begin(struct runtimes_wanted *w);

/* What loaderd is to be asked for now, by the number of files of each runtime.  more: it
 * waits for answers about others, so it does not begin to sample.  False: nothing. */
bool runtimes_wanted_ask(struct runtimes_wanted *w, const uint32_t files[RUNTIME__MAX],
			 bool more, uint64_t now, uint64_t *ret);

/* loaderd's statistics came.  The runtimes that could not be loaded, which is to be said
 * once; 0: none. */
uint64_t runtimes_wanted_answer(struct runtimes_wanted *w, const struct loader_stats *s,
				uint64_t now);

#endif /* SYMBOLIZERD_TABLES_RUNTIMES_WANTED_H */
