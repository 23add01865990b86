/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows - from pclntab to unwind rules
 *
 * The pcsp tables say, for each instruction, how far the stack pointer is below
 * where the function was entered.  That is exact, except in functions that set
 * the stack pointer (systemstack, asmcgocall, cgocallback, calls into the vDSO):
 * these are unwound by frame pointer, to the stack where they were called.
 * Stacks end at the functions where Go's own traceback ends, and at the switches
 * that nothing returns through (mcall, morestack, gogo).
 *
 * Where a function keeps its caller's frame pointer is read from its first
 * instructions (cmd/internal/obj/x86/obj6.go, .../arm64/obj7.go).  Go 1.16 to
 * 1.20 give systemstack and asmcgocall no frame of their own: their direct
 * caller is missing then.
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_ROWS_H
#define SYMBOLIZERD_RUNTIMES_GO_ROWS_H

#include "bpf/table.h"
#include "symbolizerd/runtimes/go/pclntab.h"

/* Receives [start, end) of virtual addresses.  Negative ends the walk. */
typedef int (*go_row_fn)(void *ctx, uint64_t start, uint64_t end,
			 const struct unwind_rule *rule);

/* JOB_OK, a verdict, or what fn returned (negative).  A file that is not Go's
 * has no rows. */
int go_rows(const struct elf_file *f, go_row_fn fn, void *ctx);

/* What a signal handler returns to: its frame is looked up by its first address
 * minus one. */
bool go_is_trampoline(const struct pclntab_func *fn);

#endif /* SYMBOLIZERD_RUNTIMES_GO_ROWS_H */
