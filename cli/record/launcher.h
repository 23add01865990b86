/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher - the parent of what `trifold record -- COMMAND` runs
 *
 * "The command and what it started" is: what is below this process.  It adopts
 * orphans (PR_SET_CHILD_SUBREAPER), so that a daemon which the command starts
 * stays below it for as long as the command runs.  It exists before the sampler,
 * which gets its number when it is loaded, and runs the command when all is
 * ready: when a byte arrives on its socket.  If that is closed before, it ends.
 *
 * Until then it maps the command's files (command_files.h), so that they are read
 * before the first sample.
 *
 * It holds no descriptor but 0, 1 and 2.  It ends with the command's status, 128
 * + N if that was killed by signal N, 127 if it cannot be run.
 */
#ifndef CLI_RECORD_LAUNCHER_H
#define CLI_RECORD_LAUNCHER_H

#include <sys/types.h>

struct launcher {
	pid_t pid;		/* 0: there is none, or it was reaped */
	int go;			/* closed: it ends; -1: none */
};

/* `trifold launch COMMAND [ARG]...`, internal: become the launcher, with
 * descriptor 3 as its socket. argv: NULL-terminated. */
_Noreturn void launcher_main(char *const *argv);

/* Fork the launcher.  SIGCHLD, SIGINT, SIGTERM, SIGHUP (unless it is ignored) and
 * SIGQUIT must be blocked.  0 or -errno. */
int launcher_start(struct launcher *l, char *const *argv);

/* Run the command.  0 or -errno. */
int launcher_go(struct launcher *l);

/* Send this signal to the command, SIGKILL too. */
void launcher_signal(const struct launcher *l, int sig);

/* If the launcher still waits, end and reap it. */
void launcher_cancel(struct launcher *l);

#endif /* CLI_RECORD_LAUNCHER_H */
