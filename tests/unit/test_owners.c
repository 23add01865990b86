// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/hangs.h"
#include "symbolizerd/tables/owners.h"
#include "tests/unit/harness.h"

TEST(owners_know_who_has_the_most)
{
	struct owners o = { .seed = 42 };
	uint32_t most = 7;

	CHECK(!owners_most(&o, &most));
	owners_add(&o, 1, 10);
	owners_add(&o, 2, 20);
	CHECK(owners_most(&o, &most));
	CHECK_EQ(most, 2);
	owners_add(&o, 2, -15);
	CHECK(owners_most(&o, &most));
	CHECK_EQ(most, 1);
	owners_add(&o, 3, 11);
	CHECK(owners_most(&o, &most));
	CHECK_EQ(most, 3);
	CHECK_EQ(owners_have(&o, 2), 5);
	CHECK_EQ(owners_have(&o, 4), 0);
	CHECK_EQ(o.total, 26);
	/* never below nothing */
	owners_add(&o, 2, -6);
	owners_add(&o, 9, -1);
	CHECK_EQ(o.total, 21);
	owners_add(&o, 1, -10);
	owners_add(&o, 3, -11);
	CHECK(!owners_most(&o, &most));
	owners_fini(&o);
	CHECK_EQ(o.seed, 42);
}

TEST(owners_leave_a_part_to_others)
{
	struct owners o = { .seed = 42 };

	CHECK_EQ(owners_limit(&o, 1, 1600), 1600);
	owners_add(&o, 1, 100);
	CHECK_EQ(owners_limit(&o, 1, 1600), 1600);	/* there are none */
	owners_add(&o, 2, 1);
	CHECK_EQ(owners_limit(&o, 1, 1600), 1500);
	CHECK_EQ(owners_limit(&o, 2, 1600), 1600);
	CHECK_EQ(owners_limit(&o, 3, 1600), 1600);
	owners_fini(&o);
}

TEST(owners_of_subordinate_uids_are_few)
{
	uint32_t first = owner_of_uid(100000), n = 1;

	CHECK_EQ(owner_of_uid(0), 0);
	CHECK_EQ(owner_of_uid(65535), 65535);
	CHECK(first >= OWNER_UIDS);
	for (uint32_t uid = 100001; uid < 100000 + 65536; uid++) {
		n += owner_of_uid(uid) != owner_of_uid(uid - 1);
		CHECK(owner_of_uid(uid) >= OWNER_UIDS);
	}
	CHECK_EQ(n, 2);
	CHECK(owner_of_uid(UINT32_MAX) != OWNER_UNKNOWN);
}

TEST(owners_may_be_many)
{
	struct owners o = { .seed = 42 };
	uint32_t most;

	for (uint32_t i = 0; i < 100000; i++)
		owners_add(&o, i, 1 + (i == 77777));
	CHECK(owners_most(&o, &most));
	CHECK_EQ(most, 77777);
	for (uint32_t i = 0; i < 100000; i++)
		CHECK_EQ(owners_have(&o, i), 1 + (i == 77777));
	owners_fini(&o);
}

/* Users whose file systems hang use up no more than that nobody else notices. */
TEST(hangs_of_some_users_refuse_no_others)
{
	struct hangs h = { .by_owner.seed = 1 };
	uint32_t owner;
	int n = 0;

	for (owner = 1000; owner < 1004; owner++) {
		for (n = 0; hangs_allow(&h, owner); n++)
			CHECK(!hangs_note(&h, owner));
		CHECK_EQ(n, HANGS_OWNER);
	}
	CHECK(hangs_allow(&h, 0) && hangs_allow(&h, 2000));
	/* others that begin, once each */
	for (n = 0; hangs_allow(&h, owner); owner++, n++)
		CHECK_EQ(hangs_note(&h, owner), n == HANGS_ALL - HANGS_MAX - 1);
	CHECK_EQ(n, HANGS_ALL - HANGS_MAX);
	CHECK(!hangs_allow(&h, 0));
	owners_fini(&h.by_owner);
}
