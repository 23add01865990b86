// SPDX-License-Identifier: Apache-2.0
#include "cli/config/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

int regular_file_open(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_err("%s: %m", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		log_err("%s is not a regular file", path);
		close(fd);
		return -1;
	}
	return fd;
}
