// SPDX-License-Identifier: Apache-2.0
/*
 * Line tables as CPython 3.9, 3.10 and 3.13 wrote them of one function, against
 * what these say of it themselves (dis.findlinestarts(), co_lines()).
 */
#include <string.h>

#include "bpf/hotspot.h"
#include "bpf/python_lines.h"
#include "bpf/frame.h"
#include "bpf/runtime.h"
#include "symbolizerd/runtimes/reading.h"
#include "tests/unit/any_rule.h"
#include "tests/unit/harness.h"

#define FIRST	2	/* line of its def */

static const uint8_t pairs[] = {
	0, 2, 2, 1, 2, 255, 4, 2, 12, 1, 4, 1, 4, 1, 2, 255, 6, 5, 2, 1, 2, 254,
};
static const uint8_t ranges[] = {
	2, 2, 2, 1, 4, 255, 12, 2, 4, 1, 4, 1, 2, 1, 4, 255, 2, 128, 2, 5, 2, 1,
	4, 254,
};
static const uint8_t locations[] = {
	128, 0, 224, 9, 10, 216, 9, 10, 241, 3, 1, 10, 11, 128, 65, 228, 13, 18,
	144, 49, 142, 88, 136, 1, 223, 11, 12, 136, 49, 220, 16, 17, 144, 33, 216,
	18, 19, 243, 3, 1, 17, 21, 138, 65, 241, 5, 0, 14, 22, 240, 14, 0, 9, 10,
	216, 8, 9, 240, 5, 2, 12, 11, 240, 0, 2, 5, 11,
};

/* Until which byte of the code which line holds; 0: none. */
struct until {
	uint32_t end, line;
};

static const struct until of_pairs[] = {
	{ 2, 4 }, { 4, 5 }, { 8, 4 }, { 20, 6 }, { 24, 7 }, { 28, 8 }, { 30, 9 },
	{ 36, 8 }, { 38, 13 }, { 40, 14 }, { 44, 12 }, { 0, 0 },
};
static const struct until of_ranges[] = {
	{ 2, 4 }, { 4, 5 }, { 8, 4 }, { 20, 6 }, { 24, 7 }, { 28, 8 }, { 30, 9 },
	{ 34, 8 }, { 36, 0 }, { 38, 13 }, { 40, 14 }, { 44, 12 }, { 0, 0 },
};
static const struct until of_locations[] = {
	{ 2, 2 }, { 4, 4 }, { 6, 5 }, { 12, 4 }, { 40, 6 }, { 58, 7 }, { 70, 8 },
	{ 72, 9 }, { 86, 8 }, { 90, 6 }, { 92, 13 }, { 94, 14 }, { 98, 12 },
	{ 0, 0 },
};

static const struct table {
	uint32_t form;
	const uint8_t *bytes;
	size_t len;
	const struct until *until;
} tables[] = {
	{ LINES_PAIRS, pairs, sizeof(pairs), of_pairs },
	{ LINES_RANGES, ranges, sizeof(ranges), of_ranges },
	{ LINES_LOCATIONS, locations, sizeof(locations), of_locations },
};
#define TABLES	(sizeof(tables) / sizeof(*tables))

static uint32_t line_of(const struct table *t, size_t len, bool whole, uint32_t at)
{
	return reading_line(RUNTIME_PYTHON, t->form, t->bytes, len, whole, FIRST, at);
}

TEST(line_table_says_what_cpython_says)
{
	for (size_t i = 0; i < TABLES; i++) {
		const struct until *u = tables[i].until;

		for (uint32_t at = 0; u->end; at++) {
			if (at == u->end)
				u++;
			if (u->end)
				CHECK_EQ(line_of(&tables[i], tables[i].len, true, at),
					 u->line);
		}
	}
}

TEST(line_table_knows_its_end)
{
	CHECK_EQ(line_of(&tables[0], sizeof(pairs), true, 1000), 12);
	CHECK_EQ(line_of(&tables[1], sizeof(ranges), true, 44), 0);
	CHECK_EQ(line_of(&tables[2], sizeof(locations), true, 98), 0);
	for (size_t i = 0; i < TABLES; i++)
		CHECK_EQ(line_of(&tables[i], 0, false, 0), 0);
	/* a function of one line has no pairs at all */
	CHECK_EQ(line_of(&tables[0], 0, true, 4), FIRST);
	CHECK_EQ(reading_line(RUNTIME_PYTHON, 99, pairs, sizeof(pairs), true, FIRST, 0), 0);
}

/* HotSpot's: what javac made of the lines 14, 15, 14, 18, 400 at 0, 4, 10, 13, 300. */
static const uint8_t java[] = {
	0xff, 0, 28,		/* 0: +14 */
	4 << 3 | 1,
	0xff, 12, 1,		/* 6 further, a line back */
	3 << 3 | 4,
	0xff, 0xc0 + (574 - 192) % 64, (574 - 192) / 64, 0xc0 + (764 - 192) % 64, (764 - 192) / 64,
	0, 7, 7,
};

TEST(line_table_of_java)
{
	static const struct until lines[] = {
		{ 4, 14 }, { 10, 15 }, { 13, 14 }, { 300, 18 }, { 1000, 400 },
	};
	uint8_t later[sizeof(java)];
	uint32_t first = 0;
	const struct until *u = lines;

	/* since JDK 20 each byte of a number is one more */
	memcpy(later, java, sizeof(java));
	for (size_t i = 0; i < sizeof(java); i++)
		later[i] += i == 1 || i == 2 || i == 5 || i == 6 || i == 10 || i == 12;
	later[9] = 0xc0 + (574 - 191) % 64;
	later[10] = (574 - 191) / 64 + 1;
	later[11] = 0xc0 + (764 - 191) % 64;
	later[12] = (764 - 191) / 64 + 1;
	for (uint32_t at = 0; at < 1000; at++) {
		u += at == u->end;
		CHECK_EQ(reading_line(RUNTIME_HOTSPOT, LINES_JAVA, java, sizeof(java), true, 0, at), u->line);
		CHECK_EQ(reading_line(RUNTIME_HOTSPOT, LINES_JAVA_20, later, sizeof(later), true, 0, at),
			 u->line);
	}
	CHECK_EQ(reading_end(RUNTIME_HOTSPOT, LINES_JAVA, java, sizeof(java), &first),
		 sizeof(java) - 2);
	CHECK_EQ(first, 14);
	CHECK_EQ(reading_end(RUNTIME_HOTSPOT, LINES_JAVA, java, 5, &first), 5);
	CHECK_EQ(reading_end(RUNTIME_HOTSPOT, LINES_PAIRS, java, 5, &first), 5);
	CHECK_EQ(reading_end(RUNTIME_PYTHON, LINES_JAVA, java, 5, &first), 5);
	for (size_t len = 0; len < sizeof(java) - 2; len++) {
		u = lines;
		for (uint32_t at = 0; at < 1000; at++) {
			uint32_t line = reading_line(RUNTIME_HOTSPOT, LINES_JAVA, java, len, false, 0, at);

			u += at == u->end;
			CHECK(!line || line == u->line);
		}
	}
}

/* A table that was cut says the right line, or none. */
TEST(line_table_cut_never_lies)
{
	for (size_t i = 0; i < TABLES; i++) {
		for (size_t len = 0; len < tables[i].len; len++) {
			const struct until *u = tables[i].until;

			for (uint32_t at = 0; u->end; at++) {
				uint32_t line;

				u += at == u->end;
				line = line_of(&tables[i], len, false, at);
				/* an entry of locations may be cut within */
				if (u->end && line && i < 2)
					CHECK_EQ(line, u->line);
			}
		}
	}
}

TEST(line_table_of_any_bytes_ends)
{
	for (int round = 0; round < 20000; round++) {
		uint8_t bytes[64];

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)next_random();
		for (uint32_t form = 0; form < 6; form++)
			(void)reading_line(round % (RUNTIME__MAX + 1), form, bytes, below(sizeof(bytes) + 1),
					      round & 1, (uint32_t)next_random(),
					      (uint32_t)below(400));
	}
}

/* A form is the language's own: another one's is none. */
TEST(line_table_of_another_runtime_is_none)
{
	char name[TEXT_NAME_MAX], full[TEXT_FULL_MAX];

	CHECK_EQ(reading_line(RUNTIME_HOTSPOT, LINES_PAIRS, pairs, sizeof(pairs), true, FIRST, 4), 0);
	CHECK_EQ(reading_line(RUNTIME_PYTHON, LINES_JAVA, java, sizeof(java), true, FIRST, 4), 0);
	for (uint32_t runtime = RUNTIME__MAX; runtime < 64; runtime++) {
		CHECK_EQ(reading_line(runtime, 1, pairs, sizeof(pairs), true, FIRST, 4), 0);
		CHECK_EQ(reading_line(runtime, 1, pairs, 0, true, FIRST, MANAGED_AT_START), FIRST);
		reading_name(runtime, name, full, "a/B", "f", "()V");
		CHECK_STR(name, "f");
		CHECK_STR(full, "");
	}
}
