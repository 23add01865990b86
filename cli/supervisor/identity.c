// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/identity.h"

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/resource.h>

#define UNUSED		0x70000000u
#define LOOKS		1000

/* No user and no group has this id, and no process runs under it. */
static bool identity_is_free(uid_t id)
{
	errno = 0;
	getpriority(PRIO_USER, id);	/* ESRCH: of no process */
	return errno == ESRCH && !getpwuid(id) && !getgrgid(id);
}

/* The first of ID__COUNT free ids in a row: the same ones every time, if they are free;
 * else any, since nobody has processes under so many ids.  Or 0. */
static uid_t identity_find_block(void)
{
	uid_t id = UNUSED, run = 0;

	for (int i = 0; i < LOOKS && run < ID__COUNT; i++) {
		if (identity_is_free(id + run)) {
			run++;
			continue;
		}
		/* one of 2^27, the lower half of the range */
		if (getrandom(&id, sizeof(id), 0) < 0)
			return 0;
		id = UNUSED + (id >> 5);
		run = 0;
	}
	return run == ID__COUNT ? id : 0;
}

int identity_find(struct identities *ret)
{
	static const char *const users[ID__COUNT] = {
		"trifold-symbolizerd", "trifold-exporterd", "trifold-loaderd",
		"trifold-viewer", "trifold-opener",
	};
	uid_t first = identity_find_block();

	if (!first) {
		warnx("no free user ids for the daemons above %u", UNUSED);
		return -EAGAIN;
	}
	for (uid_t i = 0; i < ID__COUNT; i++) {
		const struct passwd *pw = users[i] ? getpwnam(users[i]) : NULL;

		ret->uid[i] = first + i;
		ret->gid[i] = first + i;
		if (pw && pw->pw_uid) {
			ret->uid[i] = pw->pw_uid;
			ret->gid[i] = pw->pw_gid;
		}
	}
	return 0;
}
