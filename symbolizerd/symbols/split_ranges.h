/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_ranges - which addresses an entry of a split unit has
 *
 * libdw reads range lists of split units only if it has opened both files itself:
 * the addresses, and in DWARF 4 the lists too, are in the program's file, and count
 * from where the skeleton's code begins.
 */
#ifndef SYMBOLIZERD_SYMBOLS_SPLIT_RANGES_H
#define SYMBOLIZERD_SYMBOLS_SPLIT_RANGES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "symbolizerd/symbols/split_file.h"

/* What a unit's lists are made of; all of it borrowed. */
struct split_lists {
	struct split_bytes ranges;	/* .debug_ranges behind the unit's base, or
					 * .debug_rnglists.dwo with its header */
	struct split_bytes addresses;	/* .debug_addr behind the unit's base */
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

/* The next range, high behind its last byte.  False: there are no more, or they
 * cannot be read, or no steps are left. */
bool split_walk_next(struct split_walk *w, uint64_t *low, uint64_t *high);

#endif /* SYMBOLIZERD_SYMBOLS_SPLIT_RANGES_H */
