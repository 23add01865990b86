/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail - the loop that is many functions: the tail-calling interpreter
 *
 * Built so (3.14 and later, --with-tail-call-interp, by clang 19 or later), each
 * instruction is a function that jumps to the next one by a table; the loop only calls
 * the first one.  So there are two native frames, of the loop and of the
 * instruction that runs.  x86-64; no symbols are needed.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/python/code.h"

#define TAIL_LOOP_MAX	8192	/* bytes of such a loop; clang 19's: 665.  Others are
				 * larger, or have no such table */

/*
 * The ranges of these functions, ascending, at most max; 0: this loop is none of
 * that kind.  They are those that a table of 256 leads to, which the
 * loop or what it calls names, and those that are jumped to by several of them.
 */
uint32_t tail_parts(const struct elf_file *f, const struct code_span *loop,
		    struct code_span *ret, uint32_t max);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H */
