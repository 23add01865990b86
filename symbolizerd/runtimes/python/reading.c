// SPDX-License-Identifier: Apache-2.0
/* reading - the line of an address in a function, by CPython's tables (Objects/codeobject.c) */
#include "symbolizerd/runtimes/reading.h"

#include "bpf/python_lines.h"

static uint32_t reading_or_none(int64_t line)
{
	if (line <= 0 || line > INT32_MAX)
		return 0;
	return (uint32_t)line;
}

/* Pairs: a number to add to the address (unsigned), one to add to the line (signed).
 * Before the first pair, the line is the function's. */
static uint32_t reading_by_pairs(const uint8_t *t, size_t len, bool whole,
			      int64_t line, uint32_t at)
{
	uint32_t addr = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		addr += t[i];
		if (addr > at)
			return reading_or_none(line);
		line += (int8_t)t[i + 1];
	}
	/* the end of the code is not in the table: the last line goes on */
	if (whole)
		return reading_or_none(line);
	return 0;
}

#define RANGE_NO_LINE	-128

/* Pairs: the length of a range, and a number to add to the line for it. */
static uint32_t reading_by_ranges(const uint8_t *t, size_t len, int64_t line,
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
			return reading_or_none(line);
	}
	return 0;
}

/* Six bits in each byte, the lowest first; bit 6: more follow. */
static int64_t reading_varint(const uint8_t *t, size_t len, size_t i)
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
static uint32_t reading_by_locations(const uint8_t *t, size_t len, int64_t line,
				  uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i < len;) {
		uint32_t form = t[i] >> 3 & 15;

		end += 2 * ((t[i] & 7) + 1);
		if (form == NO_COLUMNS || form == LONG)
			line += reading_varint(t, len, i + 1);
		else if (form >= ONE_LINE && form < NO_COLUMNS)
			line += form - ONE_LINE;
		if (at < end && form == NONE)
			return 0;
		if (at < end)
			return reading_or_none(line);
		for (i++; i < len && !(t[i] & 128);)
			i++;
	}
	return 0;
}

static uint32_t reading_python_line(uint32_t form, const uint8_t *table, size_t len,
				    bool whole, uint32_t first, uint32_t at)
{
	switch (form) {
	case LINES_PAIRS:
		return reading_by_pairs(table, len, whole, first, at);
	case LINES_RANGES:
		return reading_by_ranges(table, len, first, at);
	case LINES_LOCATIONS:
		return reading_by_locations(table, len, first, at);
	default:
		return 0;
	}
}

const struct runtime_reading runtime_reading_python = {
	.line = reading_python_line,
};
