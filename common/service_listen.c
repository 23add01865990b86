// SPDX-License-Identifier: Apache-2.0
#include "common/service_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/number.h"

#define LISTEN_FDS_START	3	/* SD_LISTEN_FDS_START */

static bool env_number(const char *name, uint64_t *ret)
{
	const char *s = getenv(name);

	return s && number_parse(s, 0, UINT64_MAX, ret);
}

static bool sockopt_is(int fd, int opt, int want)
{
	socklen_t len = sizeof(int);
	int v;

	return getsockopt(fd, SOL_SOCKET, opt, &v, &len) == 0 && v == want;
}

static int prepare_listener(int fd)
{
	if (!sockopt_is(fd, SO_DOMAIN, AF_UNIX) ||
	    !sockopt_is(fd, SO_TYPE, SOCK_SEQPACKET) ||
	    !sockopt_is(fd, SO_ACCEPTCONN, 1))
		return -EINVAL;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -EINVAL;
	return fd;
}

int service_fd(const char *name)
{
	const char *names = getenv("LISTEN_FDNAMES");
	size_t len = strlen(name);
	uint64_t pid, n;

	if (!names || !env_number("LISTEN_PID", &pid) ||
	    pid != (uint64_t)getpid() || !env_number("LISTEN_FDS", &n))
		return -ENOENT;
	for (uint64_t i = 0; i < n && i < 1024; i++) {
		size_t part = strcspn(names, ":");

		if (part == len && !memcmp(names, name, len))
			return LISTEN_FDS_START + (int)i;
		if (!names[part])
			break;
		names += part + 1;
	}
	return -ENOENT;
}

int service_listen_fd(const char *name)
{
	int fd = service_fd(name);

	return fd < 0 ? fd : prepare_listener(fd);
}

void service_scrub_env(void)
{
	static const char *const names[] = {
		"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET",
		"WATCHDOG_PID", "WATCHDOG_USEC",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}
