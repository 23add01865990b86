// SPDX-License-Identifier: Apache-2.0
/* Files, lines and inlined calls in a symbol index: built, judged, searched. */
#include "symbolizerd/symbols/lines_build.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define START	0x1000

struct made {
	void *data;
	size_t len;
	struct symbol_index idx;
};

/* An index of two symbols: at START with these lines, after it without. */
static void lay_out(struct made *m, struct lines_builder *b, uint32_t lines,
		    uint32_t size)
{
	struct symbol s[2] = {
		{ START, size, lines_string(b, "outer", 5) },
		{ START + size, 16, lines_string(b, "other", 5) },
	};
	const uint32_t at[2] = { lines, SYMBOL_NO_LINES };
	struct symbols_hdr h = {
		SYMBOLS_MAGIC, 2, b->functions.n, b->lines.n, b->names.n, 0,
	};
	size_t functions = b->functions.n * sizeof(*b->functions.v);
	char *p;

	CHECK(!b->failed && !b->full);
	m->len = sizeof(h) + sizeof(s) + functions + sizeof(at) + b->lines.n +
		 b->names.n;
	p = m->data = malloc(m->len);
	CHECK(p != NULL);
	p = mempcpy(p, &h, sizeof(h));
	p = mempcpy(p, s, sizeof(s));
	p = mempcpy(p, b->functions.v, functions);
	p = mempcpy(p, at, sizeof(at));
	p = mempcpy(p, b->lines.v, b->lines.n);
	memcpy(p, b->names.v, b->names.n);
}

static uint32_t function(struct lines_builder *b, const char *name,
			 const char *file, uint32_t line)
{
	return lines_function(b, lines_string(b, name, strlen(name)),
			      lines_string(b, file, strlen(file)), line);
}

/* outer (a.go:10), at 12 of it middle (b.go:20), at 25 of that inner (a.go:5) */
static void make(struct made *m)
{
	struct lines_builder *b = lines_builder_new();
	uint32_t o, mid, in, at;

	CHECK(b != NULL);
	lines_begin(b);
	o = lines_scope(b, function(b, "outer", "a.go", 10), LINES_NONE, 0);
	mid = lines_scope(b, function(b, "middle", "b.go", 20), o, 12);
	in = lines_scope(b, function(b, "inner", "a.go", 5), mid, 25);
	lines_row(b, 3, o, 11);
	lines_row(b, 1, o, 11);		/* the same: one row */
	lines_row(b, 6, mid, 22);
	lines_row(b, 2, in, 4);
	lines_row(b, 200, o, 13);
	lines_row(b, 4, o, 9);
	at = lines_end(b);
	CHECK_EQ(at, 0);
	lay_out(m, b, at, 216);
	lines_builder_free(b);
	CHECK_EQ(symbols_open(m->data, m->len, &m->idx), 0);
}

static void place(const struct symbol_place *p, const char *name,
		  const char *file, uint32_t first_line, uint32_t line)
{
	CHECK(!strcmp(p->name, name));
	CHECK(!strcmp(p->file, file));
	CHECK_EQ(p->first_line, first_line);
	CHECK_EQ(p->line, line);
}

TEST(lines_are_found_with_what_is_inlined)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct made m;

	make(&m);
	CHECK_EQ(symbols_places(&m.idx, START - 1, at), 0);
	CHECK_EQ(symbols_places(&m.idx, START, at), 1);
	place(&at[0], "outer", "a.go", 10, 11);
	CHECK_EQ(symbols_places(&m.idx, START + 3, at), 1);
	place(&at[0], "outer", "a.go", 10, 11);
	CHECK_EQ(symbols_places(&m.idx, START + 4, at), 2);
	place(&at[0], "middle", "b.go", 20, 22);
	place(&at[1], "outer", "a.go", 10, 12);
	CHECK_EQ(symbols_places(&m.idx, START + 11, at), 3);
	place(&at[0], "inner", "a.go", 5, 4);
	place(&at[1], "middle", "b.go", 20, 25);
	place(&at[2], "outer", "a.go", 10, 12);
	CHECK_EQ(symbols_places(&m.idx, START + 211, at), 1);
	place(&at[0], "outer", "a.go", 10, 13);
	CHECK_EQ(symbols_places(&m.idx, START + 215, at), 1);
	place(&at[0], "outer", "a.go", 10, 9);
	CHECK_EQ(symbols_places(&m.idx, START + 216, at), 1);
	place(&at[0], "other", "", 0, 0);
	CHECK_EQ(symbols_places(&m.idx, START + 216 + 16, at), 0);
	free(m.data);
}

static void open_copy(const void *bytes, size_t len)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct symbol_index x = { 0 };
	void *p = malloc(len ? len : 1);

	memcpy(p, bytes, len);
	if (!symbols_open(p, len, &x)) {
		for (uint32_t off = 0; off < 256; off += 3) {
			uint32_t n = symbols_places(&x, START + off, at);

			while (n-- > 0)
				CHECK(strlen(at[n].name) + strlen(at[n].file) <
				      2 * len);
		}
	}
	free(p);
}

TEST(lines_truncated_or_flipped)
{
	struct symbol_index none;
	struct made m;
	uint8_t *b;

	make(&m);
	for (size_t len = 0; len < m.len; len++) {
		open_copy(m.data, len);
		CHECK_EQ(-symbols_open(m.data, len, &none), EPROTO);
	}
	b = m.data;
	for (size_t bit = 0; bit < 8 * m.len; bit++) {
		b[bit / 8] ^= 1 << bit % 8;
		open_copy(m.data, m.len);
		b[bit / 8] ^= 1 << bit % 8;
	}
	free(m.data);
}

/* Is an index with these lines (function 0 is there) taken? */
static bool taken(const uint8_t *lines, size_t len)
{
	struct lines_builder *b = lines_builder_new();
	struct symbol_index x;
	struct made m;
	bool r;

	CHECK(b != NULL);
	CHECK_EQ(function(b, "f", "a.go", 1), 0);
	b->lines.v = malloc(len);
	memcpy(b->lines.v, lines, len);
	b->lines.n = len;
	lay_out(&m, b, 0, 16);
	r = !symbols_open(m.data, m.len, &x);
	lines_builder_free(b);
	free(m.data);
	return r;
}
#define TAKEN(...)							\
	taken((const uint8_t[]){ __VA_ARGS__ },				\
	      sizeof((const uint8_t[]){ __VA_ARGS__ }))

TEST(lines_that_make_no_sense)
{
	/* one scope of function 0; one row of 8 bytes, scope 0; end */
	CHECK(TAKEN(1, 0, 0, 8, 1, 0, 0));
	CHECK(TAKEN(1, 0, 0, 0));		/* no rows */
	CHECK(TAKEN(2, 0, 0, 0, 1, 7, 8, 1, 1, 0));
	CHECK(!TAKEN(0, 0));			/* no scope */
	CHECK(!TAKEN(1, 1, 0, 8, 1, 0, 0));	/* no such function */
	CHECK(!TAKEN(1, 0, 1, 7, 8, 1, 0, 0));	/* inlined into nothing */
	CHECK(!TAKEN(1, 0, 0, 8, 1, 1, 0));	/* no such scope */
	CHECK(!TAKEN(1, 0, 0, 8, 2, 0));	/* the first row has no scope */
	CHECK(!TAKEN(1, 0, 0, 8, 1, 0));	/* no end */
	CHECK(!TAKEN(1, 0, 0, 8, 1, 0, 0, 0));	/* more after it */
	CHECK(!TAKEN(1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0));	/* 33 bits */
	CHECK(!TAKEN(0x81, 0x20, 0, 0));	/* too many scopes */
}

/* Scopes in a chain, or beside each other. */
static uint32_t many(uint32_t n, bool chain)
{
	struct lines_builder *b = lines_builder_new();
	uint32_t s = LINES_NONE, f, at;
	struct symbol_place p[SYMBOL_DEPTH_MAX];
	struct made m;

	CHECK(b != NULL);
	lines_begin(b);
	f = function(b, "f", "", 0);
	for (uint32_t i = 0; i < n; i++)
		s = lines_scope(b, f, chain ? s : LINES_NONE, 3);
	lines_row(b, 16, s, 5);
	at = lines_end(b);
	if (at != SYMBOL_NO_LINES) {
		lay_out(&m, b, at, 16);
		CHECK_EQ(symbols_open(m.data, m.len, &m.idx), 0);
		CHECK_EQ(symbols_places(&m.idx, START, p), chain ? n : 1);
		free(m.data);
	}
	lines_builder_free(b);
	return at;
}

TEST(lines_have_caps)
{
	CHECK_EQ(many(SYMBOL_DEPTH_MAX, true), 0);
	CHECK_EQ(many(SYMBOL_DEPTH_MAX + 1, true), SYMBOL_NO_LINES);
	CHECK_EQ(many(SYMBOL_SCOPES_MAX, false), 0);
	CHECK_EQ(many(SYMBOL_SCOPES_MAX + 1, false), SYMBOL_NO_LINES);
}

/* One symbol has too many lines: the next one is not hurt; all together: none. */
TEST(lines_too_many)
{
	struct lines_builder *b = lines_builder_new();
	uint32_t f, s;

	CHECK(b != NULL);
	f = function(b, "f", "a.go", 1);
	for (uint32_t k = 0; k < LINES_BYTES_MAX / SYMBOL_LINES_MAX * 2 + 8;
	     k++) {
		uint32_t rows = k ? SYMBOL_LINES_MAX / 5 : SYMBOL_LINES_MAX, at;

		lines_begin(b);
		s = lines_scope(b, f, LINES_NONE, 0);
		for (uint32_t i = 0; i < rows && s != LINES_NONE; i++)
			lines_row(b, 1, s, 1 + i % 2 * 9999);
		at = lines_end(b);
		CHECK_EQ(at == SYMBOL_NO_LINES, !k || b->full);
	}
	CHECK(b->full && !b->failed);
	lines_builder_free(b);
}

TEST(lines_keep_equal_strings_once)
{
	struct lines_builder *b = lines_builder_new();
	char name[32];

	CHECK(b != NULL);
	CHECK_EQ(lines_string(b, "", 0), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "name%04u", i);
			CHECK_EQ(lines_string(b, name, 8), 1 + 9 * i);
			CHECK_EQ(lines_function(b, 1 + 9 * i, 0, i), i);
		}
	}
	CHECK_EQ(lines_string(b, "name0000x", 8), 1);
	CHECK_EQ(b->names.n, 1 + 9 * 3000);
	lines_builder_free(b);
}
