// SPDX-License-Identifier: Apache-2.0
/* Perf maps and jitdumps: what they name, and what they cannot do. */
#include "symbolizerd/symbols/jit_names.h"
#include "symbolizerd/symbols/jitdump.h"
#include "tests/unit/harness.h"
#include "tests/unit/jit_dump.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/frame.h"

static struct frame_names_build b;
static struct frame_names names;
static uint8_t sealed[FRAME_NAMES_BYTES_MAX + 8];
static struct jit_dump dump;

static int file_of(const void *data, size_t len)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, data, len), (ssize_t)len);
	return fd;
}

/* Look for n addresses; the answer is in names. */
static int look(int fd, const uint64_t *addrs, uint32_t n)
{
	uint64_t words[JIT_WANTED_MAX];
	struct iovec parts[3];
	size_t len = 0;
	int r;

	for (uint32_t i = 0; i < n; i++)
		words[i] = FRAME_ANON_WORD(addrs[i]);
	frame_names_begin(&b, n);
	r = jit_names(fd, words, n, &b);
	frame_names_end(&b, parts);
	for (int i = 0; i < 3; i++) {
		memcpy(sealed + len, parts[i].iov_base, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	CHECK_EQ(frame_names_open(sealed, len, n, &names), 0);
	return r;
}

static const char *name_at(uint32_t i)
{
	return frame_names_place(&names, i).name;
}

static const char *map_name(const char *text, uint64_t addr)
{
	int fd = file_of(text, strlen(text));

	CHECK_EQ(look(fd, &addr, 1), 0);
	close(fd);
	return name_at(0);
}

TEST(a_line_names_what_it_covers)
{
	const char *text = "1000 20 first\n2000 10 with spaces in it\n"
			   "0x3000 0x10 prefixed\nffff800000000000 8 high\r\n";

	CHECK_STR(map_name(text, 0xfff), "");
	CHECK_STR(map_name(text, 0x1000), "first");
	CHECK_STR(map_name(text, 0x101f), "first");
	CHECK_STR(map_name(text, 0x1020), "");
	CHECK_STR(map_name(text, 0x2008), "with spaces in it");
	CHECK_STR(map_name(text, 0x300f), "prefixed");
	CHECK_STR(map_name(text, 0xff800000000000), "");	/* 56 bits of it */
	CHECK_STR(map_name("1000 10 a\tb\033c\n", 0x1000), "a?b?c");
}

TEST(what_was_written_last_counts)
{
	const char *text = "1000 100 old\n1000 100 newer\n1080 10 newest\n";

	CHECK_STR(map_name(text, 0x1000), "newer");
	CHECK_STR(map_name(text, 0x1088), "newest");
	CHECK_STR(map_name(text, 0x1090), "newer");
}

TEST(a_line_without_its_end_is_not_read)
{
	CHECK_STR(map_name("1000 100 old\n1000 100 half", 0x1000), "old");
	CHECK_STR(map_name("1000 100 half", 0x1000), "");
	CHECK_STR(map_name("", 0x1000), "");
	CHECK_STR(map_name("\n\n\n", 0x1000), "");
}

TEST(lines_that_make_no_sense_name_nothing)
{
	static const char *const bad[] = {
		"1000 0 name\n", "1000 name\n", "1000 10\n", "1000 10 \n", " 1000 10 name\n",
		"xyz 10 name\n", "1000 -1 name\n", "1000 80000000 name\n",
		"11111111111111111 10 name\n", "1000 ffffffffffffffff name\n",
		"fffffffffffffff0 11 name\n", "0x 10 name\n", "1000\n10 name\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_STR(map_name(bad[i], 0x1004), "");
	/* up to the last address there is, and no further */
	CHECK_STR(map_name("ffffffffffffff 1 name\n", FRAME_ADDR_MASK), "name");
}

/* Lines across the pieces in which a file is read, and one that is longer than
 * any line. */
TEST(large_maps_are_read_whole)
{
	size_t room = 4u << 20, len = 0;
	char *text = malloc(room);
	uint64_t addrs[JIT_WANTED_MAX];
	int fd;

	for (uint32_t i = 0; len < room - 8000; i++) {
		len += (size_t)sprintf(text + len, "%x %x function number %u\n",
				       0x10000 + i * 16, 16, i);
		if (i == 20000) {
			memset(text + len, 'x', 7000);
			len += 7000;
			text[len++] = '\n';
		}
	}
	fd = file_of(text, len);
	for (uint32_t i = 0; i < JIT_WANTED_MAX; i++)
		addrs[i] = 0x10000 + (uint64_t)(JIT_WANTED_MAX - i) * 150 * 16 + 3;
	CHECK_EQ(look(fd, addrs, JIT_WANTED_MAX), 0);
	for (uint32_t i = 0; i < JIT_WANTED_MAX; i++) {
		char want[40];

		snprintf(want, sizeof(want), "function number %u", (JIT_WANTED_MAX - i) * 150);
		CHECK_STR(name_at(i), want);
	}
	close(fd);
	free(text);
}

static const char dump_map[] = "1000 100 one\n2000 100 two\n";

TEST(maps_that_end_anywhere_and_have_any_bit_wrong)
{
	uint64_t addrs[] = { 0x1001, 0x2001 };
	char text[sizeof(dump_map)];

	for (size_t len = 0; len < sizeof(dump_map); len++) {
		int fd = file_of(dump_map, len);

		CHECK_EQ(look(fd, addrs, 2), 0);
		CHECK_STR(name_at(0), len >= 13 ? "one" : "");
		CHECK_STR(name_at(1), len >= sizeof(dump_map) - 1 ? "two" : "");
		close(fd);
	}
	for (size_t bit = 0; bit < 8 * (sizeof(dump_map) - 1); bit++) {
		int fd;

		memcpy(text, dump_map, sizeof(text));
		text[bit / 8] ^= (char)(1 << bit % 8);
		fd = file_of(text, sizeof(text) - 1);
		CHECK_EQ(look(fd, addrs, 2), 0);
		close(fd);
	}
}

/* --- jitdump ------------------------------------------------------------------ */

static void sample_dump(void)
{
	uint64_t moved;

	jit_dump_begin(&dump);
	jit_load(&dump, 0x1000, 0x100, "old");
	jit_lines(&dump, 0x1000, "file.x", 10, 11);
	jit_load(&dump, 0x1000, 0x100, "with lines");
	moved = jit_load(&dump, 0x5000, 0x100, "moved");
	jit_move(&dump, 0x5000, 0x2000, 0x100, moved);
	jit_load(&dump, 0x3000, 0x100, "last");
}

static int look_dump(size_t len, const uint64_t *addrs, uint32_t n)
{
	int fd = file_of(dump.bytes, len), r;

	r = look(fd, addrs, n);
	close(fd);
	return r;
}

TEST(a_dump_names_with_lines)
{
	uint64_t addrs[] = { 0x3001, 0x1004, 0x1009, 0x2010, 0x4000 };

	sample_dump();
	CHECK_EQ(look_dump(dump.len, addrs, 5), 0);
	CHECK_STR(name_at(0), "last");
	CHECK_STR(name_at(1), "with lines");
	CHECK_STR(frame_names_place(&names, 1).file, "file.x");
	CHECK_EQ(frame_names_place(&names, 1).line, 10);
	CHECK_STR(frame_names_place(&names, 2).file, "file.x");
	CHECK_EQ(frame_names_place(&names, 2).line, 11);
	CHECK_STR(name_at(3), "moved");
	CHECK_STR(name_at(4), "");
}

/* Code that was moved has the name that its index had then. */
TEST(an_index_that_is_used_again_names_what_was_moved_before)
{
	uint64_t addr = 0x2004, index;

	jit_dump_begin(&dump);
	index = jit_load(&dump, 0x5000, 0x100, "before");
	jit_move(&dump, 0x5000, 0x2000, 0x100, index);
	dump.code_index = index;
	jit_load(&dump, 0x7000, 0x100, "after");
	CHECK_EQ(look_dump(dump.len, &addr, 1), 0);
	CHECK_STR(name_at(0), "before");
}

TEST(a_dump_of_another_kind_is_refused)
{
	static const struct { size_t at; uint8_t xor; } wrong[] = {
		{ 4, 2 },	/* version */
		{ 8, 1 },	/* length of the header */
		{ 12, 0x80 },	/* machine */
	};
	uint64_t addr = 0x3001;

	sample_dump();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		dump.bytes[wrong[i].at] ^= wrong[i].xor;
		CHECK_EQ(look_dump(dump.len, &addr, 1), -EPROTO);
		dump.bytes[wrong[i].at] ^= wrong[i].xor;
	}
	CHECK_EQ(look_dump(dump.len, &addr, 1), 0);
	CHECK_STR(name_at(0), "last");
	/* CPython 3.13 does not write the machine */
	memset(dump.bytes + 12, 0, 4);
	CHECK_EQ(look_dump(dump.len, &addr, 1), 0);
	CHECK_STR(name_at(0), "last");
}

static void swap(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t x = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = x;
	}
}

TEST(the_other_byte_order_is_read)
{
	uint64_t addr = 0x1004;
	uint8_t *p;

	jit_dump_begin(&dump);
	jit_load(&dump, 0x1000, 0x100, "swapped");
	for (size_t at = 0; at < 24; at += 4)
		swap(dump.bytes + at, 4);
	p = dump.bytes + 40;
	swap(p, 4);
	swap(p + 4, 4);
	for (size_t at = 24; at < 56; at += 8)
		swap(p + at, 8);
	CHECK_EQ(look_dump(dump.len, &addr, 1), 0);
	CHECK_STR(name_at(0), "swapped");
}

TEST(dumps_that_end_anywhere_and_have_any_bit_wrong)
{
	uint64_t addrs[] = { 0x3001, 0x1004, 0x1009, 0x2010 };

	sample_dump();
	for (size_t len = 0; len <= dump.len; len++) {
		int r = look_dump(len, addrs, 4);

		CHECK_EQ(r, len >= 4 && len < 40 ? -EPROTO : 0);
		CHECK_STR(name_at(0), len == dump.len ? "last" : "");
	}
	for (size_t bit = 0; bit < 8 * dump.len; bit++) {
		dump.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		(void)!look_dump(dump.len, addrs, 4);
		dump.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Each record covers every address: what a visit does has an end. */
TEST(hostile_dumps_end)
{
	uint64_t addrs[JIT_WANTED_MAX];

	for (uint32_t i = 0; i < JIT_WANTED_MAX; i++)
		addrs[i] = 0x1000 + i;
	jit_dump_begin(&dump);
	while (dump.len < sizeof(dump.bytes) - 100)
		jit_load(&dump, 0x1000, 0x10000, "x");
	CHECK_EQ(look_dump(dump.len, addrs, JIT_WANTED_MAX), 0);
	CHECK_STR(name_at(JIT_WANTED_MAX - 1), "x");
	/* sizes of 0, and beyond all bounds */
	jit_dump_begin(&dump);
	jit_load(&dump, 0x1000, 0, "none");
	jit_load(&dump, 0x1000, UINT64_MAX, "all");
	CHECK_EQ(look_dump(dump.len, addrs, 1), 0);
	CHECK_STR(name_at(0), "");
}

TEST(names_of_a_visit_have_room)
{
	uint64_t addrs[JIT_WANTED_MAX];
	size_t room = 4u << 20, len = 0;
	char *text = malloc(room);
	int fd;

	for (uint32_t i = 0; i < JIT_WANTED_MAX; i++) {
		addrs[i] = 0x1000 + i * 16;
		len += (size_t)sprintf(text + len, "%x 10 %0*u\n", 0x1000 + i * 16, 2000, i);
	}
	fd = file_of(text, len);
	CHECK_EQ(look(fd, addrs, JIT_WANTED_MAX), 0);
	for (uint32_t i = 0; i < JIT_WANTED_MAX; i++)
		CHECK_EQ(strlen(name_at(i)), JIT_NAME_MAX - 1);
	close(fd);
	free(text);
}
