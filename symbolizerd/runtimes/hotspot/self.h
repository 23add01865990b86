/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self - what HotSpot says of itself: gHotSpotVMStructs and gHotSpotVMTypes
 *
 * Both are tables that libjvm.so exports for debuggers, in the file: of each member
 * where it lies, of each type how large it is (OpenJDK,
 * src/hotspot/share/runtime/vmStructs.hpp).  Pointers in them are read as they stand
 * in the file, where GNU ld writes them.
 *
 * How far a member lies from the object's start stands in the table (of JDK 11, and
 * since 26), or is written there by a function of .init_array, where the compiler
 * took it for no constant (8, 17, 21, 25): stores.h.
 *
 * The cost is in proportion to three sections, at most SELF_SECTION_MAX each, and
 * SELF_CODE_MAX.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_SELF_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define SELF_SECTION_MAX	(16u << 20)	/* seen: 1.0 MiB, .rodata */
#define SELF_CODE_MAX		(4u << 20)	/* seen: 0.3 MiB */
#define SELF_ENTRIES_MAX	4096		/* seen: 826 */

struct self {
	struct elf_bytes fields, types;	/* the sections with the tables */
	struct elf_bytes strings;	/* with their names */
	uint64_t fields_at, types_at;	/* virtual addresses of the tables */
	uint32_t n_fields, n_types;
	uint64_t *offsets;		/* of each of n_fields */
};

/* The tables that the variables at these addresses lead to.  False: the file does
 * not have them as above.  Free with self_close(), also then. */
bool self_open(struct self *s, const struct elf_file *f, uint64_t fields,
	       uint64_t types);
void self_close(struct self *s);

/* Where a static member lies: its virtual address. */
bool self_static(const struct self *s, const char *type, const char *field,
		 uint64_t *ret);

/* Where a member lies, from the object's start. */
bool self_offset(const struct self *s, const char *type, const char *field,
		 uint64_t *ret);

/* sizeof(type). */
bool self_size(const struct self *s, const char *type, uint64_t *ret);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_SELF_H */
