/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self - HotSpot's tables of its own types: gHotSpotVMStructs and gHotSpotVMTypes
 *
 * libjvm.so exports both for debuggers, and they are in the file: for each member its
 * offset, for each type its size (OpenJDK, src/hotspot/share/runtime/vmStructs.hpp).
 * Pointers in them are read as GNU ld has written them in the file.
 *
 * The offset of a member is in the table (JDK 11, and since 26), or a function of
 * .init_array writes it there, where it was no constant for the compiler (8, 17, 21,
 * 25): stores.h.
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
	struct elf_bytes strings;	/* the section with their names */
	uint64_t fields_at, types_at;	/* virtual addresses of the tables */
	uint32_t n_fields, n_types;
	uint64_t *offsets;		/* [n_fields] */
};

/* The tables that the variables at these addresses point to.  False: the file does
 * not have them in this form.  Ended by self_close(), also after a failure. */
bool self_open(struct self *s, const struct elf_file *f, uint64_t fields,
	       uint64_t types);
void self_close(struct self *s);

/* Virtual address of a static member. */
bool self_static(const struct self *s, const char *type, const char *field,
		 uint64_t *ret);

/* Offset of a member from the object's start. */
bool self_offset(const struct self *s, const char *type, const char *field,
		 uint64_t *ret);

/* sizeof(type). */
bool self_size(const struct self *s, const char *type, uint64_t *ret);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_SELF_H */
