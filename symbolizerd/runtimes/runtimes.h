/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes - all runtimes as one, for a worker
 *
 * With this, unwind/, symbols/ and worker/ name no language.
 */
#ifndef SYMBOLIZERD_RUNTIMES_RUNTIMES_H
#define SYMBOLIZERD_RUNTIMES_RUNTIMES_H

#include "symbolizerd/runtimes/runtime.h"

/*
 * What a runtime says of the file: the first one that has facts or spans, or else the first
 * that finds it; all 0: none does.  (A program of a compiled language may contain an
 * interpreter.)  With f->found = ret, runtimes_rows() does not ask again.
 */
void runtimes_find(const struct elf_file *f, struct runtime_found *ret);

/* The rows of all runtimes, for unwind_build(): of facts, spans, and code. */
int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx);

/* Source i of names of all runtimes, for symbols_build(); NULL after the last. */
const struct symbol_source *runtimes_symbols(size_t i);

/* Do the runtime's own tables have all lines of its files? */
bool runtimes_have_lines(uint32_t runtime);

/* Names of a process's frames by the runtime that walked them.  As
 * runtime_ops.names says; JOB_NO_NAMES: there is no such runtime, or it reads no
 * names. */
int runtimes_names(uint32_t runtime, struct process_memory *m,
		   const uint64_t *words, size_t n,
		   struct frame_names_build *out);

#endif /* SYMBOLIZERD_RUNTIMES_RUNTIMES_H */
