/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code - what CPython's machine code tells where no symbol does
 *
 * The cost is in proportion to the code of one function, which is at most
 * CODE_MAX, and to the table in PT_GNU_EH_FRAME.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_CODE_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/elf/eh_frame_hdr.h"
#include "symbolizerd/elf/elf_file.h"

#define CODE_MAX	(1u << 20)	/* bytes of a function, or it is none; the
					 * largest loop seen: 84,423 */

struct code_span {
	uint64_t start, end;	/* virtual addresses */
};

/* Read code of an executable segment; false: it is none. */
bool code_read(const struct elf_file *f, uint64_t start, uint64_t len,
	       struct elf_bytes *ret);

/* A function that is `return variable;` of 8 bytes: where that lies. */
bool code_returns(const struct elf_file *f, uint64_t function, uint64_t *ret);

/* The same of a variable of each thread, in an executable: where that lies from
 * the thread pointer. */
bool code_returns_tls(const struct elf_file *f, uint64_t function, int32_t *ret);

/*
 * The other part of a function that GCC split (-freorder-blocks-and-partition):
 * it has an FDE of its own, and, without .symtab, no name.  Jumps from each into
 * the middle of the other tell: to other functions there are only calls, and
 * jumps to where they begin.
 */
bool code_other_part(const struct elf_file *f, const struct code_span *function,
		     struct code_span *ret);

/* The last function of the table that begins before an address; -1: none. */
int64_t code_fde_before(const struct eh_frame_hdr *t, uint64_t addr);

/* The range of function i, by its FDE.  False: that contradicts the table, or is too
 * large. */
bool code_fde_range(const struct elf_file *f, const struct eh_frame_hdr *t, size_t i,
		    struct code_span *ret);

typedef void (*jump_fn)(void *ctx, uint64_t target);

/* Where direct jumps in a range go to, and what looks like them; false: it is no
 * code of at most CODE_MAX. */
bool jumps_of(const struct elf_file *f, const struct code_span *r, jump_fn fn,
	      void *ctx);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_CODE_H */
