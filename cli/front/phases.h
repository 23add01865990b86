/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases - when each program is started, started again, and ended
 *
 * Sockets outlive symbolizerd.  A daemon that dies is started again after 0.1 s,
 * doubling to a limit (phases_backoff(), backoffs[] in phases.c); three deaths
 * before it was ever ready fail the recording.
 *
 * At the end (a signal, --duration, the command's end) programs end in the order
 * of the data, so that nothing is lost: loaderd stops sampling and hands over its
 * rest, symbolizerd hands over its last batch and waits for its outcome,
 * exporterd and the viewer end, the recorder writes.  A second signal ends all of
 * them at once.
 *
 * SIGHUP, where the plan has PLAN_RELOAD: a reader reads the configuration again,
 * and its socket is in .reader.  For a key that only exporterd or only loaderd
 * uses, that daemon is replaced:
 *
 *  - exporterd ends by SIGHUP: it finishes the request under way, and the hub
 *    gives its successor every batch without an answer.  Nothing is lost.
 *  - loaderd ends by SIGTERM: it hands over all samples of the kernel, so none is
 *    lost; none is taken until its successor samples.
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

/* Callbacks; none may be NULL. */
struct phases_ops {
	/* A connection to the hub (taken over). ready: all daemons are; if
	 * loaderd samples, call phases_run(). */
	void (*hub)(void *arg, int fd, uid_t hub_uid, bool ready);
	/* The recorder's control socket (taken over), and a new exporterd's
	 * (borrowed) for it. */
	void (*recorder)(void *arg, int fd);
	void (*feed)(void *arg, int fd);
	void (*running)(void *arg, uint64_t now);
	/* The command has ended: loaderd is asked to stop. */
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
	uint64_t replace_ns;	/* it is being replaced, and must end by then;
				 * 0: it is not */
};

struct phases {
	struct plan *plan;
	struct orders *orders;
	struct console *console;	/* for messages */
	const struct phases_ops *ops;
	void *arg;			/* of ops */
	int notify;			/* takes READY=1 */
	int page[2], n_page;		/* listening sockets of the viewer */
	int tty;			/* the terminal; -1: none, or its end
					 * is ignored */
	bool nohup;			/* SIGHUP was ignored at the start:
					 * nohup(1) */

	struct phase_proc proc[PROGRAM__COUNT];
	enum front_phase phase;
	int go;			/* the launcher's socket; -1: none, or
				 * closed */
	pid_t writer;		/* the recorder's child; 0: not known */
	int reader;		/* socket of the newest reader; -1: none */
	bool reload_again;
	bool failed;		/* the exit status will be 1 */
	bool quick;		/* asked twice to end */
	bool unwritten;		/* the recorder failed */
	bool killed;		/* SIGKILL was sent in this phase */
	int end_signal;		/* to send to the command; 0: it got one
				 * already */
	int status;		/* the exit status, unless failed */
	uint64_t deadline_ns;	/* of this phase; UINT64_MAX: none */
	uint64_t asked_ns;
	uint64_t start_real_ns, end_real_ns;	/* of sampling; 0: not yet */
};

/* Start the daemons and what they need.  The fields up to .nohup are set.  All
 * times are CLOCK_MONOTONIC. */
void phases_begin(struct phases *p, uint64_t now);

/* Handle a message of the supervisor. */
void phases_tell(struct phases *p, const struct tell *t, uint64_t now);

/* .notify can be read. */
void phases_notify(struct phases *p);

/* loaderd samples. */
void phases_run(struct phases *p, uint64_t now);

/* Begin to end. */
void phases_end(struct phases *p, uint64_t now);

/* Replace these daemons, a sum of 1 << enum program, after a change of the
 * plan. */
void phases_replace(struct phases *p, uint32_t which, uint64_t now);

/* Do what is due.  Returns how long to wait, ms. */
void phases_advance(struct phases *p, uint64_t now);
int phases_timeout_ms(const struct phases *p, uint64_t now);

/*
 * How long to wait before a daemon is started again, ns; *backoff (0 at first) is
 * the wait before the last start, lived_ns how long it ran since.  It doubles
 * with each death: up to 1 s for one that had come up, unless it lived for 2 s;
 * up to 5 s for one that had not, unless it lived for 10 s.  So killing a daemon
 * again and again stops little, and one that cannot start takes no CPU.
 */
uint64_t phases_backoff(uint64_t *backoff, uint64_t lived_ns, bool ready);

#endif /* CLI_FRONT_PHASES_H */
