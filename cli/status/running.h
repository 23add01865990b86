/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running - the trifold that runs here already, if one does
 */
#ifndef CLI_STATUS_RUNNING_H
#define CLI_STATUS_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/hub_client.h"

/* The uid of the symbolizerd that serves the status socket: by the lock file of
 * a running trifold, else of the user trifold-symbolizerd.  0 or -ENOENT. */
int running_hub_uid(uid_t *ret);

/* Connect to the symbolizerd that serves the status socket, and say of what uid
 * it is.  0 or -errno, see running_nobody(). */
int running_connect(struct conn *c, uid_t *hub_uid);

/* May this user not ask the trifold that runs?  Then says who may; command: of
 * trifold, for a message. */
bool running_forbidden(const char *command);

/* Do systemd's units run it?  They have no lock, as `trifold run` has. */
bool running_as_units(void);

/* The same, and then says so to who wants to start another one. */
bool running_units_forbid(void);

/* Does this error say that there is none? */
bool running_nobody(int r);

/*
 * Wait some seconds for its status; loader: for one that says that loaderd is
 * there.  0; or -errno: see running_nobody(), -ETIMEDOUT when symbolizerd says
 * nothing, -ENOLINK when it has no loaderd.  top, if not NULL: who made its
 * socket, the supervisor or a service manager; 0: not to be seen.
 */
int running_status(struct status *ret, bool loader, pid_t *top);

#endif /* CLI_STATUS_RUNNING_H */
