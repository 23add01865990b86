// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/show_split.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include "ipc/fdpass.h"

/* The descriptor that came, or -1. */
static int show_split_answer(int socket)
{
	ssize_t n;
	char byte;
	int fd;

	do
		n = fdpass_recv(socket, &byte, sizeof(byte), 0, &fd);
	while (n == -EINTR);
	return fd;
}

int show_split_open(int socket, const char *name, const char *dir)
{
	char ask[2 * PATH_MAX];
	size_t n, more;

	if (!dir)
		dir = "";
	n = strnlen(name, PATH_MAX) + 1;
	more = strnlen(dir, PATH_MAX) + 1;
	if (n > PATH_MAX || more > PATH_MAX)
		return -1;
	memcpy(ask, name, n);
	memcpy(ask + n, dir, more);
	if (send(socket, ask, n + more, MSG_NOSIGNAL) < 0)
		return -1;
	return show_split_answer(socket);
}
