/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets - what CPython says of itself, since 3.13
 *
 * _PyRuntime begins with a struct _Py_DebugOffsets, which stands in the file.  The
 * sampler goes by a layout of its own (bpf/python.h); this tells whether a file
 * agrees.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define OFFSETS_MINOR_MIN	13

/* root: _PyRuntime; minor: from OFFSETS_MINOR_MIN.  Returns the layout that the
 * file has; 0: another than all that there are. *free_threaded: it has no GIL. */
uint32_t offsets_layout(const struct elf_file *f, uint64_t root, uint32_t minor,
			bool *free_threaded);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H */
