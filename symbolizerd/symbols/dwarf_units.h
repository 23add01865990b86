/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_units - which unit of a file's DWARF has an address
 *
 * .debug_aranges says it, of the units that it has; of the others (clang writes none)
 * the ranges of each unit are read, once.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_UNITS_H
#define SYMBOLIZERD_SYMBOLS_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/vector.h"
#include "symbolizerd/symbols/split_ranges.h"

#define DWARF_RANGES_MAX	(2u << 20)	/* of all units, or of a unit's functions */
#define DWARF_RANGE_BACK	16	/* ranges may overlap: so many are tried */

struct dwarf_range {
	uint64_t low, high;	/* virtual addresses; high: behind the last */
	Dwarf_Off die;
};

struct dwarf_ranges {
	VECTOR(struct dwarf_range) list;
	bool ordered;
};

/* The ranges of a unit or function: false when there is no room, or no steps are
 * left.  Code at address 0 is what a linker threw away.  lists: of a split unit,
 * otherwise NULL. */
bool dwarf_ranges_add(struct dwarf_ranges *r, Dwarf_Die *die, const struct split_lists *lists,
		      uint32_t *steps);

/* The entry that has this address and begins last; NULL: none. */
const struct dwarf_range *dwarf_ranges_find(struct dwarf_ranges *r, uint64_t vaddr);

struct dwarf_units {
	Dwarf *dbg;		/* borrowed, as is the next */
	uint32_t *steps;	/* left */
	Dwarf_Aranges *aranges;
	struct dwarf_ranges ranges;
	bool begun, read;
};

/* The unit's entry, and where that part of its code begins that has the address. */
bool dwarf_units_find(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret, uint64_t *low);
void dwarf_units_fini(struct dwarf_units *u);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_UNITS_H */
