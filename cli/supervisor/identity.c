// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/identity.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/supervisor/say.h"

#define DYNAMIC_FIRST	61184u
#define DYNAMIC_LAST	65519u
#define DYNAMIC_COUNT	(DYNAMIC_LAST - DYNAMIC_FIRST + 1)

/* The eight numbers behind "Uid:" and "Gid:" of /proc/PID/status.  The kernel
 * escapes line ends in the process's name (proc(5)). */
static void mark_process(FILE *status, bool *used)
{
	char line[256];
	unsigned int id[4];

	while (fgets(line, sizeof(line), status)) {
		if (sscanf(line, "Uid: %u %u %u %u", id, id + 1, id + 2,
			   id + 3) != 4 &&
		    sscanf(line, "Gid: %u %u %u %u", id, id + 1, id + 2,
			   id + 3) != 4)
			continue;
		for (int i = 0; i < 4; i++) {
			if (id[i] - DYNAMIC_FIRST < DYNAMIC_COUNT)
				used[id[i] - DYNAMIC_FIRST] = true;
		}
	}
}

static int mark_processes(bool *used)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;

	if (!proc)
		return -errno;
	while ((d = readdir(proc))) {
		char name[40];
		FILE *status;

		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(name, sizeof(name), "/proc/%.16s/status", d->d_name);
		status = fopen(name, "re");
		if (!status)
			continue;	/* it has just ended */
		mark_process(status, used);
		fclose(status);
	}
	closedir(proc);
	return 0;
}

/* The first ID__COUNT free ids in a row; their first, or 0. */
static uint32_t free_block(const bool *used)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < DYNAMIC_COUNT; i++) {
		uint32_t id = DYNAMIC_FIRST + i;

		run = used[i] || getpwuid(id) || getgrgid(id) ? 0 : run + 1;
		if (run == ID__COUNT)
			return id + 1 - ID__COUNT;
	}
	return 0;
}

int identity_find(struct identities *ret)
{
	static const char *const users[ID__COUNT] = {
		"trifold-symbolizerd", "trifold-exporterd", "trifold-loaderd",
		"trifold-viewer", "trifold-opener",
	};
	static bool used[DYNAMIC_COUNT];
	int r = mark_processes(used);
	uint32_t first = r ? 0 : free_block(used);

	if (!first) {
		say("no free user ids for the daemons: %s", r ? strerror(-r) :
		    "all of 61184..65519 are in use");
		return r ? r : -EAGAIN;
	}
	for (uint32_t i = 0; i < ID__COUNT; i++) {
		const struct passwd *pw = users[i] ? getpwnam(users[i]) : NULL;

		if (pw && pw->pw_uid == 0)
			pw = NULL;
		ret->uid[i] = pw ? pw->pw_uid : first + i;
		ret->gid[i] = pw ? pw->pw_gid : first + i;
	}
	return 0;
}

static bool parse_id(const char *s, uint32_t *ret)
{
	unsigned long long v;
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	*ret = (uint32_t)v;
	return !errno && !*end && v < UINT32_MAX;
}

bool identity_sudo(const char *sudo_uid, const char *sudo_gid, uid_t *uid,
		   gid_t *gid)
{
	uint32_t u, g;

	if (!parse_id(sudo_uid, &u) || !parse_id(sudo_gid, &g) || u == 0)
		return false;
	*uid = u;
	*gid = g;
	return true;
}
