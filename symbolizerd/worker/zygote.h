/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote - forks the workers, because the main process may not fork
 *
 * It is forked from main() before anything foreign is read, so each worker starts
 * from memory without foreign data.  It has one socket to the main process
 * (MSG_FORK, MSG_KILL; MSG_FORKED, MSG_EXITED), and one for each slot, which a worker
 * inherits.  All workers share the zygote's address layout; what one of them may
 * reveal of it reaches the main process only in the fields of its one answer.
 *
 * loaderd waits for the tables of all running programs before it samples (BEGIN_NS
 * there); on a busy host, workers without priority would not have built any by then.
 * So workers of the first ZYGOTE_BEGIN_NS have a higher priority (priority.h).
 *
 * The zygote and its workers end with the main process.
 */
#ifndef SYMBOLIZERD_WORKER_ZYGOTE_H
#define SYMBOLIZERD_WORKER_ZYGOTE_H

#include <sys/types.h>

#include "common/clock.h"
#include "ipc/message_hub.h"

/* .status of a MSG_EXITED when fork(2) itself failed; not a wait status. */
#define ZYGOTE_NO_FORK	(-1)

#define ZYGOTE_BEGIN_NS	(5 * NSEC_PER_SEC)

struct zygote_ends {		/* the main process's */
	pid_t pid;		/* of the zygote */
	int control;
	int slots[WORKER_SLOTS];
};

/* Start the zygote, which switches to uid and gid as sandbox_identity() does.  proc:
 * /proc, open, or -1.  Returns 0 and the descriptors, or -errno. */
int zygote_start(uid_t uid, gid_t gid, int proc, struct zygote_ends *ret);

#endif /* SYMBOLIZERD_WORKER_ZYGOTE_H */
