// SPDX-License-Identifier: Apache-2.0
#include "cli/record/sudo_caller.h"

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
