// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define DYNAMIC_FIRST	61184u
#define DYNAMIC_LAST	65519u
#define DYNAMIC_COUNT	(DYNAMIC_LAST - DYNAMIC_FIRST + 1)

/* The eight numbers behind "Uid:" and "Gid:".  The name of the process comes
 * before them in this file; the kernel escapes line ends in it (proc(5)). */
static void mark_ids(char *status, bool *used)
{
	static const char *const keys[] = { "\nUid:", "\nGid:" };

	for (int k = 0; k < 2; k++) {
		char *p = strstr(status, keys[k]);

		p = p ? p + strlen(keys[k]) : NULL;
		for (int i = 0; p && i < 4; i++) {
			unsigned long id = strtoul(p, &p, 10);

			if (id - DYNAMIC_FIRST < DYNAMIC_COUNT)
				used[id - DYNAMIC_FIRST] = true;
		}
	}
}

static int mark_processes(bool *used)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	if (!proc)
		return -errno;
	while ((d = readdir(proc))) {
		char name[32], status[2048];
		ssize_t n;
		int fd;

		if (d->d_name[0] < '0' || d->d_name[0] > '9' ||
		    strlen(d->d_name) > 16)
			continue;
		snprintf(name, sizeof(name), "%.16s/status", d->d_name);
		fd = openat(dirfd(proc), name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;	/* it has just ended */
		n = read(fd, status, sizeof(status) - 1);
		close(fd);
		if (n <= 0)
			continue;
		status[n] = '\0';
		mark_ids(status, used);
	}
	closedir(proc);
	return 0;
}

static bool is_free(const bool *used, uint32_t i)
{
	uint32_t id = DYNAMIC_FIRST + i;

	return !used[i] && !getpwuid(id) && !getgrgid(id);
}

/* The first ID__COUNT free ids in a row; their first, or 0. */
static uint32_t free_block(const bool *used)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < DYNAMIC_COUNT; i++) {
		run = is_free(used, i) ? run + 1 : 0;
		if (run == ID__COUNT)
			return DYNAMIC_FIRST + i + 1 - ID__COUNT;
	}
	return 0;
}

int identity_find(struct identities *ret)
{
	static const char *const users[ID__COUNT] = {
		[ID_HUB] = "trifold-symbolizerd",
		[ID_EXPORTER] = "trifold-exporterd",
		[ID_LOADER] = "trifold-loaderd",
		[ID_OPENER] = "trifold-opener",
		[ID_VIEWER] = "trifold-viewer",
	};
	bool *used = calloc(DYNAMIC_COUNT, sizeof(*used));
	uint32_t first;
	int r;

	if (!used)
		return -ENOMEM;
	r = mark_processes(used);
	first = r ? 0 : free_block(used);
	free(used);
	if (!first) {
		log_err("no free user ids for the daemons: %s",
			r ? strerror(-r) : "all of 61184..65519 are in use");
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
	if (errno || *end || v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
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
