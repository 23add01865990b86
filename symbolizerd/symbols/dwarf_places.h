/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_places - functions, files, lines and inlined calls, address by address, or of a function
 *
 * By elfutils' libdw: DWARF 2 to 5, compressed sections, an alternate file of dwz, split
 * DWARF with the files that are available (split_units.h).
 * Only a worker may do this: libdw trusts what it reads more than we do.  The file is
 * mapped, so that one of gigabytes costs only what is read of it; if it shrinks
 * meanwhile, SIGBUS ends this process.
 *
 * Of the whole file only a list of its units' addresses is made, and only if
 * .debug_aranges does not have the address; functions and lines are read unit by
 * unit, for the first address in a unit.  So ask for many at once, and expect the first
 * answer to take long.  The cost of a visit is bounded by steps (DWARF_STEPS_MAX), by
 * the depth of nested entries, and by the worker's memory.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H
#define SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/symbols/dwarf_ranges.h"
#include "symbolizerd/symbols/index.h"

#define DWARF_STEPS_MAX		(20u << 20)	/* entries and ranges that are read */
#define DWARF_NAME_MAX		4096u		/* bytes of a string; the rest is cut */

struct dwarf_places;

/*
 * Open the DWARF of an ELF file: the program itself or its debug file (both have the
 * same addresses).  alt_fd: the file that dwz moved common parts to, -1: none.  Both
 * are borrowed until the close.  JOB_OK or a verdict; also JOB_OK if there is no DWARF.
 */
int dwarf_places_open(int fd, int alt_fd, struct dwarf_places **ret);

/*
 * The units of split DWARF (-gsplit-dwarf) are in other files; without them there are
 * lines, but no inlined calls, and no functions from DWARF.  For the first such unit, fn
 * is called for the package of all units (.dwp), with name NULL.  If there is none, it
 * is called for each unit's .dwo file: its name, and where the compiler ran, as in the
 * file; dir may be NULL.  fn returns a descriptor, which the callee then owns, or -1.
 */
typedef int (*dwarf_open_fn)(void *arg, const char *name, const char *dir);
void dwarf_places_split(struct dwarf_places *d, dwarf_open_fn fn, void *arg);

void dwarf_places_close(struct dwarf_places *d);

/* Is there any DWARF? */
bool dwarf_places_any(const struct dwarf_places *d);

/*
 * The functions at this virtual address: the innermost inlined one first, the one that
 * has an address of its own last.  Returns how many; 0: nothing is known.  Each has
 * its file and line (all but the first, those of a call), and first_line only if the
 * function is declared in that file.  .system is the linkage name, .name its demangled
 * form, or the name in the source; it is "" only in the last one, and in a single one
 * where only the line is known.  Strings live until the close.
 */
uint32_t dwarf_places_at(struct dwarf_places *d, uint64_t vaddr,
			 struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* A piece of code, and where in it places may change: .n addresses, the first of which is
 * span.low. */
struct dwarf_code {
	struct dwarf_span span;
	uint64_t *at;		/* borrowed, until the next piece */
	uint32_t n;
};

/*
 * The piece around an address that belongs to one function, or to none, within ret->span, which
 * has the address.  Where places change there more than max times, it is cut after each max of
 * these, and the part with the address is it: from all of its addresses it is the same.
 * False: nothing is known but with dwarf_places_at().
 */
bool dwarf_places_around(struct dwarf_places *d, uint64_t vaddr, uint32_t max,
			 struct dwarf_code *ret);

/* As dwarf_places_at() at an address of that piece. */
uint32_t dwarf_places_within(struct dwarf_places *d, uint64_t vaddr,
			     struct symbol_place ret[SYMBOL_DEPTH_MAX]);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_PLACES_H */
