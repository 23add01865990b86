// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/line_table.h"

#include "bpf/frame.h"

static uint32_t line_or_none(int64_t line)
{
	if (line <= 0 || line > INT32_MAX)
		return 0;
	return (uint32_t)line;
}

/* Pairs: a number to add to the address (unsigned), one to add to the line (signed).
 * Before the first pair, the line is the function's. */
static uint32_t line_by_pairs(const uint8_t *t, size_t len, bool whole,
			      int64_t line, uint32_t at)
{
	uint32_t addr = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		addr += t[i];
		if (addr > at)
			return line_or_none(line);
		line += (int8_t)t[i + 1];
	}
	/* the end of the code is not in the table: the last line goes on */
	if (whole)
		return line_or_none(line);
	return 0;
}

#define RANGE_NO_LINE	-128

/* Pairs: the length of a range, and a number to add to the line for it. */
static uint32_t line_by_ranges(const uint8_t *t, size_t len, int64_t line,
			       uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		int8_t delta = (int8_t)t[i + 1];

		end += t[i];
		if (delta != RANGE_NO_LINE)
			line += delta;
		if (at < end && delta == RANGE_NO_LINE)
			return 0;
		if (at < end)
			return line_or_none(line);
	}
	return 0;
}

/* Six bits in each byte, the lowest first; bit 6: more follow. */
static int64_t line_varint(const uint8_t *t, size_t len, size_t i)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; i < len && shift < 36; i++, shift += 6) {
		v |= (uint64_t)(t[i] & 63) << shift;
		if (!(t[i] & 64))
			break;
	}
	if (v & 1)
		return -(int64_t)(v >> 1);
	return (int64_t)(v >> 1);
}

enum location {			/* smaller: short forms, the same line */
	ONE_LINE = 10,		/* 10 to 12: the line moves by 0 to 2 */
	NO_COLUMNS = 13,
	LONG = 14,
	NONE = 15,
};

/* Entries: the first byte has bit 7, a form, and its length in units of two. */
static uint32_t line_by_locations(const uint8_t *t, size_t len, int64_t line,
				  uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i < len;) {
		uint32_t form = t[i] >> 3 & 15;

		end += 2 * ((t[i] & 7) + 1);
		if (form == NO_COLUMNS || form == LONG)
			line += line_varint(t, len, i + 1);
		else if (form >= ONE_LINE && form < NO_COLUMNS)
			line += form - ONE_LINE;
		if (at < end && form == NONE)
			return 0;
		if (at < end)
			return line_or_none(line);
		for (i++; i < len && !(t[i] & 128);)
			i++;
	}
	return 0;
}

/* HotSpot's compressedStream.cpp: 255, then numbers to add to the bci and to the line;
 * any other byte has both, in five and three bits; 0 ends the table. */
struct java_lines {
	const uint8_t *t;
	size_t len, i;
	uint32_t x;		/* added to each byte of a number */
	bool cut;		/* the bytes ended before the table */
	int64_t bci, line;
};

/* UNSIGNED5: after a byte from 192 on more follow; the lowest bit is the sign. */
static int64_t line_java_number(struct java_lines *j)
{
	uint32_t v = 0, b = 192;

	for (unsigned int shift = 0; b >= 192 && shift < 30; shift += 6) {
		if (j->i == j->len) {
			j->cut = true;
			return 0;
		}
		b = j->t[j->i++];
		v += (b - j->x) << shift;
	}
	return (int32_t)(v >> 1 ^ -(v & 1));
}

static bool line_java_next(struct java_lines *j)
{
	uint8_t b;

	j->cut = j->i == j->len;
	if (j->cut)
		return false;
	b = j->t[j->i++];
	if (!b)
		return false;
	if (b == 255) {
		j->bci += line_java_number(j);
		j->line += line_java_number(j);
	} else {
		j->bci += b >> 3;
		j->line += b & 7;
	}
	return !j->cut;
}

static struct java_lines line_java(uint32_t form, const uint8_t *table, size_t len)
{
	return (struct java_lines){ .t = table, .len = len,
				    .x = form == LINES_JAVA_20 };
}

/* The line of the highest bci that is not above `at`; they need not be in order. */
static uint32_t line_by_bci(uint32_t form, const uint8_t *table, size_t len,
			    uint32_t at)
{
	struct java_lines j = line_java(form, table, len);
	int64_t line = 0, best = 0, last = -1;

	while (line_java_next(&j)) {
		last = j.bci;
		if (j.bci <= at && j.bci >= best) {
			best = j.bci;
			line = j.line;
		}
	}
	/* a missing entry may have been nearer */
	if (j.cut && at >= last)
		return 0;
	return line_or_none(line);
}

size_t line_table_length(uint32_t form, const uint8_t *table, size_t len)
{
	struct java_lines j = line_java(form, table, len);

	if (form != LINES_JAVA && form != LINES_JAVA_20)
		return len;
	while (line_java_next(&j))
		;
	return j.i;
}

uint32_t line_table_line(uint32_t form, const uint8_t *table, size_t len,
			 bool whole, uint32_t first, uint32_t at)
{
	switch (form) {
	case LINES_PAIRS:
		return line_by_pairs(table, len, whole, first, at);
	case LINES_RANGES:
		return line_by_ranges(table, len, first, at);
	case LINES_LOCATIONS:
		return line_by_locations(table, len, first, at);
	case LINES_JAVA:
	case LINES_JAVA_20:
		return line_by_bci(form, table, len, at);
	default:
		return 0;
	}
}
