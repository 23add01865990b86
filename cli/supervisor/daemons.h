/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemons - which programs there are, and how each is started
 */
#ifndef CLI_SUPERVISOR_DAEMONS_H
#define CLI_SUPERVISOR_DAEMONS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/config/options.h"
#include "cli/record/target.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/live_page.h"
#include "cli/supervisor/runtime_dir.h"

enum daemon_id {		/* in the order in which they are started */
	DAEMON_HUB,
	DAEMON_EXPORTER,
	DAEMON_LOADER,
	DAEMON_VIEWER,		/* only with a live page */
	DAEMON__COUNT
};

extern const char *const daemon_names[DAEMON__COUNT];

struct launch {
	const struct options *opt;
	const struct target *target;
	pid_t launcher;			/* of TARGET_COMMAND */
	struct identities ids;
	struct runtime_dir dir;
	char programs[PATH_MAX];	/* directory of the daemons */
	int log_fd;
	bool network;			/* of daemons_export() */
	struct live_page page;
};

/* Find the daemons beside this program or where `make install` puts them; or in
 * libexec, if not NULL.  0, or -ENOENT after a line in the log. */
int daemons_find(const char *libexec, char dir[PATH_MAX]);

/* True if option, environment or file says where to send profiles. */
bool daemons_network(const struct options *o);
/* ... or the environment where to send metrics. */
bool daemons_export(const struct options *o);

/* Start one; feed: exporterd's end of the socket to the recorder, or -1.
 * Returns its pid or -errno. */
pid_t daemon_start(const struct launch *l, enum daemon_id id, int feed);

/* Start the recorder on its end of the control socket.  Likewise. */
pid_t recorder_start(const struct launch *l, int control);

#endif /* CLI_SUPERVISOR_DAEMONS_H */
