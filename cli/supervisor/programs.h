/* SPDX-License-Identifier: Apache-2.0 */
/* programs - start each program, with exactly what it needs */
#ifndef CLI_SUPERVISOR_PROGRAMS_H
#define CLI_SUPERVISOR_PROGRAMS_H

#include <sys/types.h>

#include "cli/supervisor/ask.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/runtime_dir.h"

/* What is needed to start any of them. */
struct launch {
	const char *dir;		/* of the daemons */
	char *const *argv;		/* ours: PATH-OF-TRIFOLD COMMAND ... */
	struct identities ids;
	int socket[RUNTIME_SOCKETS];
	int log_fd;			/* their standard output and error */
};

/* The user's command: the words after the first "--", at least NULL. */
char *const *program_command(char *const *argv);

/*
 * Start m->program with m->words; m: len bytes, checked.  n descriptors, at most
 * ASK_FDS_MAX, borrowed, become 3 and following there (PROGRAM_HUB gets the sockets
 * instead); all others are closed.  Returns its pid or -errno; if the child fails, it
 * writes a line to standard error and exits with 127.
 */
pid_t program_start(const struct launch *l, const struct ask *m, size_t len,
		    const int *fds, int n);

#endif /* CLI_SUPERVISOR_PROGRAMS_H */
