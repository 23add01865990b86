// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/snapshot/walk_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST	((uint32_t)RULE_SLABS << SLAB_SHIFT)

/* The parts of a worker's table. */
struct walk_view {
	const struct table_hdr *hdr;
	const struct unwind_rule *rules;
	const struct dir_entry *dir;
	const union element *elements;
	uint32_t n_dir;			/* elements of the directory */
};

static struct walk_view walk_view_of(const void *table)
{
	struct walk_view v = { .hdr = table };

	v.n_dir = (v.hdr->pages + 7) / 8;
	v.rules = (const void *)(v.hdr + 1);
	v.dir = (const void *)(v.rules + v.hdr->n_rules);
	v.elements = (const void *)(v.dir + 8 * (size_t)v.n_dir);
	return v;
}

static uint32_t walk_index_elements(const struct dir_entry *d)
{
	return (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

void walk_tables_fini(struct walk_tables *t)
{
	free(t->rules.v);
	free(t->elements.v);
	*t = (struct walk_tables){ 0 };
}

/* Our number of its first rule. */
static int walk_add_rules(struct walk_tables *t, const struct walk_view *v,
			  uint32_t *first)
{
	uint32_t n = (v->hdr->n_rules + 1) / 2;

	if (t->rules.n + n > RULES_MAX / 2)
		return -E2BIG;
	if (!vector_reserve(&t->rules, n))
		return -ENOMEM;
	*first = 2 * t->rules.n;
	memset(&t->rules.v[t->rules.n], 0, n * sizeof(union element));
	memcpy(&t->rules.v[t->rules.n], v->rules,
	       v->hdr->n_rules * sizeof(*v->rules));
	t->rules.n += n;
	return 0;
}

/* RULE_NONE and RULE_END are the same everywhere. */
static uint16_t walk_number(uint16_t rule, uint32_t by)
{
	if (rule <= RULE_END)
		return rule;
	return (uint16_t)(rule + by);
}

/* The rows of a page get our numbers. */
static void walk_renumber(union element *e, const struct dir_entry *d, uint32_t by)
{
	for (uint32_t i = 0; i < d->n; i++) {
		union element *rows = &e[walk_index_elements(d) + i];

		for (int k = 0; k < ELEMENT_ROWS; k++)
			rows->row[k].rule = walk_number(rows->row[k].rule, by);
	}
}

int walk_tables_add(struct walk_tables *t, const void *table, uint32_t *dir,
		    uint32_t *pages)
{
	struct walk_view v = walk_view_of(table);
	uint32_t rule, n = v.n_dir + v.hdr->n_elements;
	union element *to;
	int r;

	*dir = *pages = 0;
	if (!v.hdr->pages)
		return 0;
	if (t->elements.n + n > (SLABS_MAX << SLAB_SHIFT) - FIRST)
		return -E2BIG;
	if (!vector_reserve(&t->elements, n))
		return -ENOMEM;
	r = walk_add_rules(t, &v, &rule);
	if (r)
		return r;
	to = &t->elements.v[t->elements.n];
	memcpy(to, v.dir, v.n_dir * sizeof(*to));
	memcpy(to + v.n_dir, v.elements, v.hdr->n_elements * sizeof(*to));
	for (uint32_t i = 0; i < v.hdr->pages; i++) {
		struct dir_entry *d = &to[i / 8].dir[i % 8];

		walk_renumber(to + v.n_dir + d->first, d, rule);
		d->rule_before = walk_number(d->rule_before, rule);
		d->first += FIRST + t->elements.n + v.n_dir;
	}
	*dir = FIRST + t->elements.n;
	*pages = v.hdr->pages;
	t->elements.n += n;
	return 0;
}

union element *walk_tables_element(struct walk_tables *t, uint32_t pos)
{
	if (pos < FIRST)
		return pos < t->rules.n ? &t->rules.v[pos] : NULL;
	return pos - FIRST < t->elements.n ? &t->elements.v[pos - FIRST] : NULL;
}

/* Of what lies in this page. */
static void walk_page_range(const struct walk_view *v, uint64_t page, uint32_t low,
			    uint64_t *start, uint64_t *end)
{
	const struct dir_entry *d = &v->dir[page];
	const union element *e = &v->elements[d->first + walk_index_elements(d)];

	*start = page << TABLE_PAGE_SHIFT;
	*end = (page + 1) << TABLE_PAGE_SHIFT;
	for (uint32_t k = 0; k < d->n * (uint32_t)ELEMENT_ROWS; k++) {
		const struct unwind_row *row = &e[k / ELEMENT_ROWS].row[k % ELEMENT_ROWS];
		uint64_t at = (page << TABLE_PAGE_SHIFT) + row->low;

		if (row->low > low) {
			*end = at;
			return;
		}
		*start = at;
	}
}

void walk_tables_range(const void *table, uint64_t off, uint64_t *start, uint64_t *end)
{
	struct walk_view v = walk_view_of(table);

	*start = off;
	*end = off + 1;
	if (off >> TABLE_PAGE_SHIFT < v.hdr->pages)
		walk_page_range(&v, off >> TABLE_PAGE_SHIFT, off & 0xffff, start, end);
}
