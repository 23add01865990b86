// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/identity.h"

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/resource.h>

#define UNUSED		0x70000000u
#define LOOKS		1000

/* The first of ID__COUNT ids in a row that no user and no group has, and under
 * which no process runs: always the same ones if that is so, else any, since
 * nobody has processes under so many.  Or 0. */
static uid_t free_block(void)
{
	uid_t id = UNUSED, run = 0;

	for (int i = 0; i < LOOKS && run < ID__COUNT; i++, run++) {
		errno = 0;
		getpriority(PRIO_USER, id + run);	/* ESRCH: of no process */
		if (errno == ESRCH && !getpwuid(id + run) && !getgrgid(id + run))
			continue;
		/* one of 2^27, the lower half of those */
		id = UNUSED + (getrandom(&id, sizeof(id), 0) < 0 ? 0 : id >> 5);
		run = -1u;
	}
	return run == ID__COUNT ? id : 0;
}

int identity_find(struct identities *ret)
{
	static const char *const users[ID__COUNT] = {
		"trifold-symbolizerd", "trifold-exporterd", "trifold-loaderd",
		"trifold-viewer", "trifold-opener",
	};
	uid_t first = free_block();

	if (!first) {
		warnx("no free user ids for the daemons above %u", UNUSED);
		return -EAGAIN;
	}
	for (uid_t i = 0; i < ID__COUNT; i++) {
		const struct passwd *pw = users[i] ? getpwnam(users[i]) : NULL;

		if (pw && !pw->pw_uid)
			pw = NULL;
		ret->uid[i] = pw ? pw->pw_uid : first + i;
		ret->gid[i] = pw ? pw->pw_gid : first + i;
	}
	return 0;
}
