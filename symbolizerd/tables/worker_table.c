// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/tables/worker_table.h"

#include <string.h>

static bool worker_table_rules_sound(const struct worker_table *t)
{
	static const struct unwind_rule none = { .cfa = CFA_NONE };
	static const struct unwind_rule end = { .cfa = CFA_END };

	if (memcmp(&t->rules[RULE_NONE], &none, sizeof(none)) ||
	    memcmp(&t->rules[RULE_END], &end, sizeof(end)))
		return false;
	for (uint32_t i = 2; i < t->hdr->n_rules; i++) {
		const struct unwind_rule *r = &t->rules[i];

		if (r->cfa >= CFA__MAX || r->ra >= RA__MAX ||
		    r->cfa_reg >= REGS_MAX || r->ra_reg >= REGS_MAX)
			return false;
	}
	return true;
}

static bool worker_table_rows_sound(const struct worker_table *t,
				    uint32_t first, uint32_t n)
{
	for (uint32_t e = first; e < first + n; e++) {
		for (int k = 0; k < ELEMENT_ROWS; k++) {
			if (t->elements[e].row[k].rule >= t->hdr->n_rules)
				return false;
		}
	}
	return true;
}

/* Pages have their elements in the same order, and each element is in one page. */
static bool worker_table_pages_sound(const struct worker_table *t)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < t->hdr->pages; i++) {
		const struct dir_entry *d = &t->dir[i];

		if (d->rule_before >= t->hdr->n_rules ||
		    d->n > PAGE_ELEMENTS_MAX)
			return false;
		if (!d->n)
			continue;
		if (d->first != next ||
		    t->hdr->n_elements - next < page_elements(d))
			return false;
		next += page_elements(d);
		if (!worker_table_rows_sound(t, next - d->n, d->n))
			return false;
	}
	return next == t->hdr->n_elements;
}

bool worker_table_open(struct worker_table *t, const void *data, size_t len)
{
	const struct table_hdr *h = data;
	size_t rules, dir;

	if (len < sizeof(*h) || h->magic != TABLE_MAGIC)
		return false;
	*t = (struct worker_table){ .hdr = h };
	if (!h->pages)
		return len == sizeof(*h) && !h->n_rules && !h->n_elements;
	if (h->n_rules < 2 || h->n_rules > RULES_MAX ||
	    h->pages > 8 * SLAB_ELEMENTS ||
	    h->n_elements > SLABS_MAX * SLAB_ELEMENTS ||
	    h->n_rows / ELEMENT_ROWS > h->n_elements)
		return false;
	rules = (size_t)h->n_rules * sizeof(*t->rules);
	dir = ((size_t)h->pages * sizeof(*t->dir) + 63) / 64 * 64;
	if (len != sizeof(*h) + rules + dir +
		   (size_t)h->n_elements * sizeof(union element))
		return false;
	t->rules = (const void *)(h + 1);
	t->dir = (const void *)((const char *)t->rules + rules);
	t->elements = (const void *)((const char *)t->dir + dir);
	return worker_table_rules_sound(t) && worker_table_pages_sound(t);
}
