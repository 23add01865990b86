/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_inlined - all calls that are inlined into a function, read at once
 *
 * For many addresses of one function; for a single one there is dwarf_functions_at(), which
 * says the same.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_INLINED_H
#define SYMBOLIZERD_SYMBOLS_DWARF_INLINED_H

#include "symbolizerd/symbols/dwarf_functions.h"

#define DWARF_INLINED_MAX	(64u << 10)	/* entries, and ranges, of a function */

/* An inlined call, or a block. */
struct dwarf_inlined_entry {
	Dwarf_Die die;
	uint32_t end;		/* after the entries within it */
	uint32_t first, n;	/* its ranges */
	bool call;
	bool open;		/* a block without addresses */
};

struct dwarf_inlined {
	VECTOR(struct dwarf_inlined_entry) entries;	/* each before those within it */
	VECTOR(struct dwarf_span) ranges;
};

/* Read those of a function, which f has.  False: too many, no memory, or no steps are left. */
bool dwarf_inlined_read(struct dwarf_inlined *t, const struct dwarf_functions *f,
			Dwarf_Die *function);

/* The calls at this address, the outermost first: how many.  Beyond max the innermost are
 * left out. */
uint32_t dwarf_inlined_at(const struct dwarf_inlined *t, uint64_t vaddr, Dwarf_Die *ret,
			  uint32_t max);

void dwarf_inlined_fini(struct dwarf_inlined *t);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_INLINED_H */
