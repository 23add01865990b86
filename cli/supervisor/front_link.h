/* SPDX-License-Identifier: Apache-2.0 */
/* front_link - the supervisor's end of the socket to the front (plan.h) */
#ifndef CLI_SUPERVISOR_FRONT_LINK_H
#define CLI_SUPERVISOR_FRONT_LINK_H

#include <stdbool.h>

#include "cli/supervisor/plan.h"

#define FRONT_FDS_MAX	2		/* with one message: the page's */

struct front_link {
	int fd;				/* -1: there is no front */
	struct plan *message;		/* the last one, PLAN_BYTES_MAX */
	size_t len;			/* of it */
	int fds[FRONT_FDS_MAX], n_fds;	/* that came along */
};

/* A socket for a new front, which is to be closed; or -errno. */
int front_link_open(struct front_link *f);
void front_link_close(struct front_link *f);

/* Tell it, with a descriptor (borrowed) unless that is -1.  Never waits: who
 * does not read misses it.  0 or -EPIPE. */
int front_link_tell(struct front_link *f, struct told m, int fd);

/* Give it one of a new pair of sockets, return the other or -1. */
int front_link_pair(struct front_link *f, enum told_kind kind);

/* Take the next message.  1: there is one; 0: there is none; -EPIPE: it has
 * closed; -EPROTO: it is too long. */
int front_link_read(struct front_link *f);

/* Close what came along with the last message. */
void front_link_drop(struct front_link *f);

#endif /* CLI_SUPERVISOR_FRONT_LINK_H */
