// SPDX-License-Identifier: Apache-2.0
#include "cli/record/signals.h"

#include <signal.h>
#include <stddef.h>

#include "common/signals.h"

bool signals_nohup(void)
{
	struct sigaction old = { .sa_handler = SIG_DFL };

	sigaction(SIGHUP, NULL, &old);
	return old.sa_handler == SIG_IGN;
}

int signals_catch(void)
{
	const int which[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGQUIT,
		signals_nohup() ? 0 : SIGHUP, 0,
	};

	signal(SIGPIPE, SIG_IGN);
	return signals_open(which);
}
