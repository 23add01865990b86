/* SPDX-License-Identifier: Apache-2.0 */
/* programs - how each program is started, with exactly what it shall have */
#ifndef CLI_SUPERVISOR_PROGRAMS_H
#define CLI_SUPERVISOR_PROGRAMS_H

#include <sys/types.h>

#include "cli/supervisor/ask.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/runtime_dir.h"

/* What all of them are started with. */
struct launch {
	const char *dir;		/* of the daemons */
	char *const *argv;		/* ours: PATH-OF-TRIFOLD COMMAND ... */
	struct identities ids;
	int socket[RUNTIME_SOCKETS];
	int log_fd;			/* what they write; -1: as ours */
};

/* The user's command: what is behind the first "--", at least NULL. */
char *const *program_command(char *const *argv);

/*
 * Start m->program with m->words; m: len bytes, checked.  n descriptors, at most
 * ASK_FDS_MAX, borrowed, become 3 and on (not of PROGRAM_HUB); all others are
 * closed there.  Returns its pid or -errno; what fails in the child it says on
 * standard error, and exits with 127.
 */
pid_t program_start(const struct launch *l, const struct ask *m, size_t len,
		    const int *fds, int n);

#endif /* CLI_SUPERVISOR_PROGRAMS_H */
