/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod - debug files that this host does not have, from debuginfod servers
 *
 * symbolizerd names a build ID, and the servers are asked one after the other
 * for <url>/buildid/<hex>/debuginfo.  What comes is handed over as it is: a
 * worker there looks at it.  It is kept on disk, where there is a place for it
 * (debug_cache.h), and then no server is asked again; unless symbolizerd says that it
 * was of no use.  Build IDs are all that leaves the host.  Whoever can run a program
 * here can choose its build ID, so requests are few:
 *
 * - one at a time, REQUESTS a minute; QUESTIONS wait, further ones are refused;
 * - a build ID that no server has, or whose file was too large or too slow, is
 *   not asked for again within an hour, and one whose file was handed over not
 *   within ten minutes: of the last REMEMBERED ones;
 * - a server that fails is left alone for a while (backoff.h).
 */
#ifndef EXPORTERD_DEBUGINFOD_H
#define EXPORTERD_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "exporterd/backoff.h"
#include "exporterd/config.h"
#include "exporterd/debug_cache.h"
#include "exporterd/download.h"
#include "exporterd/timer.h"
#include "ipc/message_hub.h"

#define DEBUGINFOD_REQUESTS	60	/* a minute, and at once, to all servers together */
#define DEBUGINFOD_QUESTIONS	16
#define DEBUGINFOD_REMEMBERED	1024
#define DEBUGINFOD_NO_S		3600	/* so long a no counts */
#define DEBUGINFOD_FOUND_S	600	/* so long what was handed over is enough */
#define DEBUGINFOD_FIRST_S	10	/* a server that failed is left alone */
#define DEBUGINFOD_MOST_S	900	/* ... at most */

struct debuginfod_question {
	uint64_t id;
	struct msg_debuginfo_wanted wanted;
	unsigned int server;	/* whose turn it is */
	bool unsure;		/* a server that was not asked, or failed, may have it */
	bool spoilt;		/* it was there, and did not come */
};

/* Of no use to ask for now. */
struct debuginfod_known {
	uint64_t until_ns;	/* 0: free */
	struct msg_debuginfo_wanted wanted;
};

struct debuginfod_server {
	struct backoff backoff;
	uint64_t until_ns;	/* CLOCK_MONOTONIC: not before */
};

struct debuginfod {
	const struct debuginfod_config *config;
	struct exporter_stats *stats;	/* its debuginfod_* are counted here */
	struct debug_cache cache;	/* debug_cache_open() is the caller's */
	struct download download;
	struct timer timer;		/* when the next request may be made */
	struct debuginfod_question questions[DEBUGINFOD_QUESTIONS];
	unsigned int n;			/* the first one is being asked */
	struct debuginfod_known known[DEBUGINFOD_REMEMBERED];
	unsigned int next_known;
	struct debuginfod_server servers[DEBUGINFOD_SERVERS_MAX];
	uint64_t used_ns;	/* a request takes a sixtieth of a minute: what they
				 * took is over then (CLOCK_MONOTONIC) */
	/* Answers id, once: fd is the callee's, sealed or of the cache; or -1: there
	 * is none, or not now. */
	void (*answer)(void *arg, uint64_t id, int fd);
	void *arg;
	struct log_limit log;
};

/* config (with a server at least) and stats are borrowed.  0 or -errno;
 * debuginfod_fini() accepts either. */
int debuginfod_init(struct debuginfod *d, struct evloop *loop,
		    const struct debuginfod_config *config,
		    struct exporter_stats *stats,
		    void (*answer)(void *arg, uint64_t id, int fd),
		    void *arg);
void debuginfod_fini(struct debuginfod *d);

/* False: the build ID has no length that one has.  May answer at once. */
bool debuginfod_ask(struct debuginfod *d, uint64_t id,
		    const struct msg_debuginfo_wanted *wanted);

/* Nobody waits for answers any more. */
void debuginfod_forget(struct debuginfod *d);

#endif /* EXPORTERD_DEBUGINFOD_H */
