// SPDX-License-Identifier: Apache-2.0
#include "cli/show_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "cli/config/regular_file.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/program_table.h"
#include "common/log.h"
#include "common/sandbox.h"
#include "common/send_fds.h"

#define WORDS_MORE	4	/* the program, user, group, NULL */

/* Open a regular file as standard input.  0, or -1 after a line in the log. */
static int show_file_take(const char *path)
{
	int fd = regular_file_open(path, 0);

	if (fd < 0)
		return -1;
	if (dup2(fd, STDIN_FILENO) < 0) {
		log_err("%s: %m", path);
		return -1;
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return 0;
}

/* Become symbolizerd with these words, then user and group (of root: the hub's), then
 * o->at.  Returns the exit status if that failed, said. */
static int show_file_become(const struct options *o, char *const *words,
			    uint32_t n_words)
{
	static char uid[24], gid[24];
	static char *const env[] = { NULL };
	char dir[PATH_MAX], path[PATH_MAX + 32], **argv;
	struct identities ids;
	uint32_t n = 0;

	if (libexec_find(o->libexec, dir))
		return 1;
	argv = calloc(WORDS_MORE + n_words + o->at.n, sizeof(*argv));
	if (!argv)
		return 1;
	snprintf(path, sizeof(path), "%s/%s", dir, program_table[PROGRAM_HUB].name);
	argv[n++] = path;
	for (uint32_t i = 0; i < n_words; i++)
		argv[n++] = words[i];
	if (!geteuid()) {
		if (identity_find(&ids))
			return 1;
		snprintf(uid, sizeof(uid), "--uid=%u", ids.uid[ID_HUB]);
		snprintf(gid, sizeof(gid), "--gid=%u", ids.gid[ID_HUB]);
		argv[n++] = uid;
		argv[n++] = gid;
	}
	for (uint32_t i = 0; i < o->at.n; i++)
		argv[n++] = o->at.v[i];
	execve(path, argv, env);
	log_err("%s: cannot be run: %m", path);
	return 1;
}

int show_file_table(const struct options *o)
{
	char show[] = "--show-table", *const words[] = { show };

	if (!o->file) {
		log_err("table needs a FILE; see `trifold table --help`");
		return EXIT_USAGE;
	}
	if (show_file_take(o->file))
		return 1;
	return show_file_become(o, words, 1);
}

/* --- files of split DWARF ---------------------------------------------------- */

#define ASKED_MAX	8192	/* bytes of a name and a directory */

static int show_file_open(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Open the file's package, FILE.dwp: a descriptor, or -1 (not said). */
static int show_file_open_package(const char *file)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s.dwp", file);

	if (len >= (int)sizeof(path))
		return -1;
	return show_file_open(path, 0);
}

static int show_file_open_below(const char *dir, size_t n, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%.*s/%s", (int)n, dir, name);

	if (len >= (int)sizeof(path))
		return -1;
	return show_file_open(path, O_CLOEXEC);
}

/* In the compiler's working directory, or else in that of the program. */
static int show_file_find_dwo(const char *name, const char *dir, const char *program)
{
	size_t n = strlen(name);
	const char *slash = strrchr(program, '/');
	int fd = -1;

	if (n < 4 || strcmp(name + n - 4, ".dwo"))
		return -1;
	if (name[0] == '/')
		return show_file_open(name, O_CLOEXEC);
	if (*dir)
		fd = show_file_open_below(dir, strlen(dir), name);
	if (fd >= 0)
		return fd;
	if (!slash)
		return show_file_open(name, O_CLOEXEC);
	return show_file_open_below(program, (size_t)(slash - program), name);
}

static void show_file_answer_dwo(int socket, const char *program)
{
	char asked[ASKED_MAX], byte = 0;
	struct iovec answer = { &byte, sizeof(byte) };
	ssize_t n;

	for (;;) {
		size_t len;
		int fd = -1;

		n = recv(socket, asked, sizeof(asked), 0);
		if (n <= 0)
			return;
		len = strnlen(asked, (size_t)n) + 1;

		/* both strings end within it */
		if (len < (size_t)n && !asked[n - 1])
			fd = show_file_find_dwo(asked, asked + len, program);
		n = send_fds(socket, &answer, 1, &fd, fd >= 0);
		if (fd >= 0)
			close(fd);
		if (n < 0)
			return;
	}
}

/*
 * Start a process that opens the .dwo files of this program, for symbolizerd: a datagram
 * is a name and the compiler's directory, each with its NUL (symbolizerd/show_split.h);
 * the answer is a byte, with a descriptor if there is such a file.  It opens regular
 * files whose names end in .dwo, nothing else, and ends when the socket is closed.
 * Returns that, or -1 (said).
 */
static int show_file_serve_dwo(const char *program)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0) {
		log_err("socketpair: %m");
		return -1;
	}
	pid = fork();
	if (pid < 0)
		log_err("fork: %m");
	if (!pid) {
		sandbox_close_fds(&ends[1], 1);
		show_file_answer_dwo(ends[1], program);
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* --- names ------------------------------------------------------------------- */

#define NAMES_WORDS	5

/* The package of split DWARF beside the debug file or the file; or the socket of a
 * process that opens its .dwo files.  False: said. */
static bool show_file_add_split(const struct options *o, char word[32])
{
	const char *program = o->file;
	int fd = -1;

	if (o->debug) {
		program = o->debug;
		fd = show_file_open_package(o->debug);
	}
	if (fd < 0)
		fd = show_file_open_package(o->file);
	if (fd >= 0) {
		snprintf(word, 32, "--package-file=%d", fd);
		return true;
	}
	fd = show_file_serve_dwo(program);
	snprintf(word, 32, "--dwo-files=%d", fd);
	return fd >= 0;
}

int show_file_names(const struct options *given)
{
	char show[] = "--show-names", mangled[] = "--mangled";
	char debug[32], from[32], split[32], *words[NAMES_WORDS];
	struct options o = *given;
	uint32_t n = 0;
	int fd;

	if (!o.file) {
		log_err("names needs a FILE; see `trifold names --help`");
		return EXIT_USAGE;
	}
	words[n++] = show;
	if (o.mangled)
		words[n++] = mangled;
	if (o.at.n == 1 && !strcmp(o.at.v[0], "-")) {
		o.at.n = 0;
		fd = fcntl(STDIN_FILENO, F_DUPFD, STDERR_FILENO + 1);
		if (fd < 0) {
			log_err("standard input: %m");
			return 1;
		}
		snprintf(from, sizeof(from), "--addresses=%d", fd);
		words[n++] = from;
	}
	if (show_file_take(o.file))
		return 1;
	if (o.debug) {
		fd = regular_file_open(o.debug, 0);
		if (fd < 0)
			return 1;
		snprintf(debug, sizeof(debug), "--debug-file=%d", fd);
		words[n++] = debug;
	}
	if (!show_file_add_split(&o, split))
		return 1;
	words[n++] = split;
	return show_file_become(&o, words, n);
}
