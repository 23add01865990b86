/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build - the unwind table of an ELF file
 *
 * Its sources, each only for code that earlier ones do not cover: .eh_frame (found
 * by its section, or through PT_GNU_EH_FRAME); known code (known.h); tables of
 * runtimes; .debug_frame of the file, or of its debug file.  .debug_frame comes
 * last: for code with tables of its own it does not say where frame pointers are.
 */
#ifndef SYMBOLIZERD_UNWIND_BUILD_H
#define SYMBOLIZERD_UNWIND_BUILD_H

#include <stddef.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/unwind/cfi.h"

#define UNWIND_SPANS	40	/* loops of interpreters, and their parts, in a file */

/* Gives rows to fn, as cfi_walk() does.  JOB_OK, also for a file of another runtime;
 * a verdict; or what fn returned (negative).  Two kinds of row are no rules for
 * code: CFA_RUNTIME is about the whole file, at places below RUNTIME_FACTS, or says
 * which text lies there; CFA_NONE with RULE_LOOP says where
 * the loop of an interpreter is, whatever the rules there, and with RULE_LOOP_PART
 * where functions are that are part of it. */
typedef int (*unwind_rows_fn)(const struct elf_file *f, cfi_row_fn fn,
			      void *ctx);

/* JOB_OK and malloc'ed bytes (bpf/table.h; without pages if the file says
 * nothing), or a verdict.  rows: of runtimes (runtimes_rows()), or NULL. */
int unwind_build(const struct elf_file *f, unwind_rows_fn rows, void **ret,
		 size_t *len);

#endif /* SYMBOLIZERD_UNWIND_BUILD_H */
