/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_link - the connection to symbolizerd's `export` socket
 *
 * Tried again for ever, with a jittered wait.  Batches outlive the connection
 * they came from; every one is answered once, under the id it came with (ids
 * of different hubs do not collide: symbolizerd/knowledge/batches.h).  An answer that
 * did not leave before the connection broke is reported as a sum in the next
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
	/* A debug file is wanted, if .debuginfod: exporter_hub_debuginfo() is the
	 * answer.  False: the question makes no sense. */
	bool (*debuginfo)(void *arg, uint64_t id, const struct msg_debuginfo_wanted *m);
	/* The hub is gone, and with it its questions. */
	void (*gone)(void *arg);
	/* Samples that were taken and not answered yet. */
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
	struct export_outcomes in_hello;	/* in one not answered yet */
	struct hub_answer *first, *last;
	/* to be set before exporter_hub_start() */
	bool wants_status, spools, debuginfod;
	bool closing;			/* exporter_hub_close() was called */
	bool said;			/* that the hub is away */
	uint64_t offences;
	struct log_limit log;
};

/* path and ops are borrowed; batches of a hub of uid only.  Returns 0 or
 * -errno; exporter_hub_fini() accepts either. */
int exporter_hub_init(struct exporter_hub *l, struct evloop *loop,
		      const char *path, uid_t uid,
		      const struct exporter_hub_ops *ops, void *arg);
void exporter_hub_fini(struct exporter_hub *l);

void exporter_hub_start(struct exporter_hub *l);

/* The outcome of a batch that came through ops->batch. */
void exporter_hub_done(struct exporter_hub *l, uint64_t id, uint64_t samples,
		       enum batch_outcome outcome);

/* Dropped when it cannot be sent at once: the next comes in a second. */
void exporter_hub_stats(struct exporter_hub *l,
			const struct exporter_stats *stats);

/* The answer to ops->debuginfo: fd is sealed memory, and closed here; or -1.  Dropped when it cannot be sent at once: the hub asks again. */
void exporter_hub_debuginfo(struct exporter_hub *l, uint64_t id, int fd);

/* Take no more batches and connect no more; answers still go out. */
void exporter_hub_close(struct exporter_hub *l);

/* True when no answer waits, or none can be sent any more. */
bool exporter_hub_flushed(const struct exporter_hub *l);

/* Outcomes that no hub will receive: for the last line in the log. */
uint64_t exporter_hub_untold(const struct exporter_hub *l);

#endif /* EXPORTERD_HUB_LINK_H */
