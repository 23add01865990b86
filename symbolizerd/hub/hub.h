/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub - all that symbolizerd's main process holds
 *
 * One struct, made in main() and handed around.  Single-threaded; nobody
 * blocks.  Knowledge (samples, traces, processes, executables, names) knows
 * nothing of the connections; the connections and the queue of jobs find what
 * they need here.
 */
#ifndef SYMBOLIZERD_HUB_HUB_H
#define SYMBOLIZERD_HUB_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "symbolizerd/hub/batches.h"
#include "symbolizerd/hub/cgroup.h"
#include "symbolizerd/hub/executable.h"
#include "symbolizerd/hub/exporter_link.h"
#include "symbolizerd/hub/jobs.h"
#include "symbolizerd/hub/ksym.h"
#include "symbolizerd/hub/ledger.h"
#include "symbolizerd/hub/loader_link.h"
#include "symbolizerd/hub/process.h"
#include "symbolizerd/hub/samples.h"
#include "symbolizerd/hub/status.h"
#include "symbolizerd/hub/trace.h"
#include "symbolizerd/tables/files.h"

struct hub_config {
	uid_t loader_uid, exporter_uid;
	uid_t viewer_uid;	/* may watch, as root may */
	uint64_t interval_ns;
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
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	uint64_t presume_end_ns;	/* of the ledger; 0: not presuming */

	struct ledger ledger;
	struct hub_stats stats;		/* those that are counted, not gauged */
	struct batches batches;
	struct samples samples;
	struct traces traces;
	struct processes processes;
	struct executables exes;
	struct file_policy files;	/* what loaderd has of them */
	struct ksyms ksyms;
	struct cgroups cgroups;
	uint32_t interval;		/* number of the present one; from 1 */
	uint32_t pass;			/* number of the last batch's building */
	uint64_t interval_start_ns;	/* CLOCK_REALTIME */
	uint64_t boot_ns;		/* when it booted, likewise; 0: not asked */
	uint32_t frequency;		/* Hz, as loaderd said */
	bool partial;			/* likewise */

	struct jobs jobs;
	struct loader_link loader;
	struct exporter_link exporter;
	struct status_clients status;
	struct log_limit offence_log;
};

#define hub_of(src, member)						\
	((struct hub *)((char *)(src) - offsetof(struct hub, member)))

/* Count and log the offence of a peer; the caller ends the connection. */
void hub_offence(struct hub *hub, const char *who, int verdict);

#endif /* SYMBOLIZERD_HUB_HUB_H */
