// SPDX-License-Identifier: Apache-2.0
#include "common/wait_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const char *wait_status_text(int status, char *out, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(out, size, "was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(out, size, "exited with status %d",
			 WEXITSTATUS(status));
	return out;
}

int wait_status_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
