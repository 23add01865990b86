// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/config/libexec.h"
#include "cli/config/regular_file.h"
#include "cli/supervisor/identity.h"
#include "cli/supervisor/program_table.h"
#include "common/log.h"

#define WORDS_MORE	4	/* the program, user, group, NULL */

int parser_take(const char *path)
{
	int fd = regular_file_open(path, 0);

	if (fd < 0)
		return -1;
	if (dup2(fd, STDIN_FILENO) < 0) {
		log_err("%s: %m", path);
		return -1;
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return 0;
}

int parser_become(const struct options *o, char *const *words, uint32_t n_words)
{
	static char uid[24], gid[24];
	static char *const env[] = { NULL };
	char dir[PATH_MAX], path[PATH_MAX + 32], **argv;
	struct identities ids;
	uint32_t n = 0;

	if (libexec_find(o->libexec, dir))
		return 1;
	argv = calloc(WORDS_MORE + n_words + o->at.n, sizeof(*argv));
	if (!argv)
		return 1;
	snprintf(path, sizeof(path), "%s/%s", dir, program_table[PROGRAM_HUB].name);
	argv[n++] = path;
	for (uint32_t i = 0; i < n_words; i++)
		argv[n++] = words[i];
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
