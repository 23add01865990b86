/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_dir - /run/trifold: the sockets by which the processes find
 * each other, and the lock that keeps a second `trifold run` out
 */
#ifndef CLI_SUPERVISOR_RUNTIME_DIR_H
#define CLI_SUPERVISOR_RUNTIME_DIR_H

#include "cli/supervisor/identity.h"

#define RUNTIME_DIR	"/run/trifold"
#define LOADER_SOCKET	RUNTIME_DIR "/loader.sock"
#define EXPORT_SOCKET	RUNTIME_DIR "/export.sock"
#define STATUS_SOCKET	RUNTIME_DIR "/status.sock"
#define NOTIFY_SOCKET	RUNTIME_DIR "/notify.sock"
#define LOCK_FILE	RUNTIME_DIR "/lock"

#define RUNTIME_SOCKETS	4	/* the hub's loader, export and status: they
				 * listen, SOCK_SEQPACKET; and: */
#define RUNTIME_NOTIFY	3	/* SOCK_DGRAM, takes READY=1 */

/*
 * Make it all; each socket can be connected to by the one uid that shall
 * (status: the viewer's, notify: the front's), and by root.  The lock is held
 * until this process ends; it is root's alone so that nobody else can hold it,
 * and says "pid PID hub-uid UID".  Returns 0, or -errno after a line on
 * standard error (-EBUSY: another one runs).  runtime_dir_remove() after
 * success.
 */
int runtime_dir_make(int socket[RUNTIME_SOCKETS], const struct identities *ids);
void runtime_dir_remove(void);

/* A connection to the status socket of whoever listens there, whose messages
 * come with credentials; or -errno. */
int runtime_dir_connect(void);

#endif /* CLI_SUPERVISOR_RUNTIME_DIR_H */
