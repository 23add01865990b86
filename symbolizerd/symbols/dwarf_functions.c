// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_functions.h"

#include <dwarf.h>
#include <stdlib.h>

static bool dwarf_step(struct dwarf_functions *f)
{
	if (!*f->steps)
		return false;
	--*f->steps;
	return true;
}

/* --- functions ---------------------------------------------------------------- */

static bool dwarf_holds_functions(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return deep;
	default:
		return false;
	}
}

/* False: no more can be read. */
static bool dwarf_functions_walk(struct dwarf_functions *f, struct dwarf_unit *u,
				 Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int r = dwarf_child(parent, &die);

	for (; !r; r = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (!dwarf_step(f))
			return false;
		if (tag == DW_TAG_subprogram &&
		    !dwarf_ranges_add(&u->functions, &die, f->lists, f->steps))
			return false;
		if (depth < DWARF_NEST_MAX && dwarf_holds_functions(tag, u->deep) &&
		    !dwarf_functions_walk(f, u, &die, depth + 1))
			return false;
	}
	return true;
}

static struct dwarf_unit *dwarf_functions_unit(struct dwarf_functions *f, Dwarf_Die *unit)
{
	struct dwarf_unit new = { .die = dwarf_dieoffset(unit) };

	for (uint32_t i = f->units.n; i-- > 0;) {
		if (f->units.v[i].die == new.die)
			return &f->units.v[i];
	}
	if (!vector_push(&f->units, new))
		return NULL;
	dwarf_functions_walk(f, &f->units.v[f->units.n - 1], unit, 0);
	return &f->units.v[f->units.n - 1];
}

/* Functions within functions are rare, and finding them takes long: they are read only
 * if an address is in no other function. */
static const struct dwarf_range *dwarf_functions_find(struct dwarf_functions *f,
						      Dwarf_Die *unit, uint64_t vaddr)
{
	struct dwarf_unit *u = dwarf_functions_unit(f, unit);
	const struct dwarf_range *r;

	if (!u)
		return NULL;
	r = dwarf_ranges_find(&u->functions, vaddr);
	if (r || u->deep)
		return r;
	u->deep = true;
	u->functions.list.n = 0;
	dwarf_functions_walk(f, u, unit, 0);
	return dwarf_ranges_find(&u->functions, vaddr);
}

/* --- what is inlined ------------------------------------------------------------ */

struct dwarf_chain {
	Dwarf_Die *v;
	uint32_t n;
	uint64_t vaddr;
};

bool dwarf_block_is_open(Dwarf_Die *die)
{
	return !dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges);
}

static bool dwarf_functions_has(const struct dwarf_functions *f, Dwarf_Die *die, uint64_t vaddr)
{
	uint64_t low, high;
	struct split_walk w;

	if (!f->lists)
		return dwarf_haspc(die, vaddr) > 0;
	split_walk_begin(&w, f->lists, die);
	while (split_walk_next(&w, &low, &high)) {
		if (low <= vaddr && vaddr < high)
			return true;
	}
	return false;
}

/* Add the calls inlined at the address below this entry.  True: the address was found. */
static bool dwarf_chain_find(struct dwarf_functions *f, struct dwarf_chain *c,
			     Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int r;

	if (depth == DWARF_NEST_MAX)
		return false;
	r = dwarf_child(parent, &die);
	for (; !r && dwarf_step(f); r = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		if (dwarf_functions_has(f, &die, c->vaddr)) {
			if (tag == DW_TAG_inlined_subroutine && c->n < SYMBOL_DEPTH_MAX)
				c->v[c->n++] = die;
			dwarf_chain_find(f, c, &die, depth + 1);
			return true;
		}
		if (tag == DW_TAG_lexical_block && dwarf_block_is_open(&die) &&
		    dwarf_chain_find(f, c, &die, depth + 1))
			return true;
	}
	return false;
}

uint32_t dwarf_functions_at(struct dwarf_functions *f, Dwarf_Die *unit, uint64_t vaddr,
			    Dwarf_Die ret[SYMBOL_DEPTH_MAX])
{
	const struct dwarf_range *r = dwarf_functions_find(f, unit, vaddr);
	struct dwarf_chain c = { .v = ret, .n = 1, .vaddr = vaddr };

	if (!r || !dwarf_offdie(dwarf_cu_getdwarf(unit->cu), r->die, &ret[0]))
		return 0;
	dwarf_chain_find(f, &c, &ret[0], 0);
	return c.n;
}

bool dwarf_functions_narrow(struct dwarf_functions *f, Dwarf_Die *unit, uint64_t vaddr,
			    struct dwarf_span *s, Dwarf_Die *ret)
{
	struct dwarf_unit *u;
	const struct dwarf_range *r;

	dwarf_functions_find(f, unit, vaddr);
	u = dwarf_functions_unit(f, unit);
	if (!u) {
		*s = (struct dwarf_span){ vaddr, vaddr + 1 };
		return false;
	}
	r = dwarf_ranges_narrow(&u->functions, vaddr, s);
	return r && dwarf_offdie(dwarf_cu_getdwarf(unit->cu), r->die, ret);
}

void dwarf_functions_fini(struct dwarf_functions *f)
{
	for (uint32_t i = 0; i < f->units.n; i++)
		free(f->units.v[i].functions.list.v);
	free(f->units.v);
	*f = (struct dwarf_functions){ 0 };
}
