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

#define RUNTIME_SOCKETS	4	/* three SOCK_SEQPACKET where the hub listens:
				 * loader, export and status; and */
#define RUNTIME_NOTIFY	3	/* SOCK_DGRAM, which takes READY=1 */

/*
 * Make all of it.  Only one uid can connect to each socket (status: the viewer's,
 * notify: the front's), and root.  The lock is held until this process ends; only
 * root can open it, and so hold it; it says "pid PID hub-uid UID".  Returns 0, or
 * -errno after a line on standard error (-EBUSY: another trifold is running).
 * runtime_dir_remove() after success.
 */
int runtime_dir_make(int socket[RUNTIME_SOCKETS], const struct identities *ids);
void runtime_dir_remove(void);

/* Connect to the status socket.  What listens there is known by the credentials of its
 * messages.  A descriptor, or -errno. */
int runtime_dir_connect(void);

#endif /* CLI_SUPERVISOR_RUNTIME_DIR_H */
