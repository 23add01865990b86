// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_units.h"

#include <dwarf.h>
#include <stdlib.h>

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
	/* the longer one may hold the other */
	return x->high > y->high ? -1 : x->high < y->high;
}

const struct dwarf_range *dwarf_ranges_find(struct dwarf_ranges *r, uint64_t vaddr)
{
	uint32_t low = 0, high = r->list.n;

	if (!r->ordered && r->list.n)
		qsort(r->list.v, r->list.n, sizeof(*r->list.v), dwarf_range_order);
	r->ordered = true;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (r->list.v[mid].low <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	for (uint32_t i = 0; i < DWARF_RANGE_BACK && low-- > 0; i++) {
		if (vaddr < r->list.v[low].high)
			return &r->list.v[low];
	}
	return NULL;
}

/* --- units -------------------------------------------------------------------- */

/* What .debug_aranges has. */
static bool dwarf_units_arange(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret,
			       uint64_t *low)
{
	Dwarf_Arange *a;
	Dwarf_Off die;
	size_t n;

	if (!u->begun && dwarf_getaranges(u->dbg, &u->aranges, &n))
		u->aranges = NULL;
	u->begun = true;
	a = u->aranges ? dwarf_getarange_addr(u->aranges, vaddr) : NULL;
	return a && !dwarf_getarangeinfo(a, low, NULL, &die) &&
	       dwarf_offdie(u->dbg, die, ret);
}

static void dwarf_units_read(struct dwarf_units *u)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	u->read = true;
	while (*u->steps && !dwarf_get_units(u->dbg, cu, &cu, NULL, &type, &die, NULL)) {
		--*u->steps;
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    !dwarf_ranges_add(&u->ranges, &die, NULL, u->steps))
			return;
	}
}

bool dwarf_units_find(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret, uint64_t *low)
{
	const struct dwarf_range *r;

	if (dwarf_units_arange(u, vaddr, ret, low))
		return true;
	if (!u->read)
		dwarf_units_read(u);
	r = dwarf_ranges_find(&u->ranges, vaddr);
	*low = r ? r->low : 0;
	return r && dwarf_offdie(u->dbg, r->die, ret);
}

void dwarf_units_fini(struct dwarf_units *u)
{
	free(u->ranges.list.v);
	*u = (struct dwarf_units){ 0 };
}
