/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - an unwind table as text
 *
 * One line a range of addresses:
 *
 *	0x1139-0x113a cfa=rsp+8 ra=*(cfa-8) main
 *	0x113a-0x113d cfa=rsp+16 ra=*(cfa-8) rbp=*(cfa-16) main
 *
 * Addresses are virtual ones of the file, as in readelf and nm.  Instead of a
 * rule there may be "none" (the unwinder uses the frame pointer), "end" (of the
 * stack), "signal" (a signal frame: all registers are in it) and "unsupported"
 * (a rule cannot express what the file says).
 */
#ifndef SYMBOLIZERD_UNWIND_SHOW_H
#define SYMBOLIZERD_UNWIND_SHOW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/unwind/build.h"

/* Print the rule at each of n addresses; without addresses, the whole table.
 * JOB_OK or a verdict (ipc/message.h). */
int show_table(const struct elf_file *f, unwind_rows_fn rows,
	       symbol_sources_fn sources, const uint64_t *at, size_t n,
	       FILE *to);

#endif /* SYMBOLIZERD_UNWIND_SHOW_H */
