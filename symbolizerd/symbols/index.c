// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/index.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/bisect.h"

/* --- lines ------------------------------------------------------------------- */

struct index_cursor {
	const uint8_t *pos, *end;
};

static bool index_number(struct index_cursor *c, uint32_t *ret)
{
	uint32_t v = 0;

	for (int shift = 0; shift < 35 && c->pos < c->end; shift += 7) {
		uint8_t b = *c->pos++;

		if (shift == 28 && b > 0xf)
			return false;
		v |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool index_scope(struct index_cursor *c, struct symbol_scope *s)
{
	s->line = 0;
	if (!index_number(c, &s->function) || !index_number(c, &s->up))
		return false;
	return !s->up || index_number(c, &s->line);
}

static bool index_scopes_sound(const struct symbol_index *x, struct index_cursor *c,
			       uint32_t n)
{
	uint8_t depth[SYMBOL_SCOPES_MAX];

	for (uint32_t i = 0; i < n; i++) {
		struct symbol_scope s;

		if (!index_scope(c, &s) || s.function >= x->n_functions ||
		    s.up > i)
			return false;
		depth[i] = 1;
		if (s.up)
			depth[i] += depth[i - s.up];
		if (depth[i] > SYMBOL_DEPTH_MAX)
			return false;
	}
	return true;
}

/* The lines of one symbol.  They must begin at *next, where those of the symbol before
 * it ended, so that no byte is read twice. */
static bool index_lines_sound(const struct symbol_index *x, uint32_t at,
			      uint32_t *next)
{
	struct index_cursor c = { x->lines + at, x->lines + x->line_bytes };
	uint32_t n, len, v, scope, have = UINT32_MAX;

	if (at != *next || !index_number(&c, &n) || !n ||
	    n > SYMBOL_SCOPES_MAX || !index_scopes_sound(x, &c, n))
		return false;
	for (;;) {
		if (!index_number(&c, &len))
			return false;
		if (!len)
			break;
		if (!index_number(&c, &v))
			return false;
		if (v & 1) {
			if (!index_number(&c, &scope) || scope >= n)
				return false;
			have = scope;
		}
		if (have == UINT32_MAX)
			return false;
	}
	*next = c.pos - x->lines;
	return *next - at <= SYMBOL_LINES_MAX;
}

/* --- opening ------------------------------------------------------------------ */

static bool index_name_sound(uint32_t name, uint32_t name_bytes)
{
	if (name & SYMBOL_RANGE)
		return !(name & SYMBOL_MANGLED) || name == SYMBOL_NOTHING;
	return (name & ~SYMBOL_MANGLED) < name_bytes;
}

static bool symbols_sound(const struct symbol_index *x, uint32_t name_bytes)
{
	const struct symbol *s = x->symbols;

	for (uint32_t i = 0; i < x->n; i++) {
		if (!index_name_sound(s[i].name, name_bytes) ||
		    s[i].start > UINT64_MAX - s[i].size ||
		    (i + 1 < x->n && s[i].start + s[i].size > s[i + 1].start) ||
		    (i + 1 < x->n && s[i].start >= s[i + 1].start))
			return false;
	}
	return true;
}

static bool index_all_lines_sound(const struct symbol_index *x, uint32_t name_bytes)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < x->n_functions; i++) {
		if (x->functions[i].name >= name_bytes ||
		    x->functions[i].file >= name_bytes)
			return false;
	}
	for (uint32_t i = 0; x->line_at && i < x->n; i++) {
		if (x->line_at[i] != SYMBOL_NO_LINES &&
		    !index_lines_sound(x, x->line_at[i], &next))
			return false;
	}
	return next == x->line_bytes;
}

int symbols_open(const void *data, size_t len, struct symbol_index *ret)
{
	const struct symbols_hdr *h = data;
	struct symbol_index x;
	uint64_t need;

	if (len < sizeof(*h) || h->magic != SYMBOLS_MAGIC || h->pad)
		return -EPROTO;
	need = sizeof(*h) + h->n * (uint64_t)sizeof(struct symbol) +
	       h->n_functions * (uint64_t)sizeof(struct symbol_function) +
	       h->line_bytes + h->name_bytes;
	if (h->line_bytes)
		need += h->n * 4ULL;
	if (len != need || (h->line_bytes && !h->n))
		return -EPROTO;
	x = (struct symbol_index){
		.symbols = (const void *)(h + 1), .n = h->n,
		.n_functions = h->n_functions, .line_bytes = h->line_bytes,
		.name_bytes = h->name_bytes,
	};
	x.functions = (const void *)(x.symbols + x.n);
	x.lines = (const void *)(x.functions + x.n_functions);
	if (h->line_bytes) {
		x.line_at = (const void *)x.lines;
		x.lines += 4 * (size_t)x.n;
	}
	x.names = (const char *)x.lines + h->line_bytes;
	if ((h->name_bytes && x.names[h->name_bytes - 1]) ||
	    !symbols_sound(&x, h->name_bytes) ||
	    !index_all_lines_sound(&x, h->name_bytes))
		return -EPROTO;
	*ret = x;
	return 0;
}

/* --- searching ---------------------------------------------------------------- */

uint32_t symbols_before(const struct symbol_index *idx, uint64_t off)
{
	return bisect(mid, idx->n, idx->symbols[mid].start <= off);
}

const struct symbol *symbols_at(const struct symbol_index *idx, uint64_t off)
{
	uint32_t n = symbols_before(idx, off);
	const struct symbol *s;

	if (!n)
		return NULL;
	s = &idx->symbols[n - 1];
	return off - s->start < s->size ? s : NULL;
}

static const char *index_name(const struct symbol_index *idx,
			      const struct symbol *s)
{
	return idx->names + (s->name & ~SYMBOL_MANGLED);
}

/* The string after the name; a worker may have lied about it. */
static const char *index_system_name(const struct symbol_index *idx,
				     const struct symbol *s)
{
	const char *name = index_name(idx, s);
	const char *next = name + strlen(name) + 1;

	if (!(s->name & SYMBOL_MANGLED) || (size_t)(next - idx->names) >= idx->name_bytes)
		return NULL;
	return next;
}

const char *symbols_find(const struct symbol_index *idx, uint64_t off)
{
	const struct symbol *s = symbols_at(idx, off);

	if (!s || s->name & SYMBOL_RANGE)
		return NULL;
	return index_name(idx, s);
}

bool symbol_rows_begin(struct symbol_rows *r, const struct symbol_index *idx, uint32_t i)
{
	struct index_cursor c = { idx->lines, idx->lines + idx->line_bytes };

	if (!idx->line_at || idx->line_at[i] == SYMBOL_NO_LINES)
		return false;
	c.pos += idx->line_at[i];
	if (!index_number(&c, &r->n))
		return false;
	for (uint32_t k = 0; k < r->n; k++)
		index_scope(&c, &r->at[k]);
	r->idx = idx;
	r->pos = c.pos;
	r->end = c.end;
	r->len = r->here = r->line = 0;
	return true;
}

bool symbol_rows_next(struct symbol_rows *r)
{
	struct index_cursor c = { r->pos, r->end };
	uint32_t v;

	if (!index_number(&c, &r->len) || !r->len || !index_number(&c, &v))
		return false;
	if (v & 1) {
		index_number(&c, &r->here);
		r->line = r->idx->functions[r->at[r->here].function].first_line;
	}
	v >>= 1;
	r->line += -(v & 1) ^ (v >> 1);
	r->pos = c.pos;
	return true;
}

/* The row at this offset from the symbol's start. */
static bool index_find_row(struct symbol_rows *r, const struct symbol_index *idx, uint32_t i,
			   uint64_t off)
{
	uint64_t end = 0;

	if (!symbol_rows_begin(r, idx, i))
		return false;
	while (symbol_rows_next(r)) {
		end += r->len;
		if (off < end)
			return true;
	}
	return false;
}

uint32_t symbols_places(const struct symbol_index *idx, uint64_t off,
			struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	const struct symbol *s = symbols_at(idx, off);
	struct symbol_rows rows;
	uint32_t n = 0;

	if (!s || s->name == SYMBOL_NOTHING)
		return 0;
	if (s->name & SYMBOL_RANGE) {
		uint64_t pages = s->name & ~SYMBOL_RANGE;

		ret[0] = (struct symbol_place){
			.name = "", .file = "",
			.begin = s->start + (pages << SYMBOL_PAGE),
		};
		return 1;
	}
	ret[0] = (struct symbol_place){
		.name = index_name(idx, s), .file = "",
		.system = index_system_name(idx, s),
	};
	if (!index_find_row(&rows, idx, (uint32_t)(s - idx->symbols), off - s->start))
		return 1;
	for (;;) {
		const struct symbol_scope *in = &rows.at[rows.here];
		const struct symbol_function *f = &idx->functions[in->function];

		ret[n++] = (struct symbol_place){
			idx->names + f->name, idx->names + f->file,
			f->first_line, rows.line, NULL, 0,
		};
		if (!in->up)
			break;
		rows.line = in->line;
		rows.here -= in->up;
	}
	ret[n - 1].name = index_name(idx, s);
	ret[n - 1].system = index_system_name(idx, s);
	return n;
}
