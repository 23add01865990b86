// SPDX-License-Identifier: Apache-2.0
/*
 * trifold-listen - makes listening sockets and becomes a program that gets them
 *
 *   trifold-listen NAME=PATH... -- PROGRAM [ARGUMENT...]
 *
 * For a pod, what .socket units are for systemd.  Each PATH becomes a
 * SOCK_SEQPACKET socket to which any user may connect; the program gets them as
 * sd_listen_fds(3) describes.  Only containers that mount its directory see a
 * socket; the program asks the kernel which user connected.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST	3	/* SD_LISTEN_FDS_START */
#define SOCKETS	8
#define BACKLOG	8

static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	struct stat st;

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path))
		errx(1, "%s: too long, or no socket can be made", path);
	strcpy(addr.sun_path, path);
	/* left by an earlier start */
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
	umask(0111);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		err(1, "%s", path);
	umask(077);
	return fd;
}

/* Returns their number; names gets their names, separated by colons. */
static int listen_all(char **argv, char *names, size_t size)
{
	size_t len = 0;
	int n = 0;

	for (; argv[n] && strcmp(argv[n], "--"); n++) {
		const char *where = strchr(argv[n], '=');
		int fd;

		if (!where || where[1] != '/' || n == SOCKETS)
			errx(2, "%s: NAME=PATH, at most %d", argv[n], SOCKETS);
		fd = listen_at(where + 1);
		if (fd != FIRST + n || listen(fd, BACKLOG) < 0)
			err(1, "%s", argv[n]);
		len += (size_t)snprintf(names + len, size - len, "%s%.*s", n ? ":" : "",
					(int)(where - argv[n]), argv[n]);
		if (len >= size)
			errx(2, "names are too long");
	}
	return n;
}

int main(int argc, char **argv)
{
	char names[256] = "", number[16];
	int n;

	/* the first gets number 3 */
	if (argc < 2 || syscall(SYS_close_range, FIRST, ~0U, 0) < 0)
		errx(2, "usage: trifold-listen NAME=PATH... -- PROGRAM [ARGUMENT...]");
	n = listen_all(argv + 1, names, sizeof(names));
	if (!argv[n + 1] || !argv[n + 2])
		errx(2, "-- and a program come last");
	snprintf(number, sizeof(number), "%d", n);
	setenv("LISTEN_FDS", number, 1);
	setenv("LISTEN_FDNAMES", names, 1);
	snprintf(number, sizeof(number), "%d", (int)getpid());
	setenv("LISTEN_PID", number, 1);
	execv(argv[n + 2], argv + n + 2);
	err(1, "%s cannot be run", argv[n + 2]);
}
