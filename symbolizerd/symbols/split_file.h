/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_file - where a unit's DWARF is in a .dwo file or a .dwp package
 *
 * A .dwo file has the units of one compilation, a package those of many: its index
 * says which part of each section belongs to a unit's compilation.  Layout: DWARF 5, 7.3.5
 * (version 5); GCC wiki, DebugFissionDWP (version 2, of DWARF 4).
 */
#ifndef SYMBOLIZERD_SYMBOLS_SPLIT_FILE_H
#define SYMBOLIZERD_SYMBOLS_SPLIT_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPLIT_COLUMNS_MAX	16u	/* of an index; 8 kinds of sections are known */

struct split_bytes {
	const uint8_t *at;	/* NULL: none */
	size_t len;
};

enum split_part { SPLIT_INFO, SPLIT_ABBREV, SPLIT_STR, SPLIT_STR_OFFSETS, SPLIT_RNGLISTS,
		  SPLIT__PARTS };

struct split_file {
	struct split_bytes parts[SPLIT__PARTS];	/* the whole sections */
	struct split_bytes index;	/* .debug_cu_index: this is a package */
};

/* A section by its name, uncompressed; also one with the old name of compressed ones.
 * It lives as long as elf. */
struct split_bytes split_section(Elf *elf, const char *name);

void split_file_init(struct split_file *f, Elf *elf);

/*
 * The parts of the unit's compilation; one that it does not have, or that is outside of
 * its section, is empty.  False: the index does not have the unit, or contradicts
 * itself, or no steps are left: each slot that is read takes one.
 */
bool split_file_find(const struct split_file *f, uint64_t dwo_id, uint32_t *steps,
		     struct split_bytes ret[SPLIT__PARTS]);

#endif /* SYMBOLIZERD_SYMBOLS_SPLIT_FILE_H */
