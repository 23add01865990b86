/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orders - the front's end of the socket to the supervisor
 *
 * Each order but a signal waits for its reply (cli/supervisor/ask.h).  Messages
 * that arrive meanwhile are kept for orders_next().
 */
#ifndef CLI_FRONT_ORDERS_H
#define CLI_FRONT_ORDERS_H

#include <sys/types.h>

#include "cli/record/plan.h"
#include "cli/supervisor/ask.h"

#define ORDERS_KEPT	64

struct orders {
	int fd;
	unsigned int n;
	struct tell kept[ORDERS_KEPT];	/* the oldest first */
};

/* Have the runtime directory made; all programs write to log_fd.  Returns the
 * socket that takes READY=1, or -errno after a message. */
int orders_open(struct orders *o, int log_fd);

/* Have a program started with its words of the plan and n descriptors
 * (borrowed).  Returns its pid or -errno. */
pid_t orders_start(struct orders *o, enum program id, const struct plan *p,
		   const int *fds, int n);

/* Have a signal sent to a program, if it runs. */
void orders_signal(struct orders *o, enum program id, int sig);

/* Returns a connection to the hub's status socket, whose messages come with
 * credentials, which must be those of *hub_uid; or -errno. */
int orders_connect(struct orders *o, uid_t *hub_uid);

/* The supervisor's next message: 1; 0: none; -EPIPE: the supervisor is gone. */
int orders_next(struct orders *o, struct tell *ret);

#endif /* CLI_FRONT_ORDERS_H */
