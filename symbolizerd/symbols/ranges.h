/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges - the functions of a file without names
 *
 * Each FDE of its call frame information describes one function, or a part of one:
 * the table of eh_frame_hdr.h says where they begin, the FDE how far they reach.
 *
 * Two may be known all the same.  The entry point of a program that was linked with
 * glibc's crt1.o is _start, whose instructions are always the same; on x86-64 it
 * passes the address of main() in rdi (glibc, sysdeps/x86_64/start.S,
 * sysdeps/aarch64/start.S; all since 2.3 and 2.17).
 */
#ifndef SYMBOLIZERD_SYMBOLS_RANGES_H
#define SYMBOLIZERD_SYMBOLS_RANGES_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define RANGES_MAX	(1u << 20)	/* of a file; the rest is left out */

enum range_known { RANGE_UNKNOWN, RANGE_START, RANGE_MAIN };

struct code_range {
	uint64_t vaddr;
	uint32_t size;		/* bytes, not 0 */
	enum range_known known;
};

/* Ranges in the order of the file's table, which should be ascending: *n of
 * them, malloc'ed.  What does not hold together is left out.  JOB_OK, also
 * without any; or JOB_NO_MEMORY. */
int ranges_read(const struct elf_file *f, struct code_range **ret, uint32_t *n);

#endif /* SYMBOLIZERD_SYMBOLS_RANGES_H */
