// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/identity.h"

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#define DYNAMIC_FIRST	61184u
#define DYNAMIC_LAST	65519u

/* The first of ID__COUNT ids in a row that no user and no group has, and under
 * which no process runs; or 0. */
static uid_t free_block(void)
{
	uid_t run = 0;

	for (uid_t id = DYNAMIC_FIRST; id <= DYNAMIC_LAST; id++) {
		errno = 0;
		getpriority(PRIO_USER, id);	/* ESRCH: of no process */
		run = errno == ESRCH && !getpwuid(id) && !getgrgid(id) ?
			run + 1 : 0;
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
	uid_t first = free_block();

	if (!first) {
		warnx("no free user ids for the daemons: all of %u..%u are in "
		      "use", DYNAMIC_FIRST, DYNAMIC_LAST);
		return -EAGAIN;
	}
	for (uid_t i = 0; i < ID__COUNT; i++) {
		const struct passwd *pw = users[i] ? getpwnam(users[i]) : NULL;
		bool own = pw && pw->pw_uid;

		ret->uid[i] = own ? pw->pw_uid : first + i;
		ret->gid[i] = own ? pw->pw_gid : first + i;
	}
	return 0;
}
