/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases - when each program is started, started again, and ended
 *
 * Sockets outlive symbolizerd.  A daemon that dies is started again after 0.1
 * s, doubling to a limit (phases_backoff(), backoffs[] in phases.c); three
 * deaths before one was ever ready, and the recording fails.
 *
 * The end, whatever brings it about (a signal, --duration, the command's
 * end), goes with the stream, so that nothing is lost: loaderd stops sampling
 * and hands over its rest, symbolizerd hands over its last batch and waits for
 * what becomes of it, exporterd ends, the viewer, the recorder writes.  A
 * second signal ends all at once.
 *
 * SIGHUP, where the plan has PLAN_RELOAD: a reader reads the configuration
 * again, and its socket is in .reader.  What only exporterd or only loaderd
 * obeys takes effect by another one in its place:
 *
 *  - exporterd ends by SIGHUP: it finishes the request under way, and the hub
 *    gives its successor whatever has no answer.  Nothing is lost.
 *  - loaderd ends by SIGTERM: it hands over all that the kernel took.  Nothing
 *    is lost; until its successor samples, no samples are taken.
 */
#ifndef CLI_FRONT_PHASES_H
#define CLI_FRONT_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/front/orders.h"
#include "cli/record/console.h"

enum front_phase {
	PHASE_STARTING,
	PHASE_RUNNING,
	PHASE_END_COMMAND,	/* it still runs, and was asked to end */
	PHASE_END_LOADER,
	PHASE_END_HUB,
	PHASE_END_EXPORTER,
	PHASE_END_VIEWER,
	PHASE_END_RECORDER,
	PHASE_ENDED
};

/* What others do when something happens; none may be NULL. */
struct phases_ops {
	/* A connection to the hub (taken over).  ready: all daemons are; is
	 * loaderd there?  Then phases_run() is to be called. */
	void (*hub)(void *arg, int fd, uid_t hub_uid, bool ready);
	/* The recorder's control socket (taken over), and a new exporterd's
	 * (borrowed) for it. */
	void (*recorder)(void *arg, int fd);
	void (*feed)(void *arg, int fd);
	void (*running)(void *arg, uint64_t now);
	/* What runs as a command has ended: loaderd is to stop. */
	void (*ending)(void *arg);
	/* The recorder is to write what was sampled in this time,
	 * CLOCK_REALTIME.  0, or -errno: it cannot be told. */
	int (*write)(void *arg, uint64_t start_ns, uint64_t end_ns);
};

struct phase_proc {
	pid_t pid;		/* 0: not running */
	bool ready;		/* has said READY=1 */
	bool was_ready;		/* so did this one or one before it */
	unsigned int tries;	/* deaths before any was ready */
	uint64_t started_ns;
	uint64_t due_ns;	/* when to start it (again) */
	uint64_t backoff_ns;
	uint64_t replace_ns;	/* it ends by then for another one; 0: no */
};

struct phases {
	struct plan *plan;
	struct orders *orders;
	struct console *console;	/* where it says what goes wrong */
	const struct phases_ops *ops;
	void *arg;			/* of ops */
	int notify;			/* takes READY=1 */
	int page[2], n_page;		/* listening sockets of the viewer */
	int tty;			/* the terminal's, -1: none, or it may go */
	bool nohup;			/* so said nohup(1) */

	struct phase_proc proc[PROGRAM__COUNT];
	enum front_phase phase;
	int go;			/* the launcher's socket; -1: none any more */
	pid_t writer;		/* the recorder's child; 0: not known */
	int reader;		/* socket of the newest reader; -1: none */
	bool reload_again;
	bool failed;		/* the exit status will be 1 */
	bool quick;		/* asked twice to end */
	bool killed;		/* of this phase: the last means was used */
	int end_signal;		/* what to send the command; 0: it knows */
	int status;		/* the exit status, unless failed */
	uint64_t deadline_ns;	/* of this phase; UINT64_MAX: none */
	uint64_t asked_ns;
	uint64_t start_real_ns, end_real_ns;	/* of sampling; 0: not yet */
};

/* Start what the daemons need, then these.  The fields up to .nohup are set.
 * All times are CLOCK_MONOTONIC. */
void phases_begin(struct phases *p, uint64_t now);

/* The supervisor told that. */
void phases_tell(struct phases *p, const struct tell *t, uint64_t now);

/* .notify can be read. */
void phases_notify(struct phases *p);

/* loaderd samples. */
void phases_run(struct phases *p, uint64_t now);

/* Begin to end: all that was to be recorded has ended. */
void phases_end(struct phases *p, uint64_t now);

/* Other ones in place of these daemons, a sum of 1 << enum program; the plan
 * is new. */
void phases_replace(struct phases *p, uint32_t which, uint64_t now);

/* Do what is due; then how long to wait, ms. */
void phases_advance(struct phases *p, uint64_t now);
int phases_timeout_ms(const struct phases *p, uint64_t now);

/*
 * How long to wait before a daemon is started again, ns; *backoff (0 at first)
 * is the wait before the last start, lived_ns how long it ran since.  It doubles
 * with each death: up to 1 s for one that had come up, unless it lived for 2 s;
 * up to 5 s for one that had not, unless it lived for 10 s.  Whoever can kill a
 * daemon must not gain more by that, and one that cannot start takes no CPU.
 */
uint64_t phases_backoff(uint64_t *backoff, uint64_t lived_ns, bool ready);

#endif /* CLI_FRONT_PHASES_H */
