/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * lookup - from a place in a file to the rule that applies there
 *
 * The includer defines element_at(): in the kernel a lookup in the slabs, on the host
 * (tests/unit) in an array.  The layout saves cache lines, not steps: a lookup reads one
 * of the directory, one or two of the index, and one of rows.
 */
#ifndef BPF_LOOKUP_BPF_H
#define BPF_LOOKUP_BPF_H

#include <linux/types.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "table.h"

/* The element at a position (slab << SLAB_SHIFT | element), or NULL. */
static __always_inline const union element *element_at(__u32 pos);

/* Position, in 0..31, of the last index entry <= low; 0 if there is none.  Padding is
 * 0xffff: the caller clamps. */
static __always_inline __u32 index_search(const union element *e, __u32 low)
{
	__u32 i = 0;

	for (__u32 half = INDEX_FANOUT / 2; half; half >>= 1) {
		if (e->index[(i + half) & (INDEX_FANOUT - 1)] <= low)
			i += half;
	}
	return i & (INDEX_FANOUT - 1);
}

static __always_inline __u32 row_search(const union element *e, __u32 low)
{
	__u32 i = 0;

	for (__u32 half = ELEMENT_ROWS / 2; half; half >>= 1) {
		if (e->row[(i + half) & (ELEMENT_ROWS - 1)].low <= low)
			i += half;
	}
	return i & (ELEMENT_ROWS - 1);
}

/* Number, within the page, of the row element whose rows hold low. */
static __always_inline int page_search(const struct dir_entry *d, __u32 low,
				       __u32 *ret)
{
	__u32 n_index = (d->n + INDEX_FANOUT - 1) / INDEX_FANOUT;
	__u32 lo = 0, hi = n_index, i;
	const union element *e;

	/* PAGE_ELEMENTS_MAX / INDEX_FANOUT = 128 = 2^7 */
	for (int step = 0; step < 7 && lo + 1 < hi; step++) {
		__u32 mid = (lo + hi) / 2;

		e = element_at(d->first + mid);
		if (!e)
			return -1;
		if (e->index[0] <= low)
			lo = mid;
		else
			hi = mid;
	}
	e = element_at(d->first + lo);
	if (!e)
		return -1;
	i = lo * INDEX_FANOUT + index_search(e, low);
	*ret = i < d->n ? i : (__u32)d->n - 1;
	return 0;
}

/*
 * Rule for a file offset in a table whose directory lies at dir and has
 * `pages` entries.  Returns a rule number, or -1 when an element is missing.
 * A place after the last page has RULE_NONE.
 */
static __always_inline int table_rule(__u32 dir, __u32 pages, __u64 off)
{
	__u64 page = off >> TABLE_PAGE_SHIFT;
	__u32 low = off & 0xffff, i, n_index;
	const union element *e;
	struct dir_entry d;

	if (page >= pages)
		return RULE_NONE;
	e = element_at(dir + (page >> 3));
	if (!e)
		return -1;
	d = e->dir[page & 7];
	if (!d.n)
		return d.rule_before;
	if (page_search(&d, low, &i))
		return -1;
	n_index = (d.n + INDEX_FANOUT - 1) / INDEX_FANOUT;
	e = element_at(d.first + n_index + i);
	if (!e)
		return -1;
	if (e->row[0].low > low)
		return d.rule_before;
	return e->row[row_search(e, low)].rule;
}

/* The rule of this number; NULL: there is none. */
static __always_inline const struct unwind_rule *rule_at(int rule)
{
	const union element *e = element_at((__u32)rule >> 1);

	if (rule < 0 || !e)
		return NULL;
	/* clang 19 and later would add to it before it was compared */
	asm volatile("" : "+r"(e));
	return rule & 1 ? &e->rule[1] : &e->rule[0];
}

#endif /* BPF_LOOKUP_BPF_H */
