// SPDX-License-Identifier: Apache-2.0
#include "cli/split_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox.h"
#include "common/send_fds.h"

#define ASKED_MAX	8192	/* bytes of a name and a directory */

static int split_files_open(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

int split_files_package(const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s.dwp", file) < (int)sizeof(path) ?
		       split_files_open(path, 0) : -1;
}

/* --- the server -------------------------------------------------------------------- */

static int split_files_below(const char *dir, size_t n, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%.*s/%s", (int)n, dir, name) < (int)sizeof(path) ?
		       split_files_open(path, O_CLOEXEC) : -1;
}

/* Where the compiler ran, or else where the program is. */
static int split_files_find(const char *name, const char *dir, const char *program)
{
	size_t n = strlen(name);
	const char *slash = strrchr(program, '/');
	int fd;

	if (n < 4 || strcmp(name + n - 4, ".dwo"))
		return -1;
	if (name[0] == '/')
		return split_files_open(name, O_CLOEXEC);
	fd = *dir ? split_files_below(dir, strlen(dir), name) : -1;
	if (fd >= 0)
		return fd;
	return slash ? split_files_below(program, (size_t)(slash - program), name) :
		       split_files_open(name, O_CLOEXEC);
}

static void split_files_answer(int socket, const char *program)
{
	char asked[ASKED_MAX], byte = 0;
	struct iovec answer = { &byte, sizeof(byte) };
	ssize_t n;

	while ((n = recv(socket, asked, sizeof(asked), 0)) > 0) {
		size_t len = strnlen(asked, (size_t)n) + 1;
		int fd = -1;

		/* both strings end within it */
		if (len < (size_t)n && !asked[n - 1])
			fd = split_files_find(asked, asked + len, program);
		n = send_fds(socket, &answer, 1, &fd, fd >= 0);
		if (fd >= 0)
			close(fd);
		if (n < 0)
			return;
	}
}

int split_files_serve(const char *program)
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
		if (!sandbox_close_fds(&ends[1], 1))
			split_files_answer(ends[1], program);
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -1;
}
