// SPDX-License-Identifier: Apache-2.0
#include "common/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int signals_open(const int *which)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	while (*which)
		sigaddset(&set, *which++);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
