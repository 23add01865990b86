// SPDX-License-Identifier: Apache-2.0
#include "common/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"

#define LISTEN_FDS_START	3	/* SD_LISTEN_FDS_START */

static int notify_fd = -1;
static uint64_t alive_ns;	/* of the last WATCHDOG=1 */

static bool env_number(const char *name, unsigned long *ret)
{
	const char *s = getenv(name);
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoul(s, &end, 10);
	return *end == '\0' && errno == 0;
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

int service_listen_fd(const char *name)
{
	const char *names = getenv("LISTEN_FDNAMES");
	size_t len = strlen(name);
	unsigned long pid, n;

	if (!names || !env_number("LISTEN_PID", &pid) ||
	    pid != (unsigned long)getpid() || !env_number("LISTEN_FDS", &n))
		return -ENOENT;
	for (unsigned long i = 0; i < n && i < 1024; i++) {
		size_t part = strcspn(names, ":");

		if (part == len && !memcmp(names, name, len))
			return prepare_listener(LISTEN_FDS_START + (int)i);
		if (!names[part])
			break;
		names += part + 1;
	}
	return -ENOENT;
}

int service_init(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd, r;

	if (!len)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(addr.sun_path))
		return -EINVAL;
	memcpy(addr.sun_path, path, len);
	if (path[0] == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, (socklen_t)
		    (offsetof(struct sockaddr_un, sun_path) + len)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	notify_fd = fd;
	return 0;
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

/* A lost notification is the service manager's to notice. */
static void notify(const char *text)
{
	if (notify_fd >= 0)
		(void)!send(notify_fd, text, strlen(text), MSG_NOSIGNAL);
}

void service_ready(void)
{
	notify("READY=1");
}

void service_stopping(void)
{
	notify("STOPPING=1");
}

void service_status(const char *fmt, ...)
{
	char buf[256] = "STATUS=";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + 7, sizeof(buf) - 7, fmt, ap);
	va_end(ap);
	buf[strcspn(buf, "\n")] = '\0';
	notify(buf);
}

void service_alive(void)
{
	uint64_t now = now_ns();

	if (notify_fd < 0 || (alive_ns && now - alive_ns < NSEC_PER_SEC))
		return;
	alive_ns = now;
	notify("WATCHDOG=1");
}
