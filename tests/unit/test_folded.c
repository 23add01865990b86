// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/folded.h"

#include "common/buffer.h"
#include "profile/names.h"
#include "tests/unit/cli_batch.h"

TEST(folded_merges_processes_and_escapes_names)
{
	static const char want[] =
		"app;main;</script><img src=x onerror=alert(1)>:\"\\??&;"
		"do_read_[k] 3\n"
		"app;main;libfoo.so+0x... 2\n"
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
		"libfoo.so+0x...;libfoo.so+0x...;[kernel]_[k] 1\n";
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

TEST(folded_marks_what_is_inlined_and_has_lines_if_asked)
{
	static const struct { bool lines, inlined; const char *want; } how[] = {
		{ false, true, "app;root;outer;middle_[i];inner_[i] 1\n" },
		{ true, false, "app;root (root.c:1);outer (outer.c:10);"
			"middle (middle.c:20);inner (inner.c:30) 1\n" },
		{ true, true, "app;root (root.c:1);outer (outer.c:10);"
			"middle (middle.c:20)_[i];inner (inner.c:30)_[i] 1\n" },
	};
	struct batch b;
	void *mem = inlined_batch(&b);

	for (size_t i = 0; i < 3; i++) {
		const struct profile_info info = {
			.lines = how[i].lines, .inlined = how[i].inlined,
		};
		struct buffer out = { 0 };

		CHECK_EQ(folded_encode(&b, &info, &out), 0);
		CHECK_EQ(out.len, strlen(how[i].want));
		CHECK(memcmp(out.data, how[i].want, out.len) == 0);
		free(out.data);
	}
	free(mem);
}

/* The same function under the same caller, inlined here and called there, is no
 * inlined one. */
TEST(folded_marks_only_what_is_always_inlined)
{
	static const char want[] = "app;outer;f 2\n";
	static const struct profile_info info = { .inlined = true };
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t outer = frame(bb, BATCH_FRAME_NATIVE, "outer", 0, 1);
	uint32_t called = frame(bb, BATCH_FRAME_NATIVE, "f", 0, 2);
	uint32_t inlined = batch_frame(bb, &(struct batch_frame){
		.kind = BATCH_FRAME_NATIVE, .address = 1, .inlined = 1,
		.into = outer, .function = batch_function(bb,
			&(struct batch_function){ .name = str(bb, "f") }) });
	uint32_t p = process(bb, 10, "app", "app");
	struct buffer out = { 0 };
	struct batch b;
	size_t len;
	void *mem;

	event(bb, p, 10, "app", STOP_COMPLETE, &inlined, 1, 1);
	event(bb, p, 10, "app", STOP_COMPLETE,
	      (uint32_t[]){ called, outer }, 2, 2);
	CHECK_EQ(batch_builder_finish(bb, 0, 5, &mem, &len), 0);
	CHECK_EQ(batch_open(mem, len, &b), 0);
	CHECK_EQ(folded_encode(&b, &info, &out), 0);
	CHECK_EQ(out.len, strlen(want));
	CHECK(memcmp(out.data, want, out.len) == 0);
	batch_builder_free(bb);
	free(out.data);
	free(mem);
}

static void names_are(enum function_names which, const char *want)
{
	struct buffer out = { 0 };
	struct batch b;
	void *mem = mangled_batch(&b);
	size_t len = b.hdr->bytes;

	names_choose(&b, mem, which);
	CHECK_EQ(batch_open(mem, len, &b), 0);
	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(out.len, strlen(want));
	CHECK(memcmp(out.data, want, out.len) == 0);
	free(out.data);
	free(mem);
}

TEST(folded_has_the_names_that_were_chosen)
{
	names_are(NAMES_SHORT, "app;g;a::f<...> 1\n");
	names_are(NAMES_FULL, "app;g.cold;void a::f<int>(int) 1\n");
	names_are(NAMES_RAW, "app;g.cold;_Z1f 1\n");
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
