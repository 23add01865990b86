/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code - what CPython's machine code says where there is no symbol
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

#define CODE_MAX	(1u << 20)	/* bytes of a function; larger ones are ignored.
					 * The largest loop seen: 84,423 */

struct code_span {
	uint64_t start, end;	/* virtual addresses */
};

/* Read code; false: it is not in one executable segment. */
bool code_read(const struct elf_file *f, uint64_t start, uint64_t len,
	       struct elf_bytes *ret);

/* The address of a variable of 8 bytes, whose value is all that a function returns. */
bool code_returns(const struct elf_file *f, uint64_t function, uint64_t *ret);

/* The same for a thread-local variable of an executable: its offset from the thread
 * pointer. */
bool code_returns_tls(const struct elf_file *f, uint64_t function, int32_t *ret);

/*
 * The other part of a function that GCC split (-freorder-blocks-and-partition): it
 * has an FDE of its own and, without .symtab, no name.  It is found by jumps from
 * each part into the middle of the other: other functions are only called, or
 * jumped to where they begin.
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

/* Calls fn with the targets of direct jumps in a range, and of what looks like one.
 * False: it is not code of at most CODE_MAX. */
bool code_jumps(const struct elf_file *f, const struct code_span *r, jump_fn fn,
		void *ctx);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_CODE_H */
