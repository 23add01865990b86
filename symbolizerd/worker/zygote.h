/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote - forks the workers, because the main process may not fork
 *
 * Forked from main() before anything foreign is read, so each worker starts
 * from memory without foreign data.  One socket to the main process
 * (MSG_FORK, MSG_KILL; MSG_EXITED), and one a slot that a worker inherits.
 * All workers share the zygote's address layout; what one of them may reveal
 * of it reaches the main process only in the fields of its one answer.
 *
 * It ends when the main process does, and so do the workers.
 */
#ifndef SYMBOLIZERD_WORKER_ZYGOTE_H
#define SYMBOLIZERD_WORKER_ZYGOTE_H

#include <sys/types.h>

#include "ipc/message_hub.h"

/* .status of a MSG_EXITED when fork(2) itself failed; no wait status. */
#define ZYGOTE_NO_FORK	(-1)

struct zygote_ends {		/* the main process's */
	int control;
	int slots[WORKER_SLOTS];
};

/* Start it; it becomes uid and gid as sandbox_identity() says.  Returns 0 and
 * the descriptors, or -errno. */
int zygote_start(uid_t uid, gid_t gid, struct zygote_ends *ret);

#endif /* SYMBOLIZERD_WORKER_ZYGOTE_H */
