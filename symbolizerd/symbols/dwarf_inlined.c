// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_inlined.h"

#include <dwarf.h>
#include <stdlib.h>

/* What is being read. */
struct dwarf_inlined_walk {
	struct dwarf_inlined *t;
	const struct dwarf_functions *f;
};

static bool dwarf_inlined_range(struct dwarf_inlined_walk *w, uint64_t low, uint64_t high)
{
	struct dwarf_span s = { low, high };

	if (w->t->ranges.n >= DWARF_INLINED_MAX || !*w->f->steps)
		return false;
	--*w->f->steps;
	return low >= high || vector_push(&w->t->ranges, s);
}

static bool dwarf_inlined_ranges(struct dwarf_inlined_walk *w, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	uint64_t split_low, split_high;
	struct split_walk lists;
	ptrdiff_t at = 0;

	if (w->f->lists) {
		split_walk_begin(&lists, w->f->lists, die);
		while (split_walk_next(&lists, &split_low, &split_high)) {
			if (!dwarf_inlined_range(w, split_low, split_high))
				return false;
		}
		return true;
	}
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (!dwarf_inlined_range(w, low, high))
			return false;
	}
	return true;
}

/* An entry, without those within it. */
static bool dwarf_inlined_add(struct dwarf_inlined_walk *w, Dwarf_Die *die, int tag)
{
	struct dwarf_inlined_entry e = {
		.die = *die, .call = tag == DW_TAG_inlined_subroutine,
		.first = w->t->ranges.n,
	};

	if (w->t->entries.n >= DWARF_INLINED_MAX || !dwarf_inlined_ranges(w, die))
		return false;
	e.n = w->t->ranges.n - e.first;
	e.open = !e.call && dwarf_block_is_open(die);
	return vector_push(&w->t->entries, e);
}

/* False: no more can be read. */
static bool dwarf_inlined_walk(struct dwarf_inlined_walk *w, Dwarf_Die *parent,
			       unsigned int depth)
{
	Dwarf_Die die;
	int r;

	if (depth == DWARF_NEST_MAX)
		return true;
	r = dwarf_child(parent, &die);
	for (; !r; r = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		uint32_t i = w->t->entries.n;

		if (!*w->f->steps)
			return false;
		--*w->f->steps;
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		if (!dwarf_inlined_add(w, &die, tag) || !dwarf_inlined_walk(w, &die, depth + 1))
			return false;
		w->t->entries.v[i].end = w->t->entries.n;
	}
	return true;
}

bool dwarf_inlined_read(struct dwarf_inlined *t, const struct dwarf_functions *f,
			Dwarf_Die *function)
{
	struct dwarf_inlined_walk w = { t, f };

	t->entries.n = 0;
	t->ranges.n = 0;
	return dwarf_inlined_walk(&w, function, 0);
}

static bool dwarf_inlined_has(const struct dwarf_inlined *t,
			      const struct dwarf_inlined_entry *e, uint64_t vaddr)
{
	for (uint32_t i = e->first; i < e->first + e->n; i++) {
		if (t->ranges.v[i].low <= vaddr && vaddr < t->ranges.v[i].high)
			return true;
	}
	return false;
}

/* An open block's entries are as those beside it. */
uint32_t dwarf_inlined_at(const struct dwarf_inlined *t, uint64_t vaddr, Dwarf_Die *ret,
			  uint32_t max)
{
	uint32_t i = 0, end = t->entries.n, n = 0;

	while (i < end) {
		const struct dwarf_inlined_entry *e = &t->entries.v[i];

		if (dwarf_inlined_has(t, e, vaddr)) {
			if (e->call && n < max)
				ret[n++] = e->die;
			end = e->end;
		} else if (!e->open) {
			i = e->end;
			continue;
		}
		i++;
	}
	return n;
}

void dwarf_inlined_fini(struct dwarf_inlined *t)
{
	free(t->entries.v);
	free(t->ranges.v);
	*t = (struct dwarf_inlined){ 0 };
}
