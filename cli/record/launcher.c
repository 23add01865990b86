// SPDX-License-Identifier: Apache-2.0
#include "cli/record/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/command_files.h"
#include "cli/supervisor/ask.h"
#include "common/log.h"
#include "common/sandbox.h"
#include "common/wait_status.h"

#define LAUNCHER_GO	3

static void launcher_reap(pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command)
			_exit(wait_status_code(status));
	}
}

/* Pass on signals of trifold alone: those of the terminal reach the command by
 * themselves. */
static _Noreturn void launcher_attend(pid_t command, pid_t parent,
				      const sigset_t *set)
{
	siginfo_t si;

	for (;;) {
		if (sigwaitinfo(set, &si) < 0)
			continue;
		if (si.si_signo == SIGCHLD)
			launcher_reap(command);
		else if (si.si_code != SI_KERNEL && si.si_pid == parent)
			kill(command, si.si_signo == LAUNCHER_KILL ? SIGKILL :
							si.si_signo);
	}
}

/* In a child: run the command with the signal state that trifold was started
 * with. */
static _Noreturn void launcher_become(char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	log_err("%s: cannot be run: %m", argv[0]);
	_exit(127);
}

static _Noreturn void launcher_launch(char *const *argv, pid_t parent)
{
	static const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, LAUNCHER_KILL,
	};
	const int keep[] = { 0, 1, 2, LAUNCHER_GO };
	sigset_t set;
	pid_t pid;
	char c;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_NAME, "trifold-launch");
	sandbox_close_fds(keep, 4);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		log_err("the launcher cannot be set up: %m");
		_exit(1);
	}
	/* the programs started there must not inherit it */
	fcntl(LAUNCHER_GO, F_SETFD, FD_CLOEXEC);
	/* loaderd reads them meanwhile */
	command_files_map(argv[0]);
	if (read(LAUNCHER_GO, &c, 1) != 1)
		_exit(0);
	close(LAUNCHER_GO);
	pid = fork();
	if (pid == 0)
		launcher_become(argv);
	if (pid < 0) {
		log_err("%s: %m", argv[0]);
		_exit(127);
	}
	launcher_attend(pid, parent, &set);
}

_Noreturn void launcher_main(char *const *argv)
{
	launcher_launch(argv, getppid());
}

int launcher_start(struct launcher *l, char *const *argv)
{
	pid_t parent = getpid();
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	l->pid = fork();
	if (l->pid == 0) {
		if (dup2(fds[0], LAUNCHER_GO) < 0)
			_exit(1);
		launcher_launch(argv, parent);
	}
	if (l->pid < 0)
		r = -errno;
	else
		r = 0;
	close(fds[0]);
	if (r) {
		close(fds[1]);
		l->pid = 0;
		return r;
	}
	l->go = fds[1];
	return 0;
}

int launcher_go(struct launcher *l)
{
	int r;

	if (write(l->go, "", 1) == 1)
		r = 0;
	else
		r = -errno;
	close(l->go);
	l->go = -1;
	return r;
}

void launcher_signal(const struct launcher *l, int sig)
{
	if (l->pid > 0)
		kill(l->pid, sig == SIGKILL ? LAUNCHER_KILL : sig);
}

void launcher_cancel(struct launcher *l)
{
	if (l->go < 0)
		return;
	close(l->go);
	l->go = -1;
	if (l->pid > 0)
		waitpid(l->pid, NULL, 0);
	l->pid = 0;
}
