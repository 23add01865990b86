// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include "tests/unit/cli_batch.h"

TEST(profile_names_a_process_after_its_first_thread)
{
	static const char *const want[] = { "", "app", "app", "worker",
					    "kworker" };
	struct batch b;
	void *mem = sample_batch(&b);
	uint32_t *names = profile_process_names(&b);

	CHECK(names != NULL);
	CHECK_EQ(batch_n(&b, BATCH_RESOURCES), 5);
	for (uint32_t i = 0; i < 5; i++) {
		size_t len;
		const char *s = batch_str(&b, names[i], &len);

		CHECK_EQ(len, strlen(want[i]));
		CHECK(memcmp(s, want[i], len) == 0);
	}
	free(names);
	free(mem);
}

TEST(profile_marks_only_incomplete_stacks)
{
	CHECK(profile_stop_marker(STOP_COMPLETE) == NULL);
	CHECK(profile_stop_marker(STOP_NO_USER) == NULL);
	CHECK(profile_stop_marker(STOP_CUT) == NULL);
	CHECK(profile_stop_marker(STOP__MAX) == NULL);
	for (uint32_t i = STOP_NO_MAPPING; i < STOP__MAX; i++) {
		static const char *const names[] = { STOP_NAMES };
		const char *m = profile_stop_marker(i);

		CHECK(m && strstr(m, names[i]));
	}
	for (uint32_t i = 0; i <= STOP__MAX; i++)
		CHECK(!batch_early_end(i) == !profile_stop_marker(i));
}
