// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/bisect.h"

#define ROW_OFF(row)	((row) >> 17)
#define ROW_HAS(row)	((row) & 1 << 16)
#define ROW_RULE(row)	((uint32_t)((row) & 0xffff))
#define OFF_MAX		(1ULL << 40)

int table_builder_init(struct table_builder *b)
{
	static const struct unwind_rule fixed[2] = {
		[RULE_NONE] = { .cfa = CFA_NONE },
		[RULE_END] = { .cfa = CFA_END },
	};

	*b = (struct table_builder){ .seed = hash_seed() };
	if (!vector_push(&b->rules, fixed[0]) ||
	    !vector_push(&b->rules, fixed[1])) {
		table_builder_fini(b);
		return -ENOMEM;
	}
	return 0;
}

void table_builder_fini(struct table_builder *b)
{
	free(b->rows.v);
	free(b->rules.v);
	hash_free(&b->by_rule);
	*b = (struct table_builder){ 0 };
}

/* --- rules ------------------------------------------------------------------ */

static int unwind_table_rule(struct table_builder *b,
			     const struct unwind_rule *r)
{
	const struct hash_slot *s;
	uint64_t hash;

	if (r->cfa == CFA_NONE)
		return RULE_NONE;
	if (r->cfa == CFA_END)
		return RULE_END;
	hash = XXH3_64bits_withSeed(r, sizeof(*r), b->seed);
	s = hash_find(&b->by_rule, hash);
	while (s && memcmp(&b->rules.v[hash_index(s)], r, sizeof(*r)))
		s = hash_next(&b->by_rule, s);
	if (s)
		return (int)hash_index(s);
	if (b->rules.n == RULES_MAX)
		return -E2BIG;
	if (!vector_reserve(&b->rules, 1) ||
	    !hash_add(&b->by_rule, hash, b->rules.n))
		return -ENOMEM;
	b->rules.v[b->rules.n] = *r;
	return (int)b->rules.n++;
}

/* --- rows ------------------------------------------------------------------- */

static int unwind_table_push(struct table_builder *b, uint64_t off, bool has,
			     uint32_t rule)
{
	uint64_t row = off << 17 | (uint64_t)has << 16 | rule;

	if (b->rows.n == TABLE_ROWS_MAX)
		return -E2BIG;
	return vector_push(&b->rows, row) ? 0 : -ENOMEM;
}

static int unwind_table_add(struct table_builder *b, uint64_t start,
			    uint64_t end, uint32_t rule)
{
	int r;

	/* the previous range ended here: no gap between them */
	if (b->rows.n > b->settled && b->rows.v[b->rows.n - 1] == start << 17)
		b->rows.n--;
	r = unwind_table_push(b, start, true, rule);
	if (r)
		return r;
	return unwind_table_push(b, end, false, RULE_NONE);
}

/* The parts of [start, end) that no earlier source has covered. */
static int unwind_table_add_gaps(struct table_builder *b, uint64_t start, uint64_t end,
				 uint32_t rule)
{
	uint32_t i = bisect(mid, b->settled, ROW_OFF(b->rows.v[mid]) <= start);
	int r = 0;

	b->ranges++;
	while (!r && start < end && b->work < TABLE_WORK * (b->settled + b->ranges)) {
		bool taken = i && ROW_HAS(b->rows.v[i - 1]);
		uint64_t next = end;

		b->work++;
		if (i < b->settled && ROW_OFF(b->rows.v[i]) < end)
			next = ROW_OFF(b->rows.v[i]);
		if (!taken && next > start)
			r = unwind_table_add(b, start, next, rule);
		start = next;
		i++;
	}
	return r;
}

int table_builder_add(struct table_builder *b, uint64_t start, uint64_t end,
		      const struct unwind_rule *rule)
{
	int n;

	if (start >= end || end >= OFF_MAX)
		return 0;
	n = unwind_table_rule(b, rule);
	if (n < 0)
		return n;
	if (b->settled)
		return unwind_table_add_gaps(b, start, end, n);
	return unwind_table_add(b, start, end, n);
}

/* Where the ascending run that begins at i < n ends. */
static uint32_t unwind_table_run(const uint64_t *v, uint32_t n, uint32_t i)
{
	for (i++; i < n && v[i - 1] <= v[i];)
		i++;
	return i;
}

/* Merge every two runs of v into one of `to`.  Returns how many runs are left. */
static uint32_t unwind_table_merge_runs(const uint64_t *v, uint32_t n, uint64_t *to)
{
	uint32_t runs = 0;

	for (uint32_t i = 0, end; i < n; i = end, runs++) {
		uint32_t first = unwind_table_run(v, n, i), k = first;

		end = first < n ? unwind_table_run(v, n, first) : n;
		while (i < first && k < end) {
			if (v[k] < v[i])
				*to++ = v[k++];
			else
				*to++ = v[i++];
		}
		memcpy(to, v + i, (first - i) * sizeof(*to));
		to += first - i;
		memcpy(to, v + k, (end - k) * sizeof(*to));
		to += end - k;
	}
	return runs;
}

/*
 * Merges the runs that are there: compilers write functions mostly in order, and a
 * later source adds few rows to many.
 */
static int unwind_table_sort(struct table_builder *b)
{
	uint32_t n = b->rows.n, runs = 2;
	uint64_t *from = b->rows.v, *room, *to;

	if (!n || unwind_table_run(from, n, 0) == n)
		return 0;
	to = room = malloc(n * sizeof(*room));
	if (!room)
		return -ENOMEM;
	while (runs > 1) {
		uint64_t *was = from;

		runs = unwind_table_merge_runs(from, n, to);
		from = to;
		to = was;
	}
	if (from == room)
		memcpy(b->rows.v, room, n * sizeof(*room));
	free(room);
	return 0;
}

int table_builder_next_source(struct table_builder *b)
{
	int r = unwind_table_sort(b);

	b->settled = b->rows.n;
	b->work = b->ranges = 0;
	return r;
}

int table_builder_mark(struct table_builder *b, uint64_t start, uint64_t end,
		       uint8_t by_fp)
{
	for (uint32_t i = 0; i < b->rows.n; i++) {
		uint64_t row = b->rows.v[i];
		struct unwind_rule rule;
		int n;

		if (ROW_OFF(row) < start || ROW_OFF(row) >= end ||
		    ROW_RULE(row) == RULE_NONE || ROW_RULE(row) == RULE_END)
			continue;
		rule = b->rules.v[ROW_RULE(row)];
		rule.by_fp |= by_fp;
		n = unwind_table_rule(b, &rule);
		if (n < 0)
			return n;
		b->rows.v[i] = (row & ~0xffffULL) | (uint64_t)n;
	}
	return 0;
}

/* Leave one row for each offset, none that repeats the rule of the row before, and
 * no short gaps between equal rules. */
static void unwind_table_merge(struct table_builder *b)
{
	uint32_t to = 0, before;

	for (uint32_t i = 0; i < b->rows.n; i++) {
		uint64_t row = b->rows.v[i];

		if (i + 1 < b->rows.n && ROW_OFF(b->rows.v[i + 1]) == ROW_OFF(row))
			continue;	/* the last row of an offset counts */
		if (to >= 2 && ROW_RULE(b->rows.v[to - 1]) == RULE_NONE &&
		    ROW_RULE(b->rows.v[to - 2]) == ROW_RULE(row) &&
		    ROW_OFF(row) - ROW_OFF(b->rows.v[to - 1]) <= TABLE_GAP) {
			to--;
			continue;
		}
		before = to ? ROW_RULE(b->rows.v[to - 1]) : RULE_NONE;
		if (ROW_RULE(row) != before)
			b->rows.v[to++] = row;
	}
	b->rows.n = to;
}

/* --- laying out --------------------------------------------------------------- */

struct layout {
	uint32_t pages, elements;
	size_t rules, dir, len;	/* bytes */
};

/* The first row from i on that is not on this page. */
static size_t unwind_table_page_end(const struct table_builder *b, size_t i, uint32_t page)
{
	while (i < b->rows.n && ROW_OFF(b->rows.v[i]) >> TABLE_PAGE_SHIFT == page)
		i++;
	return i;
}

static uint32_t unwind_table_row_elements(size_t rows)
{
	return (rows + ELEMENT_ROWS - 1) / ELEMENT_ROWS;
}

static uint32_t unwind_table_index_elements(uint32_t n)
{
	return (n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

static struct layout unwind_table_lay_out(const struct table_builder *b)
{
	struct layout l = { 0 };
	size_t i = 0;

	l.pages = (ROW_OFF(b->rows.v[b->rows.n - 1]) >> TABLE_PAGE_SHIFT) + 1;
	while (i < b->rows.n) {
		uint32_t page = ROW_OFF(b->rows.v[i]) >> TABLE_PAGE_SHIFT;
		size_t end = unwind_table_page_end(b, i, page);
		uint32_t n = unwind_table_row_elements(end - i);

		l.elements += n + unwind_table_index_elements(n);
		i = end;
	}
	l.rules = b->rules.n * sizeof(*b->rules.v);
	l.dir = ((size_t)l.pages * sizeof(struct dir_entry) + 63) / 64 * 64;
	l.len = sizeof(struct table_hdr) + l.rules + l.dir +
		(size_t)l.elements * sizeof(union element);
	return l;
}

static void unwind_table_put_page(const struct table_builder *b, size_t first, size_t end,
				  union element *to)
{
	uint32_t n = unwind_table_row_elements(end - first),
		 n_index = unwind_table_index_elements(n);

	memset(to, 0xff, n_index * sizeof(*to));	/* PAD_LOW */
	for (uint32_t k = 0; k < n * ELEMENT_ROWS; k++) {
		bool pad = first + k >= end;
		uint64_t from = b->rows.v[pad ? end - 1 : first + k];
		struct unwind_row *row = &to[n_index + k / ELEMENT_ROWS]
					.row[k % ELEMENT_ROWS];

		row->rule = ROW_RULE(from);
		row->low = pad ? PAD_LOW : ROW_OFF(from) & 0xffff;
	}
	for (uint32_t e = 0; e < n; e++)
		to[e / INDEX_FANOUT].index[e % INDEX_FANOUT] =
			to[n_index + e].row[0].low;
}

static void unwind_table_put_pages(const struct table_builder *b, const struct layout *l,
				   struct dir_entry *dir, union element *elements)
{
	uint32_t at = 0, before = RULE_NONE;
	size_t i = 0;

	for (uint32_t p = 0; p < l->pages; p++) {
		size_t end = unwind_table_page_end(b, i, p);
		uint32_t n = unwind_table_row_elements(end - i);

		dir[p] = (struct dir_entry){ .rule_before = before };
		if (!n)
			continue;
		dir[p].first = at;
		dir[p].n = n;
		unwind_table_put_page(b, i, end, &elements[at]);
		at += n + unwind_table_index_elements(n);
		before = ROW_RULE(b->rows.v[end - 1]);
		i = end;
	}
}

int table_builder_finish(struct table_builder *b, void **ret, size_t *len)
{
	struct layout l = { .len = sizeof(struct table_hdr) };
	struct table_hdr *h;
	char *p;

	if (unwind_table_sort(b))
		return -ENOMEM;
	unwind_table_merge(b);
	if (b->rows.n)
		l = unwind_table_lay_out(b);
	if (l.pages > 8 * SLAB_ELEMENTS)
		return -E2BIG;
	h = calloc(1, l.len);
	if (!h)
		return -ENOMEM;
	*h = (struct table_hdr){
		.magic = TABLE_MAGIC, .pages = l.pages,
		.n_rules = l.pages ? b->rules.n : 0,
		.n_elements = l.elements, .n_rows = b->rows.n,
	};
	if (l.pages) {
		p = (char *)(h + 1);
		memcpy(p, b->rules.v, l.rules);
		unwind_table_put_pages(b, &l, (void *)(p + l.rules),
				       (void *)(p + l.rules + l.dir));
	}
	*ret = h;
	*len = l.len;
	return 0;
}

const struct unwind_rule *table_lookup(const void *table, uint64_t off)
{
	const struct table_hdr *h = table;
	const struct unwind_rule *rules = (const void *)(h + 1);
	const struct dir_entry *d = (const void *)(rules + h->n_rules);
	const union element *e = (const void *)((const char *)d +
		((size_t)h->pages * sizeof(*d) + 63) / 64 * 64);
	uint32_t rule;

	if (off >> TABLE_PAGE_SHIFT >= h->pages)
		return NULL;
	d += off >> TABLE_PAGE_SHIFT;
	rule = d->rule_before;
	e += d->first + unwind_table_index_elements(d->n);
	for (uint32_t k = 0; k < d->n * (uint32_t)ELEMENT_ROWS; k++) {
		const struct unwind_row *row = &e[k / ELEMENT_ROWS]
					       .row[k % ELEMENT_ROWS];

		if (row->low > (off & 0xffff))
			break;
		rule = row->rule;
	}
	return &rules[rule];
}
