// SPDX-License-Identifier: Apache-2.0
#include "cli/config/sudo_caller.h"

#include "tests/unit/harness.h"

TEST(sudo_user_is_believed_only_if_whole)
{
	static const char *const bad[] = { NULL, "", "0", "-1", "1000x", " 1",
					   "4294967295", "4294967296" };
	uid_t uid = 7;
	gid_t gid = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!sudo_caller(bad[i], "1000", &uid, &gid));
		CHECK(!sudo_caller("1000", i == 2 ? "x" : bad[i], &uid, &gid));
	}
	CHECK(uid == 7 && gid == 7);
	CHECK(sudo_caller("1000", "0", &uid, &gid));
	CHECK(uid == 1000 && gid == 0);
}
