/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_units - the units of split DWARF (-gsplit-dwarf) that a file has skeletons of
 *
 * libdw joins a skeleton with its unit only if it opens the .dwo itself, by its path,
 * which a worker cannot; before 0.191 it knows no packages.  So for each unit that is
 * asked for, libdw is given a file in memory that is nothing but headers: its sections
 * are parts of the .dwo or of the package, and the parts of the program's file that the
 * unit refers to, cut so that what the skeleton gives as bases is 0.  That is DWARF
 * which libdw reads as it reads any other, nothing is copied, and what it costs is what
 * one unit costs, however large the package.  Only range lists are read by ourselves
 * (dwarf_ranges.h): they count from the skeleton's address.
 */
#ifndef SYMBOLIZERD_SYMBOLS_SPLIT_UNITS_H
#define SYMBOLIZERD_SYMBOLS_SPLIT_UNITS_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/vector.h"
#include "symbolizerd/symbols/dwarf_functions.h"
#include "symbolizerd/symbols/split_file.h"

struct split_stub;

/* Never moved: other parts point into it. */
struct split_unit {
	Dwarf_Off skeleton;
	Dwarf_Die die;			/* of the whole unit */
	struct split_lists lists;
	struct dwarf_functions functions;
	struct split_stub *stub;	/* NULL: it is not at hand */
	Elf *elf;
	Dwarf *dbg;
};

/* The file that has this unit; the same one may be given again.  NULL: none. */
typedef const struct split_file *(*split_find_fn)(void *arg, Dwarf_Die *skeleton);

struct split_units {
	Elf *main;			/* of the skeletons; borrowed, as is all here */
	uint32_t *steps;		/* left */
	split_find_fn find;		/* NULL: there are no files */
	void *arg;
	Dwarf_OOM no_memory;
	struct split_bytes addresses, ranges;	/* of main, whole */
	bool begun;
	VECTOR(struct split_unit *) units;
};

/* Does it stand for one in another file?  If so, for that one: */
bool split_is_skeleton(Dwarf_Die *unit, uint64_t *dwo_id);

/* The whole unit of this one; NULL: it is no skeleton, or its file is not at hand or
 * has another ID.  It is looked for once. */
struct split_unit *split_units_get(struct split_units *s, Dwarf_Die *skeleton);
/* broken: libdw is not to be used any more. */
void split_units_fini(struct split_units *s, bool broken);

#endif /* SYMBOLIZERD_SYMBOLS_SPLIT_UNITS_H */
