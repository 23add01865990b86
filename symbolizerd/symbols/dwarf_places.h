/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_places - functions, files, lines and inlined calls, address by address
 *
 * By elfutils' libdw: DWARF 2 to 5, compressed sections, an alternate file of dwz, split
 * DWARF with the files at hand (split_units.h).
 * Only a worker may do this: libdw trusts what it reads more than we do.  The file is
 * mapped, so that one of gigabytes costs what is looked at; who shrinks it meanwhile
 * ends this process by SIGBUS.
 *
 * Nothing is made of the whole file but a list of its units' addresses, and that only
 * if .debug_aranges does not have the address; functions and lines are read unit by
 * unit, when the first address of a unit is asked for.  So ask for many at once, and
 * expect the first answer to take long.  What a visit costs is bounded by steps
 * (DWARF_STEPS_MAX), by the depth of what is nested, and by the worker's memory.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H
#define SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/symbols/index.h"

#define DWARF_STEPS_MAX		(20u << 20)	/* entries and ranges looked at */
#define DWARF_NAME_MAX		4096u		/* bytes of a string; the rest is cut */
#define DWARF_INFLATED_MAX	(384u << 20)	/* bytes of all compressed sections */

struct dwarf_places;

/*
 * Open the DWARF of an ELF file: the program itself or its debug file (both have the
 * same addresses).  alt_fd: the file that dwz moved common parts to, -1: none.  Both
 * are borrowed until the close.  JOB_OK or a verdict; also JOB_OK if there is no DWARF.
 */
int dwarf_places_open(int fd, int alt_fd, struct dwarf_places **ret);

/*
 * The units of split DWARF (-gsplit-dwarf) are in other files; without them there are
 * lines, but no inlined calls, and no functions by DWARF.  When the first such unit is met,
 * fn is called for the package that has all of them (.dwp): name is NULL.  If there is
 * none, it is called for each unit's .dwo file: its name, and where the compiler ran, as
 * the file says it; that may be NULL.  fn gives a descriptor, whose owner it is no longer,
 * or -1.
 */
typedef int (*dwarf_open_fn)(void *arg, const char *name, const char *dir);
void dwarf_places_split(struct dwarf_places *d, dwarf_open_fn fn, void *arg);

void dwarf_places_close(struct dwarf_places *d);

/* Is there any DWARF? */
bool dwarf_places_any(const struct dwarf_places *d);

/*
 * What is at this virtual address: the innermost inlined function first, the function
 * that has an address of its own last.  How many; 0: nothing is known.  Each has the
 * file and line at hand (of a call, all but the first), and first_line only if the
 * function is declared in that file.  .system is the linkage name, .name what it
 * demangles to, or what the source calls it; only the last one's may be "", and
 * a single one's where only the line is known.  Strings live until the close.
 */
uint32_t dwarf_places_at(struct dwarf_places *d, uint64_t vaddr,
			 struct symbol_place ret[SYMBOL_DEPTH_MAX]);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H */
