/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod - debug files that this host does not have, from debuginfod servers
 *
 * symbolizerd sends a build ID, and <url>/buildid/<hex>/debuginfo is requested from
 * one server after the other.  The file is handed over unread: a worker of symbolizerd
 * parses it.  It is kept on disk, if there is a cache (debug_cache.h), and is then not
 * requested again unless symbolizerd reports it as useless.  Only build IDs leave
 * the host.  Any local user can run a program with a build ID of their choice, so
 * requests are limited:
 *
 * - one at a time, REQUESTS a minute; QUESTIONS wait, further ones are refused;
 * - a build ID that no server has, or whose file was too large or too slow, is
 *   not requested again within an hour, and one whose file was handed over not
 *   within ten minutes; of REMEMBERED ones, of which the user with most of them
 *   loses the oldest;
 * - no requests to a server for a while after it failed (backoff.h).
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

#define DEBUGINFOD_REQUESTS	60	/* a minute, and in a burst, to all servers together */
#define DEBUGINFOD_QUESTIONS	16
#define DEBUGINFOD_REMEMBERED	1024
#define DEBUGINFOD_NO_S		3600	/* no request after "not found" */
#define DEBUGINFOD_FOUND_S	600	/* no request after a file was handed over */
#define DEBUGINFOD_FIRST_S	10	/* wait after a server's first failure */
#define DEBUGINFOD_MOST_S	900	/* longest wait */

struct debuginfod_question {
	uint64_t id;
	struct msg_debuginfo_wanted wanted;
	unsigned int server;	/* the next one */
	bool unsure;		/* a server that was skipped, or failed, may have it */
	bool spoilt;		/* a server has it, but sending it failed */
};

/* A build ID that is not requested for some time. */
struct debuginfod_known {
	uint64_t until_ns;	/* 0: free */
	uint64_t number;	/* the larger, the later it came */
	struct msg_debuginfo_wanted wanted;
};

struct debuginfod_server {
	struct backoff backoff;
	uint64_t until_ns;	/* CLOCK_MONOTONIC: no request before */
};

struct debuginfod {
	const struct debuginfod_config *config;
	struct exporter_stats *stats;	/* its debuginfod_* are counted here */
	struct debug_cache cache;	/* debug_cache_open() is the caller's */
	struct download download;
	struct timer timer;		/* until the next request is allowed */
	struct debuginfod_question questions[DEBUGINFOD_QUESTIONS];
	unsigned int n;			/* the first one is being worked on */
	struct debuginfod_known known[DEBUGINFOD_REMEMBERED];
	uint64_t remembered;	/* until now */
	struct debuginfod_server servers[DEBUGINFOD_SERVERS_MAX];
	uint64_t used_ns;	/* each request uses a sixtieth of a minute; the time used so
				 * far ends here (CLOCK_MONOTONIC) */
	/* Answers question id, once: fd is the callee's, sealed or of the cache; -1: no
	 * file, or not now. */
	void (*answer)(void *arg, uint64_t id, int fd);
	void *arg;
	struct log_limit log;
};

/* config (with at least one server) and stats are borrowed.  0 or -errno;
 * debuginfod_fini() accepts either. */
int debuginfod_init(struct debuginfod *d, struct evloop *loop,
		    const struct debuginfod_config *config,
		    struct exporter_stats *stats,
		    void (*answer)(void *arg, uint64_t id, int fd),
		    void *arg);
void debuginfod_fini(struct debuginfod *d);

/* False: the build ID has an impossible length.  May answer at once. */
bool debuginfod_ask(struct debuginfod *d, uint64_t id,
		    const struct msg_debuginfo_wanted *wanted);

/* Drop all questions: the hub that asked them is gone. */
void debuginfod_forget(struct debuginfod *d);

#endif /* EXPORTERD_DEBUGINFOD_H */
