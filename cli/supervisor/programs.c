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

struct args {
	char **word;
	size_t n;
};

char *const *program_command(char *const *argv)
{
	for (; *argv; argv++) {
		if (!strcmp(*argv, "--"))
			return argv + 1;
	}
	return argv;
}

/* --- all of this in the child ------------------------------------------------ */

/* An argument; but "NAME=value" is a variable. */
__attribute__((format(printf, 2, 3)))
static void args_add(struct args *args, const char *fmt, ...)
{
	char *word;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		err(127, "arguments");
	va_end(ap);
	if (*word != '-' && strchr(word, '=')) {
		putenv(word);
		return;
	}
	args->word[args->n] = word;
	args->n++;
}

static void args_add_daemon(struct args *args, const struct launch *l, enum program id)
{
	const uid_t *uid = l->ids.uid;
	const struct program_row *program = &program_table[id];

	/* enum identity begins with the daemons, too */
	args_add(args, "--uid=%u", uid[id]);
	args_add(args, "--gid=%u", l->ids.gid[id]);
	if (program->hub)
		args_add(args, "--hub=%s", program->hub);
	for (int i = 0; program->uids[i].option; i++)
		args_add(args, "%s=%u", program->uids[i].option, uid[program->uids[i].whose]);
	if (id == PROGRAM_LOADER)
		args_add(args, "--opener-uid=%u", uid[ID_OPENER]);
}

/* Keep of our environment only what the program needs; the recorder needs the user who
 * called sudo. */
static void args_set_environment(struct args *args, enum program id)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	clearenv();
	args_add(args, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	args_add(args, "LANG=C.UTF-8");
	args_add(args, "NOTIFY_SOCKET=" NOTIFY_SOCKET);
	if (id < PROGRAM_DAEMONS)	/* their lines get priorities */
		args_add(args, "JOURNAL_STREAM=0:0");
	if (id == PROGRAM_HUB) {
		args_add(args, "LISTEN_PID=%d", (int)getpid());
		args_add(args, "LISTEN_FDS=3");
		args_add(args, "LISTEN_FDNAMES=loader:export:status");
	}
	if (id == PROGRAM_RECORDER && uid && gid) {
		args_add(args, "SUDO_UID=%s", uid);
		args_add(args, "SUDO_GID=%s", gid);
	}
}

/* A session of its own, no standard input, an end with its parent, and a limit of
 * descriptors that may be higher than ours: each program lowers it to what it needs.
 * output: the descriptor that becomes standard output, which may be our own. */
static void program_set_apart(int log_fd, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 2048, 2048 });
	if (setsid() < 0 || dup2(null, 0) < 0 || dup2(log_fd, 2) < 0 ||
	    dup2(output, 1) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    getppid() != parent)
		err(127, "setting a process apart");
}

/* fds[i] becomes descriptor 3 + i, whatever that was.  All others are closed. */
static void program_place_fds(const int *fds, int n)
{
	int high[FDS_MAX];

	for (int i = 0; i < n; i++)
		high[i] = fcntl(fds[i], F_DUPFD, FD_FIRST + FDS_MAX);
	for (int i = 0; i < n; i++) {
		if (dup2(high[i], FD_FIRST + i) < 0)
			err(127, "descriptors");
	}
	if (syscall(SYS_close_range, FD_FIRST + n, ~0U, 0) < 0)
		err(127, "descriptors");
}

/* The user's words that this program gets: at least NULL. */
static char *const *program_user_words(char *const *argv, enum program id)
{
	static char *const none[] = { NULL };

	if (id == PROGRAM_LAUNCHER)
		return program_command(argv);
	return id > PROGRAM_RECORDER ? argv + 1 : none;
}

static void program_add_args(struct args *args, const struct launch *l,
			     const struct ask *m, size_t len)
{
	const char *output = ask_option(l->argv, "--output");
	enum program id = m->program;

	args_add(args, "%s", program_table[id].name);
	if (id < PROGRAM_DAEMONS)
		args_add_daemon(args, l, id);
	else
		args_add(args, "%s", PROGRAM_NAME(id));
	if (id == PROGRAM_READER || id == PROGRAM_FRONT)
		args_add(args, "%u", l->ids.uid[ID_FRONT]);
	for (const char *w = m->words; w < (const char *)m + len; w += strlen(w) + 1)
		args_add(args, "%s", w);
	if (id == PROGRAM_RECORDER) {
		args_add(args, "--seal-uid=%u", l->ids.uid[ID_RECORDER]);
		if (output)
			args_add(args, "--output=%s", output);
	}
}

static _Noreturn void program_become(const struct launch *l,
				     const struct ask *m, size_t len)
{
	enum program id = m->program;
	char *const *more = program_user_words(l->argv, id);
	const char *file = l->argv[0];
	struct args args = { 0 };
	char path[PATH_MAX];
	size_t n = 0;

	while (more[n])
		n++;
	args.word = calloc(n + len + ARGS_FIXED, sizeof(*args.word));
	if (!args.word)
		err(127, "arguments");
	if (id <= PROGRAM_RECORDER)
		args_set_environment(&args, id);
	program_add_args(&args, l, m, len);
	memcpy(args.word + args.n, more, n * sizeof(*more));
	if (id < PROGRAM_DAEMONS) {
		snprintf(path, sizeof(path), "%s/%s", l->dir, program_table[id].name);
		file = path;
	}
	execv(file, args.word);
	err(127, "%s: cannot be run", file);
}

pid_t program_start(const struct launch *l, const struct ask *m, size_t len,
		    const int *fds, int n)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t none;

	if (pid < 0)
		return -errno;
	if (pid > 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (m->program <= PROGRAM_READER)
		program_set_apart(l->log_fd, program_table[m->program].output, parent);
	if (m->program == PROGRAM_HUB)
		program_place_fds(l->socket, 3);
	else
		program_place_fds(fds, n);
	program_become(l, m, len);
}
