// SPDX-License-Identifier: Apache-2.0
#include "cli/config/sudo_caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/number.h"

bool sudo_caller(const char *sudo_uid, const char *sudo_gid, uid_t *uid,
		 gid_t *gid)
{
	uint64_t u, g;

	if (!sudo_uid || !number_parse(sudo_uid, 1, UINT32_MAX - 1, &u) ||
	    !sudo_gid || !number_parse(sudo_gid, 0, UINT32_MAX - 1, &g))
		return false;
	*uid = (uid_t)u;
	*gid = (gid_t)g;
	return true;
}

int sudo_caller_become(void)
{
	const struct passwd *pw;
	uid_t uid;
	gid_t gid;
	int r;

	if (geteuid() || !sudo_caller(getenv("SUDO_UID"), getenv("SUDO_GID"), &uid, &gid))
		return 0;
	pw = getpwuid(uid);
	if (pw)
		r = initgroups(pw->pw_name, gid);
	else
		r = setgroups(0, NULL);
	if (!r)
		r = setresgid(gid, gid, gid);
	if (!r)
		r = setresuid(uid, uid, uid);
	if (!r)
		return 0;
	r = -errno;
	log_err("cannot become uid %u: %s", uid, strerror(-r));
	return r;
}
