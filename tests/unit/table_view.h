/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_view - a finished unwind table, judged and searched the plainest way
 *
 * Written from bpf/table.h alone, so that what symbolizerd/unwind/table.c lays
 * out is held against the description and not against itself.
 */
#ifndef TESTS_TABLE_VIEW_H
#define TESTS_TABLE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bpf/table.h"

struct table_view {
	const struct table_hdr *hdr;
	const struct unwind_rule *rules;
	const struct dir_entry *dir;
	const union element *elements;
};

static inline uint32_t view_index_elements(const struct dir_entry *d)
{
	return (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

/* Row k of a page, counting through its row elements. */
static inline const struct unwind_row *
view_row(const struct table_view *v, const struct dir_entry *d, uint32_t k)
{
	return &v->elements[d->first + view_index_elements(d) +
			    k / ELEMENT_ROWS].row[k % ELEMENT_ROWS];
}

/* Rows of a page without those that pad.  A real row may have the low half
 * PAD_LOW, too: it differs from the one before. */
static inline uint32_t view_rows(const struct table_view *v,
				 const struct dir_entry *d)
{
	uint32_t n = d->n * (uint32_t)ELEMENT_ROWS;

	while (n > 1 && view_row(v, d, n - 1)->low == PAD_LOW &&
	       view_row(v, d, n - 1)->rule == view_row(v, d, n - 2)->rule)
		n--;
	return n;
}

static inline bool view_page_sound(const struct table_view *v,
				   const struct dir_entry *d)
{
	uint32_t n = view_rows(v, d), n_index = view_index_elements(d);

	if (d->n > PAGE_ELEMENTS_MAX ||
	    (n + ELEMENT_ROWS - 1) / ELEMENT_ROWS != d->n)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t before = k ? view_row(v, d, k - 1)->rule :
				      d->rule_before;

		if (view_row(v, d, k)->rule >= v->hdr->n_rules ||
		    view_row(v, d, k)->rule == before ||
		    (k && view_row(v, d, k - 1)->low >= view_row(v, d, k)->low))
			return false;
	}
	for (uint32_t i = 0; i < n_index * INDEX_FANOUT; i++) {
		uint16_t low = v->elements[d->first + i / INDEX_FANOUT]
			       .index[i % INDEX_FANOUT];

		if (low != (i < d->n ? view_row(v, d, i * ELEMENT_ROWS)->low :
				       PAD_LOW))
			return false;
	}
	return true;
}

/* All that bpf/table.h promises of len bytes at data. */
static inline bool view_open(struct table_view *v, const void *data, size_t len)
{
	static const struct unwind_rule fixed[2] = { [RULE_END].cfa = CFA_END };
	const struct table_hdr *h = data;
	uint32_t next = 0, before = RULE_NONE, rows = 0;
	size_t rules, dir;

	if (len < sizeof(*h) || h->magic != TABLE_MAGIC)
		return false;
	*v = (struct table_view){ .hdr = h };
	if (!h->pages)
		return len == sizeof(*h) && !h->n_rules && !h->n_elements &&
		       !h->n_rows;
	rules = h->n_rules * sizeof(*v->rules);
	dir = ((size_t)h->pages * sizeof(*v->dir) + 63) / 64 * 64;
	if (h->n_rules < 2 || h->n_rules > RULES_MAX ||
	    len != sizeof(*h) + rules + dir +
		   (size_t)h->n_elements * sizeof(union element))
		return false;
	v->rules = (const void *)(h + 1);
	v->dir = (const void *)((const char *)v->rules + rules);
	v->elements = (const void *)((const char *)v->dir + dir);
	if (memcmp(v->rules, fixed, sizeof(fixed)))
		return false;
	for (uint32_t i = 0; i < h->pages; i++) {
		const struct dir_entry *d = &v->dir[i];

		if (d->rule_before != before)
			return false;
		if (!d->n)
			continue;
		if (d->first != next || h->n_elements - next <
					view_index_elements(d) + d->n ||
		    !view_page_sound(v, d))
			return false;
		next += view_index_elements(d) + d->n;
		rows += view_rows(v, d);
		before = view_row(v, d, view_rows(v, d) - 1)->rule;
	}
	return next == h->n_elements && rows == h->n_rows;
}

/* The rule for a file offset; that of RULE_NONE beyond the last page. */
static inline const struct unwind_rule *view_find(const struct table_view *v,
						  uint64_t off)
{
	static const struct unwind_rule none;
	const struct dir_entry *d;
	uint32_t lo = 0, hi;

	if (off >> TABLE_PAGE_SHIFT >= v->hdr->pages)
		return &none;
	d = &v->dir[off >> TABLE_PAGE_SHIFT];
	hi = d->n * (uint32_t)ELEMENT_ROWS;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (view_row(v, d, mid)->low <= (off & 0xffff))
			lo = mid + 1;
		else
			hi = mid;
	}
	return &v->rules[lo ? view_row(v, d, lo - 1)->rule : d->rule_before];
}

#endif /* TESTS_TABLE_VIEW_H */
