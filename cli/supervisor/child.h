/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child - starting a program with exactly what it shall have
 */
#ifndef CLI_SUPERVISOR_CHILD_H
#define CLI_SUPERVISOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CHILD_FDS_MAX	4
#define CHILD_FD_FIRST	3	/* where .fds go: SD_LISTEN_FDS_START */

struct child_spec {
	const char *path;
	char *const *argv;
	char *const *env;
	char *listen_pid;	/* an entry of env, written by the child:
				 * "LISTEN_PID=" and its pid; or NULL */
	int fds[CHILD_FDS_MAX];	/* become 3, 4 ...; borrowed */
	int n_fds;
	int log_fd;		/* standard output and error; -1: ours */
	bool service;		/* a session of its own, no standard input,
				 * killed when this process dies */
};
#define CHILD_LISTEN_PID	32	/* bytes of .listen_pid */

/* Fork and exec; all other descriptors are closed there.  Returns the pid or
 * -errno; a failed exec says so on standard error and exits with 127. */
pid_t child_start(const struct child_spec *spec);

/* "exited with status 1", "was killed by signal 9 (Killed)". */
const char *child_how(int status, char *out, size_t size);

/* Close every descriptor from this one on.  0 or -errno. */
int child_close_from(int first);

#endif /* CLI_SUPERVISOR_CHILD_H */
