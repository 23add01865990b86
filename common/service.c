// SPDX-License-Identifier: Apache-2.0
#include "common/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/number.h"
#include "common/send_fds.h"

#define STORE_WAIT_MS	1000
#define LISTEN_FDS_START	3	/* SD_LISTEN_FDS_START */

static struct {
	int fd;			/* to the manager; -1: there is none */
	bool watched;		/* it has set $WATCHDOG_USEC */
} service_manager = { .fd = -1 };

int service_init(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	socklen_t len;
	int fd, r;

	if (!path || !*path)
		return 0;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -EINVAL;
	strcpy(addr.sun_path, path);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	/* an abstract one */
	if (*path == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, len) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	service_manager.fd = fd;
	service_manager.watched = getenv("WATCHDOG_USEC");
	return 0;
}

void service_notify_fd(const char *text, int fd)
{
	struct iovec part = { (void *)text, strlen(text) };
	struct pollfd p = { service_manager.fd, POLLOUT, 0 };

	if (service_manager.fd < 0)
		return;
	poll(&p, 1, STORE_WAIT_MS);
	/* if it fails, it is for the manager to notice */
	(void)!send_fds(service_manager.fd, &part, 1, &fd, fd >= 0);
}

void service_alive(void)
{
	if (service_manager.watched)
		service_notify("WATCHDOG=1");
}

void service_status(const char *fmt, ...)
{
	static char last[256];
	char buf[sizeof(last)] = "STATUS=";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + 7, sizeof(buf) - 7, fmt, ap);
	va_end(ap);
	buf[strcspn(buf, "\n")] = '\0';
	if (!strcmp(buf, last))
		return;
	strcpy(last, buf);
	service_notify(buf);
}

/* --- what the manager passes ---------------------------------------------------- */

static bool service_env_number(const char *name, uint64_t *ret)
{
	const char *s = getenv(name);

	return s && number_parse(s, 0, UINT64_MAX, ret);
}

static bool service_sockopt_is(int fd, int opt, int want)
{
	socklen_t len = sizeof(int);
	int v;

	return getsockopt(fd, SOL_SOCKET, opt, &v, &len) == 0 && v == want;
}

int service_fd(const char *name)
{
	const char *names = getenv("LISTEN_FDNAMES");
	size_t len = strlen(name);
	uint64_t pid, n;

	if (!names || !service_env_number("LISTEN_PID", &pid) || pid != (uint64_t)getpid() ||
	    !service_env_number("LISTEN_FDS", &n))
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

	if (fd < 0)
		return fd;
	if (!service_sockopt_is(fd, SO_DOMAIN, AF_UNIX) ||
	    !service_sockopt_is(fd, SO_TYPE, SOCK_SEQPACKET) ||
	    !service_sockopt_is(fd, SO_ACCEPTCONN, 1))
		return -EINVAL;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -EINVAL;
	return fd;
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
