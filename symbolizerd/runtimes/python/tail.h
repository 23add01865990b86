/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail - the tail-calling interpreter, whose loop is many functions
 *
 * In such a build (3.14 and later, --with-tail-call-interp, clang 19 or later) each
 * instruction is a function that jumps to the next one through a table; the loop
 * only calls the first one.  So there are two native frames: of the loop, and of the
 * instruction that runs.  x86-64; no symbols are needed.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/python/code.h"

#define TAIL_LOOP_MAX	8192	/* bytes of such a loop; with clang 19: 665.  Other
				 * loops are larger, or have no such table */

/*
 * The ranges of these functions, ascending, at most max; 0: another kind of loop.
 * These are the functions in a table of 256, whose address is in the loop or in a
 * function that it calls, and those that several of them jump to.
 */
uint32_t tail_parts(const struct elf_file *f, const struct code_span *loop,
		    struct code_span *ret, uint32_t max);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_TAIL_H */
