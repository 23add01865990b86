/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges - where functions begin and end, by a file's call frame information
 *
 * For files without names: each FDE describes one function, or a part of one.
 * The sorted table of .eh_frame_hdr (LSB 5.0, 10.6.2) says where they begin,
 * the FDE how far they reach.  Only the encodings that all linkers and
 * compilers write are read: 4 bytes, relative to the place (DW_EH_PE_pcrel |
 * sdata4) or to the header (datarel | sdata4).
 */
#ifndef SYMBOLIZERD_SYMBOLS_RANGES_H
#define SYMBOLIZERD_SYMBOLS_RANGES_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define RANGES_MAX	(1u << 20)	/* of a file; the rest is left out */

struct code_range {
	uint64_t vaddr;
	uint32_t size;		/* bytes, not 0 */
};

/* Ranges in the order of the file's table, which should be ascending: *n of
 * them, malloc'ed.  What does not hold together is left out.  JOB_OK, also
 * without any; or JOB_NO_MEMORY. */
int ranges_read(const struct elf_file *f, struct code_range **ret, uint32_t *n);

#endif /* SYMBOLIZERD_SYMBOLS_RANGES_H */
