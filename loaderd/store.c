// SPDX-License-Identifier: Apache-2.0
#include "loaderd/store.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/service.h"

#define STORE_FIRST	3	/* SD_LISTEN_FDS_START */

static void store_say(const char *what, const char *name, int fd)
{
	char text[512];

	snprintf(text, sizeof(text), "%s\nFDNAME=%s", what, name);
	service_notify_fd(text, fd);
}

int store_get(const char *name, int from)
{
	const char *names = getenv("LISTEN_FDNAMES");
	size_t n;

	for (int fd = STORE_FIRST; names && *names; fd++) {
		n = strcspn(names, ":");
		if (fd >= from && n == strlen(name) && !memcmp(names, name, n))
			return fd;
		names += n;
		if (*names)
			names++;
	}
	return -1;
}

void store_put(const char *name, int fd)
{
	store_say("FDSTORE=1\nFDPOLL=0", name, fd);
}

void store_remove(const char *name)
{
	store_say("FDSTOREREMOVE=1", name, -1);
}

void store_clear(void)
{
	char *names = getenv("LISTEN_FDNAMES");

	for (int fd = STORE_FIRST; names && *names; fd++) {
		/* or its program runs until systemd closes its own descriptor, too */
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		close(fd);
		store_remove(strsep(&names, ":"));
	}
	unsetenv("LISTEN_FDNAMES");
}
