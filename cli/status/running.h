/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running - the trifold that is running on this host, if any
 */
#ifndef CLI_STATUS_RUNNING_H
#define CLI_STATUS_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/hub_client.h"

/* The uid of the symbolizerd that serves the status socket: by the lock file of
 * a running trifold, else of the user trifold-symbolizerd.  0 or -ENOENT. */
int running_hub_uid(uid_t *ret);

/* Connect to the symbolizerd that serves the status socket, and get its uid.  0 or
 * -errno, see running_nobody(). */
int running_connect(struct conn *c, uid_t *hub_uid);

/* Is this user not allowed to use the running trifold?  Then prints who is;
 * command: for that message. */
bool running_forbidden(const char *command);

/* Is it run by systemd's units?  They have no lock, unlike `trifold run`. */
bool running_as_units(void);

/* The same; then prints why another one cannot start. */
bool running_units_forbid(void);

/* Does this error mean that none is running? */
bool running_nobody(int r);

/*
 * Wait some seconds for its status; loader: for one with a loaderd.  0; or -errno:
 * see running_nobody(), -ETIMEDOUT when symbolizerd does not answer, -ENOLINK
 * when it has no loaderd. top, if not NULL: the process that made its socket, the
 * supervisor or a service manager; 0: in another PID namespace.
 */
int running_status(struct status *ret, bool loader, pid_t *top);

#endif /* CLI_STATUS_RUNNING_H */
