/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_dir - /run/trifold: the sockets by which the processes find
 * each other, and the lock that keeps a second `trifold run` out
 */
#ifndef CLI_SUPERVISOR_RUNTIME_DIR_H
#define CLI_SUPERVISOR_RUNTIME_DIR_H

#include <sys/types.h>

#include "cli/supervisor/identity.h"

#define RUNTIME_DIR	"/run/trifold"
#define LOADER_SOCKET	RUNTIME_DIR "/loader.sock"
#define EXPORT_SOCKET	RUNTIME_DIR "/export.sock"
#define STATUS_SOCKET	RUNTIME_DIR "/status.sock"
#define NOTIFY_SOCKET	RUNTIME_DIR "/notify.sock"
#define LOCK_FILE	RUNTIME_DIR "/lock"

struct runtime_dir {
	int lock;		/* flock()ed, mode 0600 so that nobody else can
				 * hold it; says "pid PID hub-uid UID" */
	int loader;		/* listening, SOCK_SEQPACKET */
	int export;
	int status;
	int notify;		/* SOCK_DGRAM, with credentials */
};

/*
 * Make it all; each socket can be connected to by the one uid that shall
 * (status: the viewer's), and by root.  Returns 0, or -errno after a line in
 * the log (-EBUSY: another one runs).  runtime_dir_remove() after success.
 */
int runtime_dir_make(struct runtime_dir *d, const struct identities *ids);
void runtime_dir_remove(struct runtime_dir *d);

/* A connection to the status socket of whoever listens there, whose messages
 * come with credentials; or -errno. */
int runtime_dir_connect(void);

#endif /* CLI_SUPERVISOR_RUNTIME_DIR_H */
