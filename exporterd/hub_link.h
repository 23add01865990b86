/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_link - the connection to symbolizerd's `export` socket
 *
 * Connects again for ever, with a jittered wait.  Batches survive the connection
 * that they came from; each is answered once, under its id (ids of different
 * hubs do not collide: symbolizerd/knowledge/batches.h).  Answers that could not be
 * sent before the connection broke are reported as a sum in the next
 * MSG_HELLO_EXPORTER.
 */
#ifndef EXPORTERD_HUB_LINK_H
#define EXPORTERD_HUB_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/log_limit.h"
#include "exporterd/backoff.h"
#include "exporterd/timer.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"

struct hub_answer;			/* an unsent MSG_BATCH_DONE */

struct exporter_hub_ops {
	/* A batch has come; fd is borrowed.  Returns MSG_OK, or MSG_BAD_CONTENT
	 * (when it was answered already) to end the connection. */
	int (*batch)(void *arg, uint64_t id, int fd, const struct msg_batch *m);
	/* The hub's status: each second, idle every five, if wants_status. */
	void (*status)(void *arg, const struct status *st);
	/* A debug file is wanted, if .debuginfod; answer with
	 * exporter_hub_debuginfo().  False: the question is invalid. */
	bool (*debuginfo)(void *arg, uint64_t id, const struct msg_debuginfo_wanted *m);
	/* The connection has ended: drop the hub's questions. */
	void (*gone)(void *arg);
	/* Samples that were accepted and not answered yet. */
	uint64_t (*held)(void *arg);
	/* All answers are sent. */
	void (*flushed)(void *arg);
};

struct exporter_hub {
	struct evloop *loop;
	const char *path;
	uid_t uid;
	const struct exporter_hub_ops *ops;
	void *arg;
	struct conn conn;
	struct ev_source src;
	uint32_t events;		/* waited for on src */
	struct timer retry;
	struct backoff backoff;
	struct export_outcomes unreported;	/* for the next hello */
	struct export_outcomes in_hello;	/* sent in a hello without an answer yet */
	struct hub_answer *first, *last;
	/* to be set before exporter_hub_start() */
	bool wants_status, spools, debuginfod;
	bool closing;			/* exporter_hub_close() was called */
	bool said;			/* the hub's absence is in the log */
	uint64_t offences;
	struct log_limit log;
};

/* path and ops are borrowed; uid: the user of the hub.  Returns 0 or -errno;
 * exporter_hub_fini() accepts either. */
int exporter_hub_init(struct exporter_hub *l, struct evloop *loop,
		      const char *path, uid_t uid,
		      const struct exporter_hub_ops *ops, void *arg);
void exporter_hub_fini(struct exporter_hub *l);

void exporter_hub_start(struct exporter_hub *l);

/* The outcome of a batch that came through ops->batch. */
void exporter_hub_done(struct exporter_hub *l, uint64_t id, uint64_t samples,
		       enum batch_outcome outcome);

/* Dropped when it cannot be sent at once: the next one follows in a second. */
void exporter_hub_stats(struct exporter_hub *l,
			const struct exporter_stats *stats);

/* The answer to ops->debuginfo: a file, whose fd is closed here, or -1.  Dropped when it
 * cannot be sent at once: the hub asks again. */
void exporter_hub_debuginfo(struct exporter_hub *l, uint64_t id, int fd);

/* Accept no more batches and do not connect again; answers are still sent. */
void exporter_hub_close(struct exporter_hub *l);

/* No answer waits to be sent. */
bool exporter_hub_flushed(const struct exporter_hub *l);

/* Samples whose outcomes no hub has received. */
uint64_t exporter_hub_untold(const struct exporter_hub *l);

#endif /* EXPORTERD_HUB_LINK_H */
