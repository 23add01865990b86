// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/supervisor/say.h"

int child_close_from(int first)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		int fd = atoi(e->d_name);	/* "." and ".." are 0 */

		if (fd >= first && fd != dirfd(d))
			close(fd);
	}
	closedir(d);
	return 0;
}

static _Noreturn void child_die(const struct child_spec *spec, const char *what)
{
	say("%s: %s: %s", spec->path, what, strerror(errno));
	_exit(127);
}

/* fds[i] becomes descriptor 3 + i, whatever was there. */
static int place_fds(const struct child_spec *spec)
{
	int high[CHILD_FDS_MAX], n = spec->n_fds;

	for (int i = 0; i < n; i++) {
		high[i] = fcntl(spec->fds[i], F_DUPFD,
				CHILD_FD_FIRST + CHILD_FDS_MAX);
		if (high[i] < 0)
			return -1;
	}
	for (int i = 0; i < n; i++) {
		if (dup2(high[i], CHILD_FD_FIRST + i) < 0)
			return -1;
	}
	return child_close_from(CHILD_FD_FIRST + n);
}

static void own_session(const struct child_spec *spec, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0 || dup2(null, 0) < 0)
		child_die(spec, "/dev/null");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_die(spec, "prctl");
	if (getppid() != parent)
		_exit(127);
}

static _Noreturn void become(const struct child_spec *spec, pid_t parent)
{
	sigset_t none;

	say_to(STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (spec->service)
		own_session(spec, parent);
	if (spec->log_fd >= 0 && (dup2(spec->log_fd, 1) < 0 ||
				  dup2(spec->log_fd, 2) < 0))
		_exit(127);
	if (place_fds(spec) < 0)
		child_die(spec, "descriptors");
	if (spec->listen_pid)
		snprintf(spec->listen_pid, CHILD_LISTEN_PID, "LISTEN_PID=%d",
			 (int)getpid());
	execvpe(spec->path, spec->argv, spec->env);
	child_die(spec, "cannot be run");
}

pid_t child_start(const struct child_spec *spec)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		become(spec, parent);
	return pid < 0 ? -errno : pid;
}

const char *child_how(int status, char *out, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(out, size, "was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(out, size, "exited with status %d",
			 WEXITSTATUS(status));
	return out;
}
