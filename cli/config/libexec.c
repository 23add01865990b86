// SPDX-License-Identifier: Apache-2.0
#include "cli/config/libexec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/supervisor/program_table.h"
#include "common/log.h"

static bool libexec_has_all(const char *dir)
{
	char path[PATH_MAX + 32];
	bool all = true;

	/* without the viewer only the live page is missing */
	for (int i = 0; i < PROGRAM_VIEWER; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, program_table[i].name);
		all &= access(path, X_OK) == 0;
	}
	return all;
}

int libexec_find(const char *given, char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		n = 0;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	if (!given && slash && libexec_has_all(dir))
		return 0;
	if (given)
		snprintf(dir, PATH_MAX, "%s", given);
	else
		snprintf(dir, PATH_MAX, "%s", LIBEXEC);
	if (libexec_has_all(dir))
		return 0;
	if (given)
		log_err("the daemons are not all in %s", given);
	else
		log_err("the daemons are neither beside this program nor in %s: "
			"install trifold, or build all of it", LIBEXEC);
	return -ENOENT;
}
