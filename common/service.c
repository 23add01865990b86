// SPDX-License-Identifier: Apache-2.0
#include "common/service.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/send_fds.h"

#define STORE_WAIT_MS	1000

bool service_watched;
static int notify_fd = -1;

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
	service_watched = getenv("WATCHDOG_USEC");
	return 0;
}

/* A lost notification is the service manager's to notice. */
void service_notify_fd(const char *text, int fd)
{
	struct iovec part = { (void *)text, strlen(text) };

	if (notify_fd < 0)
		return;
	poll(&(struct pollfd){ notify_fd, POLLOUT, 0 }, 1, STORE_WAIT_MS);
	(void)!send_fds(notify_fd, &part, 1, &fd, fd >= 0);
}
