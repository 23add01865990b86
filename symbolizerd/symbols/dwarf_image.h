/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_image - a file with DWARF, mapped for libdw
 *
 * Sections that are not read are hidden from libdw, which would uncompress them.
 */
#ifndef SYMBOLIZERD_SYMBOLS_DWARF_IMAGE_H
#define SYMBOLIZERD_SYMBOLS_DWARF_IMAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbolizerd/symbols/split_file.h"

#define DWARF_INFLATED_MAX	(384u << 20)	/* bytes of all compressed sections */

/* An ELF file, mapped, and its DWARF. */
struct dwarf_image {
	void *map;		/* NULL: none */
	size_t len;
	Elf *elf;
	Dwarf *dbg;		/* unless it is split DWARF */
	struct split_file split;	/* if it is */
};

/* split: a .dwo file or a package.  JOB_OK or a verdict; also JOB_OK if there is no DWARF:
 * then there is no .elf.  What was opened is to be closed in any case. */
int dwarf_image_open(struct dwarf_image *m, int fd, bool split);
void dwarf_image_close(struct dwarf_image *m);

#endif /* SYMBOLIZERD_SYMBOLS_DWARF_IMAGE_H */
