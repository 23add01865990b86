// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_ranges.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/bisect.h"

/* --- range lists of split units -------------------------------------------------- */

#define SPLIT_LISTS_HEADER	12u	/* of .debug_rnglists, with offsets of 32 bits */
#define SPLIT_LISTS_64		0xffffffffu	/* as the length: they have 64 */

/* --- where a list is -------------------------------------------------------------- */

/* Offset of list i, by the table after the header. */
static bool split_lists_offset(const struct split_bytes *b, uint64_t i, uint64_t *ret)
{
	uint32_t size, n, off;

	if (b->len < SPLIT_LISTS_HEADER)
		return false;
	memcpy(&size, b->at, sizeof(size));
	memcpy(&n, b->at + SPLIT_LISTS_HEADER - sizeof(n), sizeof(n));
	if (size == SPLIT_LISTS_64 || i >= n ||
	    i >= (b->len - SPLIT_LISTS_HEADER) / sizeof(off))
		return false;
	memcpy(&off, b->at + SPLIT_LISTS_HEADER + i * sizeof(off), sizeof(off));
	*ret = SPLIT_LISTS_HEADER + (uint64_t)off;
	return true;
}

static void split_walk_list(struct split_walk *w, Dwarf_Die *die)
{
	const struct split_bytes *b = &w->l->ranges;
	Dwarf_Attribute a;
	uint64_t off;

	if (!dwarf_attr(die, DW_AT_ranges, &a) || dwarf_formudata(&a, &off))
		return;
	if (dwarf_whatform(&a) == DW_FORM_rnglistx && !split_lists_offset(b, off, &off))
		return;
	if (off < b->len)
		wire_init(&w->in, b->at + off, b->len - off, false);
}

void split_walk_begin(struct split_walk *w, const struct split_lists *l, Dwarf_Die *die)
{
	*w = (struct split_walk){ .l = l, .base = l->base };
	if (!dwarf_lowpc(die, &w->low) && !dwarf_highpc(die, &w->high))
		w->one = true;
	else
		split_walk_list(w, die);
}

/* --- its elements ------------------------------------------------------------------ */

enum split_element { SPLIT_END, SPLIT_BASE, SPLIT_RANGE };

static bool split_address(const struct split_walk *w, uint64_t i, uint64_t *ret)
{
	const struct split_bytes *b = &w->l->addresses;

	if (i >= b->len / sizeof(*ret))
		return false;
	memcpy(ret, b->at + i * sizeof(*ret), sizeof(*ret));
	return true;
}

static bool split_walk_indexed(struct split_walk *w, uint64_t *ret)
{
	uint64_t i;

	return !wire_get_uleb(&w->in, &i) && split_address(w, i, ret);
}

/* An element of .debug_ranges: two addresses. */
static enum split_element split_walk_pair(struct split_walk *w, uint64_t *low, uint64_t *high)
{
	if (wire_get_u64(&w->in, low) || wire_get_u64(&w->in, high) || (!*low && !*high))
		return SPLIT_END;
	if (*low == UINT64_MAX) {
		w->base = *high;
		return SPLIT_BASE;
	}
	*low += w->base;
	*high += w->base;
	return SPLIT_RANGE;
}

/* The length of a range whose start is known. */
static bool split_walk_length(struct split_walk *w, uint64_t low, uint64_t *high)
{
	uint64_t len;

	if (wire_get_uleb(&w->in, &len))
		return false;
	*high = low + len;
	return true;
}

static bool split_walk_offsets(struct split_walk *w, uint64_t *low, uint64_t *high)
{
	if (wire_get_uleb(&w->in, low) || wire_get_uleb(&w->in, high))
		return false;
	*low += w->base;
	*high += w->base;
	return true;
}

/* An element of .debug_rnglists. */
static enum split_element split_walk_entry(struct split_walk *w, uint64_t *low, uint64_t *high)
{
	bool ok = false;
	uint8_t kind;

	if (wire_get_u8(&w->in, &kind))
		return SPLIT_END;
	switch (kind) {
	case DW_RLE_base_addressx:
		if (split_walk_indexed(w, &w->base))
			return SPLIT_BASE;
		break;
	case DW_RLE_base_address:
		if (!wire_get_u64(&w->in, &w->base))
			return SPLIT_BASE;
		break;
	case DW_RLE_startx_endx:
		ok = split_walk_indexed(w, low) && split_walk_indexed(w, high);
		break;
	case DW_RLE_startx_length:
		ok = split_walk_indexed(w, low) && split_walk_length(w, *low, high);
		break;
	case DW_RLE_offset_pair:
		ok = split_walk_offsets(w, low, high);
		break;
	case DW_RLE_start_end:
		ok = !wire_get_u64(&w->in, low) && !wire_get_u64(&w->in, high);
		break;
	case DW_RLE_start_length:
		ok = !wire_get_u64(&w->in, low) && split_walk_length(w, *low, high);
		break;
	}
	if (ok)
		return SPLIT_RANGE;
	return SPLIT_END;
}

bool split_walk_next(struct split_walk *w, uint64_t *low, uint64_t *high)
{
	enum split_element e = SPLIT_BASE;

	if (w->one) {
		*low = w->low;
		*high = w->high;
		w->one = false;
		return true;
	}
	while (e == SPLIT_BASE && wire_left(&w->in) && *w->l->steps) {
		--*w->l->steps;
		if (w->l->rnglists)
			e = split_walk_entry(w, low, high);
		else
			e = split_walk_pair(w, low, high);
	}
	if (e != SPLIT_RANGE)
		w->in.pos = w->in.end;
	return e == SPLIT_RANGE;
}

/* --- the ranges of several entries ----------------------------------------------- */

static bool dwarf_ranges_push(struct dwarf_ranges *r, struct dwarf_range e, uint32_t *steps)
{
	if (!*steps || r->list.n >= DWARF_RANGES_MAX)
		return false;
	--*steps;
	r->ordered = false;
	return !e.low || e.low >= e.high || vector_push(&r->list, e);
}

bool dwarf_ranges_add(struct dwarf_ranges *r, Dwarf_Die *die, const struct split_lists *lists,
		      uint32_t *steps)
{
	struct dwarf_range e = { .die = dwarf_dieoffset(die) };
	struct split_walk w;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	if (lists) {
		split_walk_begin(&w, lists, die);
		while (split_walk_next(&w, &e.low, &e.high)) {
			if (!dwarf_ranges_push(r, e, steps))
				return false;
		}
		return true;
	}
	while ((at = dwarf_ranges(die, at, &base, &e.low, &e.high)) > 0) {
		if (!dwarf_ranges_push(r, e, steps))
			return false;
	}
	return true;
}

static int dwarf_range_order(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	/* the longer one may contain the other */
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return 0;
}

/* How many begin at the address or before. */
static uint32_t dwarf_ranges_before(struct dwarf_ranges *r, uint64_t vaddr)
{
	if (!r->ordered && r->list.n)
		qsort(r->list.v, r->list.n, sizeof(*r->list.v), dwarf_range_order);
	r->ordered = true;
	return bisect(mid, r->list.n, r->list.v[mid].low <= vaddr);
}

const struct dwarf_range *dwarf_ranges_find(struct dwarf_ranges *r, uint64_t vaddr)
{
	uint32_t low = dwarf_ranges_before(r, vaddr);

	for (uint32_t i = 0; i < DWARF_RANGE_BACK && low > 0; i++) {
		low--;
		if (vaddr < r->list.v[low].high)
			return &r->list.v[low];
	}
	return NULL;
}

const struct dwarf_range *dwarf_ranges_narrow(struct dwarf_ranges *r, uint64_t vaddr,
					      struct dwarf_span *s)
{
	const struct dwarf_range *found = dwarf_ranges_find(r, vaddr);
	uint32_t next = dwarf_ranges_before(r, vaddr);

	if (next < r->list.n && r->list.v[next].low < s->high)
		s->high = r->list.v[next].low;
	if (found && found->high < s->high)
		s->high = found->high;
	if (found && found->low > s->low)
		s->low = found->low;
	/* those that were tried and end before it */
	for (uint32_t i = 0; i < DWARF_RANGE_BACK && next > 0; i++) {
		const struct dwarf_range *e = &r->list.v[--next];

		if (e == found)
			break;
		if (e->high > s->low)
			s->low = e->high;
	}
	return found;
}
