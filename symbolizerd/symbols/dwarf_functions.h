/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_functions - which function of a unit has an address, and which calls are inlined
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_FUNCTIONS_H
#define SYMBOLIZERD_SYMBOLS_DWARF_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/symbols/dwarf_ranges.h"
#include "symbolizerd/symbols/index.h"

#define DWARF_NEST_MAX	128	/* nested entries */

struct dwarf_unit {
	Dwarf_Off die;
	struct dwarf_ranges functions;
	bool deep;		/* with functions within functions */
};

struct dwarf_functions {
	uint32_t *steps;	/* left; borrowed, as is the next */
	const struct split_lists *lists;	/* of a split unit; NULL: of a whole file */
	VECTOR(struct dwarf_unit) units;
};

/*
 * The function of this unit that has the address, then the calls inlined there, the
 * outermost first.  Returns how many, 0 if there is no function.  Beyond
 * SYMBOL_DEPTH_MAX the innermost are left out.
 */
uint32_t dwarf_functions_at(struct dwarf_functions *f, Dwarf_Die *unit, uint64_t vaddr,
			    Dwarf_Die ret[SYMBOL_DEPTH_MAX]);

/* Only the function.  s, in which the address is, becomes the part of it that belongs to it,
 * or, without one, to none.  False: there is none. */
bool dwarf_functions_narrow(struct dwarf_functions *f, Dwarf_Die *unit, uint64_t vaddr,
			    struct dwarf_span *s, Dwarf_Die *ret);

/* A block without addresses only groups its entries. */
bool dwarf_block_is_open(Dwarf_Die *die);

void dwarf_functions_fini(struct dwarf_functions *f);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_FUNCTIONS_H */
