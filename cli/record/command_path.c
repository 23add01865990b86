// SPDX-License-Identifier: Apache-2.0
#include "cli/record/command_path.h"

#include <errno.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int command_path_judge(const char *path)
{
	struct stat st;

	if (access(path, X_OK) == 0 && stat(path, &st) == 0)
		return S_ISREG(st.st_mode) ? 0 : -EACCES;
	if (errno == ENOENT || errno == ENOTDIR)
		return -ENOENT;
	return -EACCES;
}

int command_path(const char *name, char path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	int ret = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return command_path_judge(path);
	}
	for (dir = dir ? dir : _PATH_DEFPATH;; dir++) {
		size_t len = strcspn(dir, ":");
		int r = -ENOENT;

		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, dir,
			     len ? "/" : "", name) < PATH_MAX)
			r = command_path_judge(path);
		if (!r)
			return 0;
		if (r == -EACCES)
			ret = r;
		dir += len;
		if (!*dir)
			return ret;
	}
}
