// SPDX-License-Identifier: Apache-2.0
#include "cli/record/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

bool signals_nohup(void)
{
	struct sigaction old = { .sa_handler = SIG_DFL };

	sigaction(SIGHUP, NULL, &old);
	return old.sa_handler == SIG_IGN;
}

int signals_catch(void)
{
	static const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGQUIT,
	};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++)
		sigaddset(&set, which[i]);
	/* one that is blocked comes, ignored or not */
	if (!signals_nohup())
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
