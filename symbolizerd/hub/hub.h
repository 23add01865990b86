/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub - all that symbolizerd's main process holds
 *
 * Made in main().  Single-threaded; nothing blocks.  knowledge.h does
 * not refer to connections and workers; each of these has
 * pointers to what it needs.  Only run.c sees all of it.
 */
#ifndef SYMBOLIZERD_HUB_HUB_H
#define SYMBOLIZERD_HUB_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/evloop.h"
#include "symbolizerd/hub/exporter_link.h"
#include "symbolizerd/hub/loader_files.h"
#include "symbolizerd/hub/loader_link.h"
#include "symbolizerd/hub/status.h"
#include "symbolizerd/jobs/jobs.h"
#include "symbolizerd/knowledge/knowledge.h"

struct hub_config {
	uid_t loader_uid, exporter_uid;
	uid_t viewer_uid;	/* may watch, as root may */
	bool readers;		/* status.h */
	uint64_t interval_ns;
	bool debuginfod;	/* exporterd may be asked for debug files of servers */
	bool include_self;	/* samples of trifold itself, too */
	bool show_loops;	/* managed.h */
	uint32_t n_own;
	pid_t own[OWN_GIVEN];	/* processes that live as long as the hub: own.h */
	uint32_t cpu_share;	/* percent of all CPUs, for all of trifold */
	uint32_t cpus;		/* so many are online */
	uint32_t lines_share;	/* percent of one CPU, for source_lines.h; 0: no lines */
	bool always_on;		/* no recording: that has RECORDS_SHARE times cpu_share, and
				 * lines at once (source_lines_late()) */
	uint64_t job_deadline_ns;	/* JOB_DEADLINE_NS, but for tests */
	int statm;		/* of cost_open() */
};

/* SIGTERM starts the way from one to the next; each has a deadline. */
enum hub_phase {
	HUB_RUNNING = 0,
	HUB_WAIT_BYE,		/* loaderd may be ending too */
	HUB_WAIT_JOBS,		/* samples still wait for workers */
	HUB_WAIT_EXPORTER,	/* everything is handed; answers are due */
	HUB_ENDED,
};

struct hub {
	struct hub_config config;
	struct evloop loop;
	struct ev_source tick, interval_timer, signals;
	enum hub_phase phase;
	uint64_t phase_end_ns;
	unsigned int idle_ticks;	/* in a row: run.c */
	uint64_t sent;			/* to loaderd, at the last of them */

	struct knowledge k;
	struct jobs jobs;
	struct loader_link loader;
	struct loader_files loader_files;
	struct exporter_link exporter;
	struct debug_files_ops debug_ops;	/* loaderd's side, and exporterd's */
	struct status_clients status;
};

#endif /* SYMBOLIZERD_HUB_HUB_H */
