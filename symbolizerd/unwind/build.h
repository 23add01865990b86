/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - the unwind table of an ELF file
 *
 * From .eh_frame (found by its section, else through PT_GNU_EH_FRAME); for what
 * it does not speak of, for places that are known (known.h); for Go code from
 * pclntab; then from .debug_frame of the same file, or of its debug file, which
 * for Go code would not say where frame pointers are.
 */
#ifndef SYMBOLIZERD_UNWIND_BUILD_H
#define SYMBOLIZERD_UNWIND_BUILD_H

#include <stddef.h>

#include "symbolizerd/elf/elf_file.h"

/* JOB_OK and malloc'ed bytes (bpf/table.h; no pages if the file says
 * nothing), or a verdict. */
int unwind_build(const struct elf_file *f, void **ret, size_t *len);

#endif /* SYMBOLIZERD_UNWIND_BUILD_H */
