// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/programs.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FD_FIRST	3	/* SD_LISTEN_FDS_START */
#define FDS_MAX		3	/* of the hub */
#define ARGS_FIXED	24	/* arguments beside the words and the user's */

char *const *program_command(char *const *argv)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	return *argv ? argv + 1 : argv;
}

/* --- all of this in the child ------------------------------------------------ */

static char **args;
static size_t args_n;

/* An argument, or "NAME=value", a variable.  "--name=value" becomes two
 * arguments. */
__attribute__((format(printf, 1, 2)))
static void arg(const char *fmt, ...)
{
	char *word, *value;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		err(127, "arguments");
	va_end(ap);
	value = strchr(word, '=');
	if (value && *word != '-') {
		putenv(word);
		return;
	}
	args[args_n++] = word;
	if (value) {
		*value = '\0';
		args[args_n++] = value + 1;
	}
}

static void daemon_args(const struct launch *l, enum program id)
{
	const struct program_row *program = &program_table[id];
	const uid_t *uid = l->ids.uid;

	arg("--uid=%u", uid[id]);		/* in the same order */
	arg("--gid=%u", l->ids.gid[id]);
	if (program->hub)
		arg("--hub=%s", program->hub);
	for (int i = 0; program->uids[i].option; i++)
		arg("%s=%u", program->uids[i].option, uid[program->uids[i].whose]);
	if (id == PROGRAM_LOADER)
		arg("--opener-uid=%u", uid[ID_OPENER]);
}

/* No more of our environment than it needs: the recorder, who called sudo. */
static void set_environment(enum program id)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	clearenv();
	arg("PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	arg("LANG=C.UTF-8");
	arg("NOTIFY_SOCKET=" NOTIFY_SOCKET);
	if (id < PROGRAM_DAEMONS)	/* whoever reads it wants priorities */
		arg("JOURNAL_STREAM=0:0");
	if (id == PROGRAM_HUB) {
		arg("LISTEN_PID=%d", (int)getpid());
		arg("LISTEN_FDS=3");
		arg("LISTEN_FDNAMES=loader:export:status");
	} else if (id == PROGRAM_RECORDER && uid && gid) {
		arg("SUDO_UID=%s", uid);
		arg("SUDO_GID=%s", gid);
	}
}

/* A session of its own, no standard input, the end with its parent, and more
 * descriptors than who started us may have had: each takes what it needs of them. */
static void set_apart(int log_fd, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 2048, 2048 });
	if (setsid() < 0 || dup2(null, 0) < 0 || dup2(log_fd, 1) < 0 ||
	    dup2(log_fd, 2) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    getppid() != parent)
		err(127, "setting a process apart");
}

/* fds[i] becomes descriptor 3 + i, whatever was there. */
static void place_fds(const int *fds, int n)
{
	bool placed = true;
	int high[FDS_MAX];

	for (int i = 0; i < n; i++)
		high[i] = fcntl(fds[i], F_DUPFD, FD_FIRST + FDS_MAX);
	for (int i = 0; i < n; i++)
		placed &= dup2(high[i], FD_FIRST + i) >= 0;
	if (!placed || syscall(SYS_close_range, FD_FIRST + n, ~0U, 0) < 0)
		err(127, "descriptors");
}

static _Noreturn void program_become(const struct launch *l,
				     const struct ask *m, size_t len)
{
	enum program id = m->program;
	const char *name = program_table[id].name;
	const char *output = ask_option(l->argv, "--output");
	char *const *more = id == PROGRAM_LAUNCHER ? program_command(l->argv) :
			    id > PROGRAM_RECORDER ? l->argv + 1 : NULL;
	char path[PATH_MAX];
	const char *file = id < PROGRAM_DAEMONS ? path : l->argv[0];
	size_t n = 0;

	while (more && more[n])
		n++;
	args = calloc(n + len + ARGS_FIXED, sizeof(*args));
	if (!args)
		err(127, "arguments");
	if (id <= PROGRAM_RECORDER)
		set_environment(id);
	arg("%s", name);
	if (id < PROGRAM_DAEMONS)
		daemon_args(l, id);
	else
		arg("%s", PROGRAM_NAME(id));
	if (id == PROGRAM_READER || id == PROGRAM_FRONT)
		arg("%u", l->ids.uid[ID_FRONT]);
	for (const char *w = m->words; w < (const char *)m + len; w += strlen(w) + 1)
		arg("%s", w);
	if (id == PROGRAM_RECORDER)
		arg("--seal-uid=%u", l->ids.uid[ID_RECORDER]);
	if (id == PROGRAM_RECORDER && output)
		arg("--output=%s", output);
	for (size_t i = 0; i < n; i++)
		args[args_n++] = more[i];
	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	execv(file, args);
	err(127, "%s: cannot be run", file);
}

pid_t program_start(const struct launch *l, const struct ask *m, size_t len,
		    const int *fds, int n)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t none;

	if (pid)
		return pid < 0 ? -errno : pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (m->program <= PROGRAM_READER)
		set_apart(l->log_fd, parent);
	if (m->program == PROGRAM_HUB)
		place_fds(l->socket, 3);
	else
		place_fds(fds, n);
	program_become(l, m, len);
}
