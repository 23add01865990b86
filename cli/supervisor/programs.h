/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs - where the programs are, and how each is started
 */
#ifndef CLI_SUPERVISOR_PROGRAMS_H
#define CLI_SUPERVISOR_PROGRAMS_H

#include <limits.h>
#include <sys/types.h>

#include "cli/supervisor/identity.h"
#include "cli/supervisor/plan.h"
#include "cli/supervisor/runtime_dir.h"

#define PAGE_SOCKETS	2		/* 127.0.0.1 and ::1 */

/* Of all programs; of those that are `trifold` itself, what people call them. */
extern const char *const program_names[PROGRAM__COUNT];

struct launch {
	char dir[PATH_MAX];		/* of the daemons */
	char *const *argv;		/* ours: PATH-OF-TRIFOLD COMMAND ... */
	struct identities ids;
	struct runtime_dir runtime;
	const struct plan *plan;	/* of the daemons and the recorder */
	pid_t launcher;
	int page[PAGE_SOCKETS], n_page;	/* of the viewer */
	int log_fd;			/* what they write */
};

/* Find the daemons in libexec; NULL: beside this program, or where `make
 * install` puts them.  0, or -ENOENT after a line in the log. */
int programs_find(const char *libexec, char dir[PATH_MAX]);

/* Start one that is in the plan; fd: its socket, or -1 (exporterd: to the
 * recorder; the recorder: to the front).  Returns its pid or -errno. */
pid_t program_start(const struct launch *l, enum program id, int fd);

/* Start PROGRAM_FRONT on its socket and the log pipe, or PROGRAM_READER on its
 * socket.  Likewise. */
pid_t program_start_front(const struct launch *l, enum program id, int socket,
			  int log_pipe);

#endif /* CLI_SUPERVISOR_PROGRAMS_H */
