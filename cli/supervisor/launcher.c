// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/supervisor/say.h"

#define KILL_COMMAND	SIGUSR1		/* SIGKILL would be for us */
#define LAUNCHER_GO	3

static void launcher_reap(pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) :
						  128 + WTERMSIG(status));
	}
}

/* What others send goes to the command by itself, or is not for it. */
static _Noreturn void attend(pid_t command, pid_t parent, const sigset_t *set)
{
	siginfo_t si;

	for (;;) {
		if (sigwaitinfo(set, &si) < 0)
			continue;
		if (si.si_signo == SIGCHLD)
			launcher_reap(command);
		else if (si.si_code != SI_KERNEL && si.si_pid == parent)
			kill(command, si.si_signo == KILL_COMMAND ? SIGKILL :
							si.si_signo);
	}
}

static _Noreturn void launch(const struct child_spec *command, int go,
			     pid_t parent)
{
	static const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, KILL_COMMAND,
	};
	sigset_t set;
	pid_t pid;
	char c;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say_to(STDERR_FILENO);
	if (dup2(go, LAUNCHER_GO) < 0 || child_close_from(LAUNCHER_GO + 1) ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		say("the launcher cannot be set up: %s", strerror(errno));
		_exit(1);
	}
	if (read(LAUNCHER_GO, &c, 1) != 1)
		_exit(0);
	close(LAUNCHER_GO);
	pid = child_start(command);
	if (pid < 0) {
		say("%s: %s", command->path, strerror(-pid));
		_exit(127);
	}
	attend(pid, parent, &set);
}

int launcher_start(struct launcher *l, const struct child_spec *command)
{
	pid_t parent = getpid();
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	l->pid = fork();
	if (l->pid == 0)
		launch(command, fds[0], parent);
	r = l->pid < 0 ? -errno : 0;
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
	int r = write(l->go, "", 1) == 1 ? 0 : -errno;

	close(l->go);
	l->go = -1;
	return r;
}

void launcher_signal(const struct launcher *l, int sig)
{
	if (l->pid > 0)
		kill(l->pid, sig == SIGKILL ? KILL_COMMAND : sig);
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
