/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_units - the units of split DWARF (-gsplit-dwarf) that a file has skeletons of
 *
 * libdw joins a skeleton with its unit only if it opens the .dwo itself, by its path,
 * which a worker cannot; before 0.191 it does not support packages.  So for each unit
 * that is asked for, libdw gets a file in memory that consists of headers: its sections
 * are parts of the .dwo or of the package, and those parts of the program's file that
 * the unit refers to, cut so that the skeleton's bases become 0.  libdw reads that as
 * any other DWARF; nothing is copied, and the cost is that of one unit, however large
 * the package is.  Only range lists are read without libdw (dwarf_ranges.h): they are
 * relative to the skeleton's address.
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

/* Never moved: there are pointers into it. */
struct split_unit {
	Dwarf_Off skeleton;
	Dwarf_Die die;			/* of the whole unit */
	struct split_lists lists;
	struct dwarf_functions functions;
	struct split_stub *stub;	/* NULL: the unit is not available */
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

/* Is this unit the skeleton of one in another file?  *dwo_id: of that one. */
bool split_is_skeleton(Dwarf_Die *unit, uint64_t *dwo_id);

/* The whole unit of a skeleton; NULL: it is not a skeleton, or its file is not available
 * or has another ID.  It is searched for only once. */
struct split_unit *split_units_get(struct split_units *s, Dwarf_Die *skeleton);
/* broken: libdw must not be used any more. */
void split_units_fini(struct split_units *s, bool broken);

#endif /* SYMBOLIZERD_SYMBOLS_SPLIT_UNITS_H */
