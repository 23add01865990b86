// SPDX-License-Identifier: Apache-2.0
/*
 * A snapshot as text and back, and what happens to one that lies: it is refused, or
 * walked to some end.
 */
#include <errno.h>

#include "symbolizerd/snapshot/replay.h"
#include "symbolizerd/snapshot/text.h"
#include "tests/unit/harness.h"

/* A leaf at 401010 that main() at 401100 called; the stack ends there. */
static const char sample[] =
"trifold-snapshot 1\n"
"machine x86-64\n"
"stack 7ffc00001000\n"
"vdso 0\n"
"file 0 0 0123456789abcdef program name\n"
"file 1 2 - libpython3.8.so\n"
"map 400000 402000 0 -x 0\n"
"map 7ffc00000000 7ffc00002000 0 -ws -\n"
"row 0 1000 1020 sp cfa 0 0 8 0 0 -8 0 0 0 0 0 0 0\n"
"row 0 1100 1120 sp cfa 33 0 32 0 -16 -8 -3 0 0 0 0 0 0\n"
"row 0 1200 1220 end cfa 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
"memory 7ffc00000800 0511400000000000000000000000000000000000000000000000000000000000"
"0000000000000000000000000000000000000000000000000000000000000000\n"
"memory 7ffc00000840 0000000000000000\n"
"memory 7ffc00000820 0512400000000000\n"
"unreadable 7ffc000007c8 400\n"
"thread 77 user 7f0000000000 1 2 3 4 5 6 7 8 9 a b c d e f 401010 7ffc00000800\n"
"frame native 0+1010 leaf\n"
"frame native 0+1104 main\n"
"frame native 0+1204 \n"
"stop complete\n"
"end\n";

static void read_sample(struct snapshot *s)
{
	*s = (struct snapshot){ 0 };
	CHECK_EQ(text_read(sample, sizeof(sample) - 1, s), 0);
}

TEST(snapshot_text_says_what_is_in_it)
{
	struct snapshot s;
	uint64_t word = 0;

	read_sample(&s);
	CHECK_EQ(s.machine, SNAPSHOT_X86_64);
	CHECK_EQ(s.stack, 0x7ffc00001000);
	CHECK_EQ(s.files.n, 2);
	CHECK_STR(s.files.v[0].name, "program name");
	CHECK_STR(s.files.v[0].build_id, "0123456789abcdef");
	CHECK_STR(s.files.v[1].build_id, "");
	CHECK_EQ(s.files.v[1].runtime, 2);
	CHECK_EQ(s.maps.n, 2);
	CHECK(s.maps.v[0].exec && !s.maps.v[0].stack && s.maps.v[1].stack);
	CHECK_EQ(s.maps.v[1].file, SNAPSHOT_NO_FILE);
	CHECK_EQ(s.rows.n, 3);
	CHECK_EQ(s.rows.v[1].rule.saved, 33);
	CHECK_EQ(s.rows.v[1].rule.reg_off[0], -3);
	CHECK_EQ(s.rows.v[1].rule.fp_off, -16);
	CHECK(snapshot_get(&s, 0x7ffc00000800, &word, sizeof(word)));
	CHECK_EQ(word, 0x401105);
	CHECK(snapshot_get(&s, 0x7ffc00000820, &word, sizeof(word)));
	CHECK_EQ(word, 0x401205);
	CHECK(!snapshot_get(&s, 0x7ffc00000841, &word, sizeof(word)));
	CHECK(!snapshot_get(&s, 0x7ffc000007ff, &word, sizeof(word)));
	CHECK(snapshot_failed(&s, 0x7ffc000007c8, 0x400));
	CHECK(!snapshot_failed(&s, 0x7ffc000007c8, 0x40));
	CHECK_EQ(s.threads.n, 1);
	CHECK_EQ(s.threads.v[0].n, 3);
	CHECK_STR(s.frames.v[0].place, "native 0+1010");
	CHECK_STR(s.frames.v[1].name, "main");
	CHECK_EQ(s.threads.v[0].regs[16], 0x7ffc00000800);
	snapshot_fini(&s);
}

TEST(snapshot_is_the_same_after_it_was_written_and_read)
{
	struct buffer one = { 0 }, two = { 0 }, packed = { 0 }, back = { 0 };
	struct snapshot s, again = { 0 };

	read_sample(&s);
	text_write(&s, &one);
	CHECK(!one.failed);
	CHECK_EQ(text_read(one.data, one.len, &again), 0);
	text_write(&again, &two);
	CHECK(one.len == two.len && !memcmp(one.data, two.data, one.len));
	CHECK_EQ(text_pack(&one, &packed), 0);
	CHECK(packed.len < one.len);
	CHECK_EQ(text_unpack(packed.data, packed.len, &back), 0);
	CHECK(one.len == back.len && !memcmp(one.data, back.data, one.len));
	free(one.data);
	free(two.data);
	free(packed.data);
	free(back.data);
	snapshot_fini(&s);
	snapshot_fini(&again);
}

TEST(snapshot_is_walked_by_its_own_rules)
{
	struct replay_misses misses;
	struct snapshot s, got = { 0 };

	read_sample(&s);
	CHECK_EQ(replay(&s, &got, &misses), 0);
	for (uint32_t i = 0; i < got.frames.n; i++)
		printf("# %s\n", got.frames.v[i].place);
	printf("# missing: %u reads, %u rules\n", misses.memory, misses.rows);
	CHECK_EQ(got.frames.n, 3);
	CHECK_STR(got.frames.v[0].place, "native 0+1010");
	CHECK_STR(got.frames.v[1].place, "native 0+1104");
	CHECK_STR(got.frames.v[2].place, "native 0+1204");
	CHECK_EQ(got.threads.v[0].stop, s.threads.v[0].stop);
	CHECK_EQ(misses.rows, 0);
	snapshot_fini(&got);
	/* a rule less: the place is missing, and it is said */
	s.rows.n = 1;
	CHECK_EQ(replay(&s, &got, &misses), 0);
	CHECK_EQ(misses.rows, 1);
	snapshot_fini(&s);
	snapshot_fini(&got);
}

/* The same on arm64: the leaf's caller is in x30, with a pointer authentication code;
 * main() has saved x29 and x30. */
static const char arm[] =
"trifold-snapshot 1\n"
"machine aarch64\n"
"stack 0\n"
"vdso 0\n"
"file 0 0 - program\n"
"map 400000 402000 0 -x 0\n"
"row 0 1000 1020 sp reg 0 0 0 0 0 0 0 0 0 0 0 0 5\n"
"row 0 1100 1120 fp cfa 32 0 32 0 -32 -24 0 0 0 0 0 0 0\n"
"row 0 1200 1220 end cfa 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
"memory ffff00000800 00000000000000000812400000000000\n"
"thread 1 call ffff00001000 0 1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 "
"1a 1b 1c ffff00000800 27000000401108 ffff00000800 401010\n"
"end\n";

TEST(snapshot_of_the_other_machine)
{
	struct snapshot s = { 0 }, got = { 0 };
	struct replay_misses misses;

	CHECK_EQ(text_read(arm, sizeof(arm) - 1, &s), 0);
	CHECK_EQ(s.machine, SNAPSHOT_AARCH64);
	CHECK_EQ(replay(&s, &got, &misses), 0);
	for (uint32_t i = 0; i < got.frames.n; i++)
		printf("# %s\n", got.frames.v[i].place);
	CHECK_EQ(got.frames.n, 3);
	CHECK_STR(got.frames.v[0].place, "native 0+100f");	/* in a system call */
	CHECK_STR(got.frames.v[1].place, "native 0+1107");
	CHECK_STR(got.frames.v[2].place, "native 0+1207");
	CHECK_EQ(misses.rows, 0);
	snapshot_fini(&s);
	snapshot_fini(&got);
}

/* --- what lies ---------------------------------------------------------------------- */

/* In memory of exact size; walked if it is believed. */
static int read_foreign(const char *text, size_t len)
{
	struct snapshot s = { 0 }, got = { 0 };
	struct replay_misses misses;
	char *copy = malloc(len + !len);
	int r;

	memcpy(copy, text, len);
	r = text_read(copy, len, &s);
	if (!r)
		replay(&s, &got, &misses);
	snapshot_fini(&s);
	snapshot_fini(&got);
	free(copy);
	return r;
}

TEST(snapshot_that_ends_early_is_refused)
{
	for (size_t len = 0; len < sizeof(sample) - 1; len++)
		CHECK(read_foreign(sample, len) > 0);
	CHECK_EQ(read_foreign(sample, sizeof(sample) - 1), 0);
}

TEST(snapshot_with_any_bit_flipped_is_refused_or_walked)
{
	int believed = 0;

	for (size_t i = 0; i < sizeof(sample) - 1; i++) {
		for (int bit = 0; bit < 8; bit++) {
			char copy[sizeof(sample)];

			memcpy(copy, sample, sizeof(sample));
			copy[i] = (char)(copy[i] ^ 1 << bit);
			believed += !read_foreign(copy, sizeof(sample) - 1);
		}
	}
	printf("# %d of %zu are believed\n", believed, 8 * (sizeof(sample) - 1));
	CHECK(believed > 100);
}

#define A_THREAD "thread 1 user 0 1 2 3 4 5 6 7 8 9 a b c d e f 10 11\n"

TEST(snapshot_lines_that_no_snapshot_has)
{
	static const char *const bad[] = {
		"file 2 0 - not the next\n", "file 0 0 - \n", "file 0 100 - a\n",
		"file 0 0 xyz a\n",
		"file 0 0 - a name that is longer than any that we would ever write down ourselves\n",
		"map 2000 1000 0 -x -\n", "map 1000 2001 0 -x -\n", "map 1000 2000 0 -x 0\n",
		"map 1000 3000 0 - -\nmap 2000 4000 0 - -\n", "map 1000 2000 0 - - -\n",
		"row 0 0 1 sp cfa 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"file 0 0 - a\nrow 0 1 1 sp cfa 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"file 0 0 - a\nrow 0 0 1 up cfa 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"file 0 0 - a\nrow 0 0 1 sp cfa 256 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"file 0 0 - a\nrow 0 0 1 sp cfa 0 0 0 0 0 0 0 0 0 0 32768 0 0\n",
		"file 0 0 - a\nrow 0 0 1 sp cfa 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"memory 1000 0\n", "memory 1000 0g\n", "memory 1000 00 00\n", "memory 1000\n",
		"unreadable 1000\n", "thread 1 user 0 1 2 3\n",
		"thread 1 user 0 1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12\n",
		"thread 1 asleep 0 1 2 3 4 5 6 7 8 9 a b c d e f 10 11\n",
		"frame native 0+1\n", A_THREAD "frame\n", A_THREAD "frame native\n",
		A_THREAD "frame what 1 name\n", A_THREAD "frame hotspot 1 A.b A.java\n",
		A_THREAD "frame HotSpotX 1 A.b\n", A_THREAD "frame Go 1 a b\n", "stop complete\n", "machine vax\n", "\n", "what\n",
		"vdso 11112222333344445\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[512];
		int n = snprintf(text, sizeof(text), "trifold-snapshot 1\n%send\n", bad[i]);

		if (!read_foreign(text, (size_t)n))
			printf("# believed: %s", bad[i]);
		CHECK(read_foreign(text, (size_t)n) > 1);
	}
	CHECK_EQ(read_foreign("trifold-snapshot 2\nend\n", 23), 1);
	CHECK_EQ(read_foreign("trifold-snapshot 1\nend\n", 23), 0);
	CHECK_EQ(read_foreign("trifold-snapshot 1\nend\n\n", 24), 3);
}

TEST(snapshot_frames_of_each_kind)
{
	static const char *const good[] = {
		"native 0+1 f", "native 0+1", "anonymous 7f00", "cut -", "kind 300000000000001",
		"CPython 3 f g.py", "HotSpot 3 A.b A.java", "HotSpot 0 A$$Lambda.go",
		"HotSpot 0 [JVM stub]",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct snapshot s = { 0 };
		char text[512];
		int n = snprintf(text, sizeof(text),
				 "trifold-snapshot 1\n" A_THREAD "frame %s\nend\n", good[i]);
		struct buffer again = { 0 };

		CHECK_EQ(text_read(text, (size_t)n, &s), 0);
		CHECK_EQ(s.frames.n, 1);
		text_write(&s, &again);
		buffer_add(&again, "", 1);
		CHECK(strstr((char *)again.data, good[i]));
		snapshot_fini(&s);
		free(again.data);
	}
}

/* So many pages that memory would be short: refused where the room ends. */
TEST(snapshot_has_no_more_memory_than_we_would_write)
{
	struct buffer text = { 0 };

	buffer_str(&text, "trifold-snapshot 1\n");
	for (uint64_t i = 0; i <= SNAPSHOT_PAGES_MAX; i++)
		buffer_printf(&text, "memory %lx 00\n", (unsigned long)(i << 20));
	buffer_str(&text, "end\n");
	CHECK_EQ(read_foreign((char *)text.data, text.len), SNAPSHOT_PAGES_MAX + 2);
	free(text.data);
}

TEST(snapshot_compressed_is_no_trap)
{
	struct buffer text = { 0 }, packed = { 0 }, out = { 0 };

	CHECK(buffer_room(&text, SNAPSHOT_TEXT_MAX + (1 << 20)));
	memset(text.data, 'a', SNAPSHOT_TEXT_MAX + (1 << 20));
	text.len = SNAPSHOT_TEXT_MAX + (1 << 20);
	CHECK_EQ(text_pack(&text, &packed), 0);
	printf("# a bomb of %zu bytes\n", packed.len);
	CHECK_EQ(text_unpack(packed.data, packed.len, &out), -E2BIG);
	CHECK(out.len <= SNAPSHOT_TEXT_MAX + 65536);
	out.len = packed.len = 0;
	text.len = sizeof(sample) - 1;
	memcpy(text.data, sample, text.len);
	CHECK_EQ(text_pack(&text, &packed), 0);
	for (size_t len = 0; len < packed.len; len++) {
		char *copy = malloc(len + !len);

		memcpy(copy, packed.data, len);
		out.len = 0;
		CHECK_EQ(text_unpack(copy, len, &out), -EPROTO);
		free(copy);
	}
	out.len = 0;
	CHECK_EQ(text_unpack(packed.data, packed.len, &out), 0);
	buffer_add(&packed, "x", 1);		/* something behind it */
	out.len = 0;
	CHECK_EQ(text_unpack(packed.data, packed.len, &out), -EPROTO);
	free(text.data);
	free(packed.data);
	free(out.data);
}
