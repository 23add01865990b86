/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find - CPython in an executable or a libpython, under any name
 *
 * By the exported names of the C API: extensions and programs that embed CPython need
 * them, so they are there also without debug symbols.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_FIND_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/runtimes/python/code.h"

#define PYTHON_LOOPS	2	/* the loop, and its part that seldom runs */
#define PYTHON_PARTS	32	/* ranges; clang without a profile makes 3 */

struct python_file {
	uint32_t minor;		/* of 3.x; 0: not known */
	bool free_threaded;	/* known from 3.13 on */
	uint32_t layout;	/* number in bpf/python.h; 0: none */
	uint64_t root;		/* virtual address of _PyRuntime; of 3.6, of
				 * interp_head */
	int32_t thread_at;	/* PYTHON_THREAD_AT */
	uint32_t n_loops;
	struct code_span loop[PYTHON_LOOPS];
	uint32_t n_parts;	/* functions that the loop calls and that are part of
				 * it (tail.h) */
	struct code_span part[PYTHON_PARTS];
};

/* False: it is not CPython. */
bool python_find_in(const struct elf_file *f, struct python_file *ret);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_FIND_H */
