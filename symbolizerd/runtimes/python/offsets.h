/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets - does CPython's own table of offsets (since 3.13) agree with ours?
 *
 * _PyRuntime begins with a struct _Py_DebugOffsets, which is in the file.  The sampler
 * has layouts of its own (bpf/python.h); this says which of them a file has.
 */
#ifndef SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H
#define SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define OFFSETS_MINOR_MIN	13

/* root: _PyRuntime; minor: at least OFFSETS_MINOR_MIN.  Returns the file's layout, 0:
 * none of ours.  *free_threaded: it has no GIL. */
uint32_t offsets_layout(const struct elf_file *f, uint64_t root, uint32_t minor,
			bool *free_threaded);

#endif /* SYMBOLIZERD_RUNTIMES_PYTHON_OFFSETS_H */
