/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - functions, files, lines and inlined calls of a Go file, by its pclntab
 *
 * Lines are made from a function's pcfile and pcln tables and its inlining tree, as
 * runtime.CallersFrames reads them (runtime/symtabinl.go).  Names are printed as
 * Go's tools print them: without type arguments (runtime/symtab.go,
 * funcNameForPrint).
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_NAMES_H
#define SYMBOLIZERD_RUNTIMES_GO_NAMES_H

#include "symbolizerd/symbols/index_build.h"

extern const struct symbol_source go_symbols;

#endif /* SYMBOLIZERD_RUNTIMES_GO_NAMES_H */
