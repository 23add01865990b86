// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "cli/supervisor/identity.h"
#include "common/log.h"

#define WORDS_BEFORE	6

/* The file becomes standard input.  0 or -1, said. */
static int take_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_err("%s: %m", path);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		log_err("%s is no regular file", path);
		return -1;
	}
	if (dup2(fd, STDIN_FILENO) < 0) {
		log_err("%s: %m", path);
		return -1;
	}
	return 0;
}

int table_run(const struct options *o)
{
	static char uid[24], gid[24];
	static char *const env[] = { NULL };
	char dir[PATH_MAX], path[PATH_MAX + 32], show[] = "--show-table", **argv;
	struct identities ids;
	uint32_t n = 0;

	if (!o->file) {
		log_err("table needs a FILE; see `trifold table --help`");
		return EXIT_USAGE;
	}
	if (libexec_find(o->libexec, dir) || take_file(o->file))
		return 1;
	argv = calloc(WORDS_BEFORE + o->at.n, sizeof(*argv));
	if (!argv)
		return 1;
	snprintf(path, sizeof(path), "%s/%s", dir, libexec_daemons[0]);
	argv[n++] = path;
	argv[n++] = show;
	if (!geteuid()) {
		if (identity_find(&ids))
			return 1;
		snprintf(uid, sizeof(uid), "--uid=%u", ids.uid[ID_HUB]);
		snprintf(gid, sizeof(gid), "--gid=%u", ids.gid[ID_HUB]);
		argv[n++] = uid;
		argv[n++] = gid;
	}
	for (uint32_t i = 0; i < o->at.n; i++)
		argv[n++] = o->at.v[i];
	execve(path, argv, env);
	log_err("%s: cannot be run: %m", path);
	return 1;
}
