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

TEST(profile_names_are_whole)
{
	static const struct {
		const char *thread, *exe, *want;
	} v[] = {
		{ "trifold-symboli", "trifold-symbolizerd", "trifold-symbolizerd" },
		{ "trifold-symbol", "trifold-symbolizerd", "trifold-symbol" },
		{ "trifold-symboli", "trifold-symboli", "trifold-symboli" },
		{ "a-long-script.p", "python3", "a-long-script.p" },
		{ "Trifold-symboli", "trifold-symbolizerd", "Trifold-symboli" },
		{ "", "trifold-symbolizerd", "trifold-symbolizerd" },
		{ "trifold-symboli", NULL, "trifold-symboli" },
	};
	const uint32_t n = sizeof(v) / sizeof(*v);
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, "f", 0, 1), *names;
	struct batch batch;
	void *data;
	size_t len;

	for (uint32_t i = 0; i < n; i++)
		event(b, process(b, 1 + i, v[i].exe, v[i].thread), 1 + i, "",
		      STOP_COMPLETE, &f, 1, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 500, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, &batch), 0);
	names = profile_process_names(&batch);
	CHECK(names != NULL);
	for (uint32_t i = 0; i < n; i++) {
		const char *s = batch_str(&batch, names[1 + i], &len);

		CHECK_EQ(len, strlen(v[i].want));
		CHECK(!memcmp(s, v[i].want, len));
	}
	free(names);
	free(data);
}

TEST(profile_says_what_has_no_name)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t exe = batch_exe(b, &(struct batch_exe){
		.path = str(b, "/bin/app") });
	uint32_t v[] = {
		frame(b, BATCH_FRAME_NATIVE, NULL, exe, 16),
		frame(b, BATCH_FRAME_NATIVE, NULL, 0, 16),
		frame(b, BATCH_FRAME_UNKNOWN, NULL, 0, 16),
		frame(b, BATCH_FRAME_CUT, NULL, 0, 0),
	};
	static const char *const want[] = {
		"app+0x...", "[unknown file]", "[JIT code, no names]",
		"[frames missing]",
	};
	struct batch batch;
	void *data;
	size_t len;

	event(b, process(b, 1, "app", NULL), 1, "app", STOP_COMPLETE, v, 4, 100);
	CHECK_EQ(batch_builder_finish(b, 0, 500, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, &batch), 0);
	for (uint32_t i = 0; i < 4; i++) {
		struct buffer w = { 0 };

		profile_frame_name(&batch, v[i], &w);
		CHECK_EQ(w.len, strlen(want[i]));
		CHECK(!memcmp(w.data, want[i], w.len));
		free(w.data);
	}
	free(data);
}

TEST(profile_marks_only_incomplete_stacks)
{
	CHECK(profile_stop_marker(STOP_COMPLETE) == NULL);
	CHECK(profile_stop_marker(STOP_NO_USER) == NULL);
	CHECK(profile_stop_marker(STOP_CUT) == NULL);
	CHECK(profile_stop_marker(STOP_GUESSED) == NULL);
	CHECK(profile_stop_marker(STOP__MAX) == NULL);
	for (uint32_t i = STOP_NO_MAPPING; i < STOP_GUESSED; i++) {
		static const char *const names[] = { STOP_NAMES };
		const char *m = profile_stop_marker(i);

		CHECK(m && strstr(m, names[i]));
	}
	for (uint32_t i = 0; i <= STOP__MAX; i++)
		CHECK(!batch_early_end(i) == !profile_stop_marker(i));
}
