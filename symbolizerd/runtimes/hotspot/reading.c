// SPDX-License-Identifier: Apache-2.0
/* reading - names of methods, and lines by HotSpot's tables (ConstMethod) */
#include "symbolizerd/runtimes/reading.h"

#include "bpf/hotspot.h"
#include "symbolizerd/runtimes/hotspot/reading_name.h"

static uint32_t reading_line_or_none(int64_t line)
{
	if (line <= 0 || line > INT32_MAX)
		return 0;
	return (uint32_t)line;
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
static int64_t reading_java_number(struct java_lines *j)
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

static bool reading_java_next(struct java_lines *j)
{
	uint8_t b;

	j->cut = j->i == j->len;
	if (j->cut)
		return false;
	b = j->t[j->i++];
	if (!b)
		return false;
	if (b == 255) {
		j->bci += reading_java_number(j);
		j->line += reading_java_number(j);
	} else {
		j->bci += b >> 3;
		j->line += b & 7;
	}
	return !j->cut;
}

static struct java_lines reading_java(uint32_t form, const uint8_t *table, size_t len)
{
	return (struct java_lines){ .t = table, .len = len,
				    .x = form == LINES_JAVA_20 };
}

/* The line of the highest bci that is not above `at`; they need not be in order. */
static uint32_t reading_by_bci(uint32_t form, const uint8_t *table, size_t len,
			    uint32_t at)
{
	struct java_lines j = reading_java(form, table, len);
	int64_t line = 0, best = 0, last = -1;

	while (reading_java_next(&j)) {
		last = j.bci;
		if (j.bci <= at && j.bci >= best) {
			best = j.bci;
			line = j.line;
		}
	}
	/* a missing entry may have been nearer */
	if (j.cut && at >= last)
		return 0;
	return reading_line_or_none(line);
}

static bool reading_is_java(uint32_t form)
{
	return form == LINES_JAVA || form == LINES_JAVA_20;
}

static uint32_t reading_hotspot_line(uint32_t form, const uint8_t *table, size_t len,
				     bool whole, uint32_t first, uint32_t at)
{
	(void)whole;		/* the table says where it ends */
	(void)first;		/* and has the first line */
	return reading_is_java(form) ? reading_by_bci(form, table, len, at) : 0;
}

static size_t reading_hotspot_end(uint32_t form, const uint8_t *table, size_t len,
				  uint32_t *first)
{
	struct java_lines j = reading_java(form, table, len);

	if (!reading_is_java(form))
		return len;
	while (reading_java_next(&j))
		;
	*first = reading_by_bci(form, table, j.i, 0);
	return j.i;
}

const struct runtime_reading runtime_reading_hotspot = {
	.name = java_name, .line = reading_hotspot_line, .end = reading_hotspot_end,
};
