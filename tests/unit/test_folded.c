// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/folded.h"

#include "common/buffer.h"
#include "tests/unit/cli_batch.h"

TEST(folded_merges_processes_and_escapes_names)
{
	static const char want[] =
		"app;main;</script><img src=x onerror=alert(1)>:\"\\??&;"
		"do_read_[k] 3\n"
		"app;main;libfoo.so+0x1234 2\n"
		"kworker;kthread_[k] 1\n"
		"worker;[stack ends: no_table];goexit 1\n";
	struct buffer out = { 0 };
	struct batch b;
	void *mem = sample_batch(&b);

	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(out.len, strlen(want));
	CHECK(memcmp(out.data, want, out.len) == 0);
	free(out.data);
	free(mem);
}

/* docs/SUPPORT.md; test_top_model.c and test_pprof.c have the same words. */
TEST(folded_says_what_has_no_name)
{
	static const char want[] =
		"[unknown process];[JIT code, no names];[unknown file];"
		"libfoo.so+0x20;libfoo.so+0x10;[kernel]_[k] 1\n";
	struct buffer out = { 0 };
	struct batch b;
	void *mem = nameless_batch(&b);

	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(out.len, strlen(want));
	CHECK(memcmp(out.data, want, out.len) == 0);
	free(out.data);
	free(mem);
}

TEST(folded_shows_what_is_inlined)
{
	static const char want[] = "app;root;outer;middle;inner 1\n";
	struct buffer out = { 0 };
	struct batch b;
	void *mem = inlined_batch(&b);

	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(out.len, strlen(want));
	CHECK(memcmp(out.data, want, out.len) == 0);
	free(out.data);
	free(mem);
}

/* Deeper than any sample, so that nothing rests on FRAMES_MAX. */
TEST(folded_writes_very_deep_stacks)
{
	enum { DEPTH = 5000 };
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t *frames = calloc(DEPTH, sizeof(*frames)), p;
	struct buffer out = { 0 };
	struct batch b;
	size_t len;
	void *mem;

	p = process(bb, 1, "deep", "deep");
	for (int i = 0; i < DEPTH; i++)
		frames[i] = frame(bb, BATCH_FRAME_NATIVE, i % 2 ? "a" : "b", 0,
				  (uint64_t)i);
	event(bb, p, 1, "deep", STOP_COMPLETE, frames, DEPTH, 1);
	CHECK_EQ(batch_builder_finish(bb, 0, 1, &mem, &len), 0);
	CHECK_EQ(batch_open(mem, len, &b), 0);
	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(out.len, strlen("deep") + 2 * DEPTH + strlen(" 1\n"));
	batch_builder_free(bb);
	free(out.data);
	free(frames);
	free(mem);
}
