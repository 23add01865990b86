// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox.h"

extern char **environ;

static void die(const struct child_spec *spec, const char *what)
{
	log_err("%s: %s: %m", spec->path, what);
	_exit(127);
}

/* fds[i] becomes descriptor 3 + i, whatever was there. */
static int place_fds(const struct child_spec *spec)
{
	int keep[3 + CHILD_FDS_MAX] = { 0, 1, 2 }, n = 3, high[CHILD_FDS_MAX];

	for (int i = 0; i < spec->n_fds; i++) {
		high[i] = fcntl(spec->fds[i], F_DUPFD,
				CHILD_FD_FIRST + CHILD_FDS_MAX);
		if (high[i] < 0)
			return -1;
	}
	for (int i = 0; i < spec->n_fds; i++) {
		if (dup2(high[i], CHILD_FD_FIRST + i) < 0)
			return -1;
		keep[n++] = CHILD_FD_FIRST + i;
	}
	return sandbox_close_fds(keep, n);
}

static void own_session(const struct child_spec *spec, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0 || dup2(null, 0) < 0)
		die(spec, "/dev/null");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		die(spec, "prctl");
	if (getppid() != parent)
		_exit(127);
}

static _Noreturn void become(const struct child_spec *spec, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (spec->service)
		own_session(spec, parent);
	if (spec->log_fd >= 0 && (dup2(spec->log_fd, 1) < 0 ||
				  dup2(spec->log_fd, 2) < 0))
		_exit(127);
	if (place_fds(spec) < 0)
		die(spec, "descriptors");
	if (spec->listen_pid)
		snprintf(spec->listen_pid, CHILD_LISTEN_PID, "LISTEN_PID=%d",
			 (int)getpid());
	execvpe(spec->path, spec->argv, spec->env);
	die(spec, "cannot be run");
	_exit(127);
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

static bool exporter_may_see(const char *var)
{
	static const char *const starts[] = {
		"OTEL_", "TRIFOLD_EXPORTER_", "http_proxy=", "https_proxy=", "all_proxy=",
		"no_proxy=", "HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=",
		"NO_PROXY=", "SSL_CERT_FILE=", "SSL_CERT_DIR=",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!strncmp(var, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

static bool hidden(const char *var, char *const *extra)
{
	size_t len = strcspn(var, "=") + 1;

	for (; *extra; extra++) {
		if (!strncmp(var, *extra, len))
			return true;
	}
	return false;
}

int child_env(char *env[CHILD_ENV_MAX], bool exporter, char *const *extra)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	static char lang[] = "LANG=C.UTF-8";
	int n = 0;

	env[n++] = path;
	env[n++] = lang;
	for (char **e = environ; exporter && *e; e++) {
		if (!exporter_may_see(*e) || hidden(*e, extra))
			continue;
		if (n >= CHILD_ENV_MAX - 1)
			return -E2BIG;
		env[n++] = *e;
	}
	for (; *extra; extra++) {
		if (n >= CHILD_ENV_MAX - 1)
			return -E2BIG;
		env[n++] = *extra;
	}
	env[n] = NULL;
	return 0;
}
