/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes - what a worker asks of all runtimes
 *
 * It lets unwind/, symbols/ and worker/ work without naming a language.
 */
#ifndef SYMBOLIZERD_RUNTIMES_RUNTIMES_H
#define SYMBOLIZERD_RUNTIMES_RUNTIMES_H

#include "symbolizerd/runtimes/runtime.h"

/* What the first runtime says whose file it is; all 0: none's. */
void runtimes_detect(const struct elf_file *f, struct runtime_facts *ret);

/* The rows of all runtimes, for unwind_build(). */
int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx);

/* Their sources of names, for symbols_build(): number i, or NULL. */
const struct symbol_source *runtimes_symbols(size_t i);

/* Names of a process's frames by the runtime that walked them.  As
 * runtime_ops.names says; JOB_NO_NAMES: there is no such runtime, or it has no
 * frames of its own. */
int runtimes_names(uint32_t runtime, struct process_memory *m,
		   const uint64_t *words, size_t n,
		   struct frame_names_build *out);

#endif /* SYMBOLIZERD_RUNTIMES_RUNTIMES_H */
