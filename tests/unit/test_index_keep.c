// SPDX-License-Identifier: Apache-2.0
/* Of a symbol index, what samples met: random indices, random samples. */
#include "symbolizerd/symbols/index_keep.h"
#include "symbolizerd/symbols/lines_build.h"
#include "tests/unit/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS	300
#define END	(SYMBOLS * 64)

struct made {
	void *data;
	size_t len;
	struct symbol_index idx;
};

static uint32_t text(struct lines_builder *b, const char *what, uint32_t n)
{
	char s[32];

	snprintf(s, sizeof(s), "%s%u", what, n);
	return lines_string(b, s, strlen(s));
}

/* A plain name, one that is followed by its name in the file, or none. */
static uint32_t random_name(struct lines_builder *b, uint32_t i)
{
	char s[64];
	int n;

	if (rand() % 4 == 0)
		return SYMBOL_RANGE | (uint32_t)(rand() % 100);
	if (rand() % 3)
		return text(b, "f", i);
	n = snprintf(s, sizeof(s), "a::f%u()%c_Z1f%u", i, 0, i);
	return lines_string(b, s, (size_t)n) | SYMBOL_MANGLED;
}

static uint32_t random_lines(struct lines_builder *b)
{
	uint32_t scopes = 1 + (uint32_t)rand() % 5;

	if (rand() % 3 == 0)
		return SYMBOL_NO_LINES;
	lines_begin(b);
	for (uint32_t i = 0; i < scopes; i++)
		lines_scope(b, lines_function(b, text(b, "g", rand() % 40), text(b, "file", rand() % 9),
					      rand() % 1000),
			    i ? (uint32_t)rand() % i : LINES_NONE, rand() % 1000);
	for (int i = 0; i < 6; i++)
		lines_row(b, 1 + (uint32_t)rand() % 12, (uint32_t)rand() % scopes, rand() % 1000);
	return lines_end(b);
}

/* Up to SYMBOLS of them, some with room between. */
static void make(struct made *m, uint32_t n)
{
	struct lines_builder *b = lines_builder_new();
	struct symbol s[SYMBOLS];
	uint32_t at[SYMBOLS];
	struct symbols_hdr h;
	char *p;

	for (uint32_t i = 0; i < n; i++) {
		s[i].start = 64 * (uint64_t)i + (uint64_t)(rand() % 2) * 16;
		s[i].size = (uint32_t)(64 * (i + 1) - s[i].start) - (rand() % 2 ? 16 : 0);
		s[i].name = random_name(b, i);
		at[i] = random_lines(b);
	}
	h = (struct symbols_hdr){
		SYMBOLS_MAGIC, n, b->functions.n, b->lines.n, b->names.n, 0,
	};
	m->len = sizeof(h) + n * sizeof(*s) + b->functions.n * sizeof(*b->functions.v) +
		 (b->lines.n ? n * sizeof(*at) : 0) + b->lines.n + b->names.n;
	p = m->data = malloc(m->len);
	p = mempcpy(p, &h, sizeof(h));
	p = mempcpy(p, s, n * sizeof(*s));
	if (b->functions.n)
		p = mempcpy(p, b->functions.v, b->functions.n * sizeof(*b->functions.v));
	if (b->lines.n) {
		p = mempcpy(p, at, n * sizeof(*at));
		p = mempcpy(p, b->lines.v, b->lines.n);
	}
	memcpy(p, b->names.v, b->names.n);
	lines_builder_free(b);
	CHECK_EQ(symbols_open(m->data, m->len, &m->idx), 0);
}

static void keep(struct made *m, const struct symbol_index *few,
		 const struct symbol_index *whole, const uint64_t *marks)
{
	CHECK_EQ(symbols_keep(few, whole, marks, &m->data, &m->len), 0);
	CHECK_EQ(symbols_open(m->data, m->len, &m->idx), 0);
}

static void mark(uint64_t *marks, const struct symbol_index *idx, uint64_t off)
{
	uint32_t slot = symbols_slot(idx, off);

	CHECK(slot < symbols_slots(idx));
	marks[slot / 64] |= 1ULL << slot % 64;
}

static bool marked(const uint64_t *marks, const struct symbol_index *idx, uint64_t off)
{
	uint32_t slot = symbols_slot(idx, off);

	return marks[slot / 64] >> slot % 64 & 1;
}

/* Both say the same of this offset. */
static void same(const struct symbol_index *a, const struct symbol_index *b, uint64_t off)
{
	struct symbol_place x[SYMBOL_DEPTH_MAX], y[SYMBOL_DEPTH_MAX];
	uint32_t n = symbols_places(a, off, x);

	CHECK_EQ(symbols_places(b, off, y), n);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_STR(y[i].name, x[i].name);
		CHECK_STR(y[i].file, x[i].file);
		CHECK_EQ(y[i].first_line, x[i].first_line);
		CHECK_EQ(y[i].line, x[i].line);
		CHECK_EQ(y[i].begin, x[i].begin);
		CHECK_EQ(!y[i].system, !x[i].system);
		if (x[i].system)
			CHECK_STR(y[i].system, x[i].system);
	}
}

TEST(what_samples_met_stays_and_nothing_else)
{
	static const struct symbol_index none;

	srand(7);
	for (int round = 0; round < 60; round++) {
		uint64_t marks[2 * SYMBOLS / 64 + 1] = { 0 };
		struct made whole, few;

		make(&whole, 1 + (uint32_t)rand() % SYMBOLS);
		for (int i = rand() % 40; i > 0; i--)
			mark(marks, &whole.idx, (uint64_t)(rand() % (END + 100)));
		keep(&few, &none, &whole.idx, marks);
		CHECK(few.len <= whole.len + 24 * symbols_slots(&whole.idx));
		for (uint64_t off = 0; off < END + 100; off++) {
			bool known = symbols_at(&few.idx, off) != NULL;

			CHECK_EQ(known, marked(marks, &whole.idx, off));
			if (known)
				same(&whole.idx, &few.idx, off);
		}
		free(whole.data);
		free(few.data);
	}
}

/* Read again, and met elsewhere: both stay, as if it had never been let go. */
TEST(what_is_kept_twice_is_as_kept_at_once)
{
	static const struct symbol_index none;

	srand(8);
	for (int round = 0; round < 60; round++) {
		uint64_t first[2 * SYMBOLS / 64 + 1] = { 0 }, second[2 * SYMBOLS / 64 + 1] = { 0 };
		struct made whole, few, more, at_once;

		make(&whole, 1 + (uint32_t)rand() % SYMBOLS);
		for (int i = 0; i < 20; i++) {
			mark(first, &whole.idx, (uint64_t)(rand() % END));
			mark(second, &whole.idx, (uint64_t)(rand() % END));
		}
		keep(&few, &none, &whole.idx, first);
		keep(&more, &few.idx, &whole.idx, second);
		for (size_t i = 0; i < sizeof(first) / 8; i++)
			first[i] |= second[i];
		keep(&at_once, &none, &whole.idx, first);
		CHECK_EQ(more.idx.n, at_once.idx.n);
		CHECK_EQ(more.len, at_once.len);
		for (uint64_t off = 0; off < END; off++) {
			CHECK_EQ(!symbols_at(&more.idx, off), !symbols_at(&at_once.idx, off));
			same(&at_once.idx, &more.idx, off);
		}
		free(whole.data);
		free(few.data);
		free(more.data);
		free(at_once.data);
	}
}

/* It is not the same the second time: what was known stays as it was, and nothing
 * overlaps. */
TEST(what_was_known_wins)
{
	static const struct symbol_index none;

	srand(9);
	for (int round = 0; round < 60; round++) {
		uint64_t marks[2 * SYMBOLS / 64 + 1] = { 0 };
		struct made first, second, few, both;

		make(&first, 1 + (uint32_t)rand() % SYMBOLS);
		make(&second, 1 + (uint32_t)rand() % SYMBOLS);
		for (int i = 0; i < 20; i++)
			mark(marks, &first.idx, (uint64_t)(rand() % END));
		keep(&few, &none, &first.idx, marks);
		memset(marks, 0xff, sizeof(marks));
		marks[symbols_slots(&second.idx) / 64] =
			(1ULL << symbols_slots(&second.idx) % 64) - 1;
		memset(&marks[symbols_slots(&second.idx) / 64 + 1], 0,
		       sizeof(marks) - 8 * (symbols_slots(&second.idx) / 64 + 1));
		keep(&both, &few.idx, &second.idx, marks);
		for (uint64_t off = 0; off < END; off++) {
			if (symbols_at(&few.idx, off))
				same(&few.idx, &both.idx, off);
			else if (symbols_at(&both.idx, off))
				same(&second.idx, &both.idx, off);
		}
		free(first.data);
		free(second.data);
		free(few.data);
		free(both.data);
	}
}

/* A function of three in a large library: some bytes. */
TEST(few_names_take_few_bytes)
{
	static const struct symbol_index none;
	uint64_t marks[2 * SYMBOLS / 64 + 1] = { 0 };
	struct made whole, few;

	srand(10);
	make(&whole, SYMBOLS);
	for (uint64_t i = 0; i < 3; i++)
		mark(marks, &whole.idx, 64 * 90 * i + 30);
	keep(&few, &none, &whole.idx, marks);
	CHECK_EQ(few.idx.n, 3);
	CHECK(few.len < whole.len / 20);
	free(whole.data);
	free(few.data);
}
