// SPDX-License-Identifier: Apache-2.0
#include "cli/front/start.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "common/log.h"

#define SUPERVISOR	"trifold-supervisor"

int start_supervisor(int argc, char *const *argv)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 32], **args;
	const char *slash;
	int dir = 0;		/* bytes of self */

	args = calloc((size_t)argc + 2, sizeof(*args));
	if (!args || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
		log_err("/proc/self/exe: %m");
		return 1;
	}
	args[0] = (char *)SUPERVISOR;
	args[1] = self;
	memcpy(args + 2, argv + 1, (size_t)(argc - 1) * sizeof(*args));
	slash = strrchr(self, '/');
	if (slash)
		dir = (int)(slash + 1 - self);
	snprintf(path, sizeof(path), "%.*s" SUPERVISOR, dir, self);
	execv(path, args);
	execv(LIBEXEC "/" SUPERVISOR, args);
	log_err(SUPERVISOR " cannot be run, neither beside this program nor in "
		"%s: %m: install trifold, or build all of it", LIBEXEC);
	return 1;
}
