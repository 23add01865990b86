/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_ranges - which addresses an entry of DWARF has
 *
 * libdw reads range lists of split units only if it has opened both files itself:
 * the addresses, and in DWARF 4 the lists too, are in the program's file, and are
 * relative to where the skeleton's code begins.  So those are read here.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_RANGES_H
#define SYMBOLIZERD_SYMBOLS_DWARF_RANGES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/vector.h"
#include "common/wire.h"
#include "symbolizerd/symbols/split_file.h"

/* The sections that a unit's lists are in; all borrowed. */
struct split_lists {
	struct split_bytes ranges;	/* .debug_ranges from the unit's base on, or
					 * .debug_rnglists.dwo with its header */
	struct split_bytes addresses;	/* .debug_addr from the unit's base on */
	uint64_t base;			/* where the unit's code begins, or 0 */
	bool rnglists;			/* DWARF 5 */
	uint32_t *steps;		/* left: one for each element of a list */
};

/* A walk over the ranges of an entry. */
struct split_walk {
	const struct split_lists *l;
	struct wire_in in;		/* the rest of its list */
	uint64_t base;
	uint64_t low, high;		/* of an entry with one range */
	bool one;
};

void split_walk_begin(struct split_walk *w, const struct split_lists *l, Dwarf_Die *die);

/* The next range; high: after its last byte.  False: there are no more, or they
 * cannot be read, or no steps are left. */
bool split_walk_next(struct split_walk *w, uint64_t *low, uint64_t *high);

#define DWARF_RANGES_MAX	(2u << 20)	/* of all units, or of a unit's functions */
#define DWARF_RANGE_BACK	16	/* ranges may overlap: this many are tried */

struct dwarf_range {
	uint64_t low, high;	/* virtual addresses; high: after the last */
	Dwarf_Off die;
};

struct dwarf_ranges {
	VECTOR(struct dwarf_range) list;
	bool ordered;
};

/* Add the ranges of a unit or function.  False: there is no room, or no steps are left.
 * Code at address 0 was dropped by the linker.  lists: of a split unit, otherwise
 * NULL. */
bool dwarf_ranges_add(struct dwarf_ranges *r, Dwarf_Die *die, const struct split_lists *lists,
		      uint32_t *steps);

/* Of the entries with this address, the one that begins last; NULL: none. */
const struct dwarf_range *dwarf_ranges_find(struct dwarf_ranges *r, uint64_t vaddr);

/* Addresses from low to high, which is after the last. */
struct dwarf_span {
	uint64_t low, high;
};

/* Likewise; and s, in which the address is, becomes the part of it where the answer is the
 * same. */
const struct dwarf_range *dwarf_ranges_narrow(struct dwarf_ranges *r, uint64_t vaddr,
					      struct dwarf_span *s);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_RANGES_H */
