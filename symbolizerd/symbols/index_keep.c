// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/index_keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "symbolizerd/symbols/lines_build.h"

struct index_keep {
	struct lines_builder *b;
	VECTOR(struct symbol) symbols;
	VECTOR(uint32_t) line_at;	/* of each symbol */
	struct symbol_rows rows;
	bool failed;		/* no memory */
};

uint32_t symbols_slot(const struct symbol_index *idx, uint64_t off)
{
	uint32_t n = symbols_before(idx, off);

	if (n && off - idx->symbols[n - 1].start < idx->symbols[n - 1].size)
		return 2 * n - 1;
	return 2 * n;
}

/* A name, followed by its name in the file, if it has one. */
static uint32_t index_keep_name(struct lines_builder *b, const struct symbol_index *idx,
				uint32_t name)
{
	const char *s = idx->names + (name & ~SYMBOL_MANGLED);
	const char *end = idx->names + idx->name_bytes;
	size_t len = strlen(s);

	if (!(name & SYMBOL_MANGLED) || s + len + 1 >= end)
		return lines_string(b, s, len);
	return lines_string(b, s, len + 1 + strlen(s + len + 1)) | SYMBOL_MANGLED;
}

static uint32_t index_keep_string(struct lines_builder *b, const char *s)
{
	return lines_string(b, s, strlen(s));
}

/* The lines of symbol i. */
static uint32_t index_keep_lines(struct index_keep *k, const struct symbol_index *idx,
				 uint32_t i)
{
	struct symbol_rows *rows = &k->rows;
	struct lines_builder *b = k->b;

	if (!symbol_rows_begin(rows, idx, i))
		return SYMBOL_NO_LINES;
	lines_begin(b);
	for (uint32_t s = 0; s < rows->n; s++) {
		const struct symbol_scope *in = &rows->at[s];
		const struct symbol_function *f = &idx->functions[in->function];
		uint32_t name = index_keep_string(b, idx->names + f->name);
		uint32_t file = index_keep_string(b, idx->names + f->file);

		lines_scope(b, lines_function(b, name, file, f->first_line),
			    in->up ? s - in->up : LINES_NONE, in->line);
	}
	while (symbol_rows_next(rows))
		lines_row(b, rows->len, rows->here, rows->line);
	return lines_end(b);
}

static void index_keep_put(struct index_keep *k, const struct symbol *s, uint32_t lines)
{
	k->failed = k->failed || k->b->failed || !vector_push(&k->symbols, *s) ||
		    !vector_push(&k->line_at, lines);
}

static void index_keep_symbol(struct index_keep *k, const struct symbol_index *idx, uint32_t i)
{
	struct symbol s = idx->symbols[i];

	if (!(s.name & SYMBOL_RANGE))
		s.name = index_keep_name(k->b, idx, s.name);
	index_keep_put(k, &s, index_keep_lines(k, idx, i));
}

/* Where the slot begins, and its size; a gap may be larger than an index can
 * express. */
static struct symbol index_keep_place(const struct symbol_index *idx, uint32_t slot)
{
	struct symbol s = { .name = SYMBOL_NOTHING };
	uint64_t end = UINT64_MAX;
	uint32_t i = slot / 2;

	if (slot & 1)
		return idx->symbols[i];
	if (i)
		s.start = idx->symbols[i - 1].start + idx->symbols[i - 1].size;
	if (i < idx->n)
		end = idx->symbols[i].start;
	s.size = end - s.start < UINT32_MAX ? (uint32_t)(end - s.start) : UINT32_MAX;
	return s;
}

/* A marked slot; symbols of few that begin before it, from *next on, go first. */
static void index_keep_slot(struct index_keep *k, const struct symbol_index *few,
			    uint32_t *next, const struct symbol_index *whole, uint32_t slot)
{
	struct symbol s = index_keep_place(whole, slot);
	const struct symbol *last;

	for (; *next < few->n && few->symbols[*next].start <= s.start; ++*next)
		index_keep_symbol(k, few, *next);
	last = k->symbols.n ? &k->symbols.v[k->symbols.n - 1] : NULL;
	if (k->failed || !s.size || (last && last->start + last->size > s.start) ||
	    (last && last->start == s.start) ||
	    (*next < few->n && few->symbols[*next].start - s.start < s.size))
		return;
	if (slot & 1)
		index_keep_symbol(k, whole, slot / 2);
	else
		index_keep_put(k, &s, SYMBOL_NO_LINES);
}

static void index_keep_all(struct index_keep *k, const struct symbol_index *few,
			   const struct symbol_index *whole, const uint64_t *marks)
{
	uint32_t next = 0, words = (symbols_slots(whole) + 63) / 64;

	for (uint32_t w = 0; w < words && !k->failed; w++) {
		for (uint64_t left = marks[w]; left; left &= left - 1)
			index_keep_slot(k, few, &next, whole,
					64 * w + (uint32_t)__builtin_ctzll(left));
	}
	for (; next < few->n && !k->failed; next++)
		index_keep_symbol(k, few, next);
}

static void *index_keep_copy(char *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + len;
}

/* In the form of index.h. */
static void *index_keep_encode(struct index_keep *k, size_t *len)
{
	struct lines_builder *b = k->b;
	struct symbols_hdr h = { .magic = SYMBOLS_MAGIC, .n = k->symbols.n };
	size_t line_at = 0;
	char *data, *to;

	if (b->full)
		b->lines.n = b->functions.n = 0;
	h.n_functions = b->functions.n;
	h.line_bytes = b->lines.n;
	h.name_bytes = b->names.n;
	if (h.line_bytes)
		line_at = 4 * (size_t)h.n;
	*len = sizeof(h) + h.n * sizeof(struct symbol) +
	       h.n_functions * sizeof(struct symbol_function) +
	       line_at + h.line_bytes + h.name_bytes;
	data = malloc(*len);
	if (!data)
		return NULL;
	to = index_keep_copy(data, &h, sizeof(h));
	to = index_keep_copy(to, k->symbols.v, h.n * sizeof(struct symbol));
	to = index_keep_copy(to, b->functions.v, h.n_functions * sizeof(*b->functions.v));
	to = index_keep_copy(to, k->line_at.v, line_at);
	to = index_keep_copy(to, b->lines.v, h.line_bytes);
	index_keep_copy(to, b->names.v, h.name_bytes);
	return data;
}

int symbols_keep(const struct symbol_index *few, const struct symbol_index *whole,
		 const uint64_t *marks, void **ret, size_t *len)
{
	struct index_keep *k = calloc(1, sizeof(*k));
	void *data = NULL;

	if (!k)
		return -ENOMEM;
	k->b = lines_builder_new();
	if (k->b) {
		index_keep_all(k, few, whole, marks);
		if (!k->failed && !k->b->failed)
			data = index_keep_encode(k, len);
		lines_builder_free(k->b);
	}
	free(k->symbols.v);
	free(k->line_at.v);
	free(k);
	if (!data)
		return -ENOMEM;
	*ret = data;
	return 0;
}
