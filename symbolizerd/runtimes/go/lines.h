/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines - files, lines and inlined calls of a Go function
 *
 * From its pcfile and pcln tables and its inlining tree, as runtime.CallersFrames
 * reads them (runtime/symtabinl.go).
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_LINES_H
#define SYMBOLIZERD_RUNTIMES_GO_LINES_H

#include "common/vector.h"
#include "symbolizerd/runtimes/go/pclntab.h"
#include "symbolizerd/symbols/lines_build.h"

/* A place in a function, as its tables have it. */
struct go_place {
	uint64_t start;		/* until the next one's start */
	int32_t inlined, file, line;	/* -1: none */
};

/* What is kept from one function to the next: start with all 0. */
struct go_lines {
	struct pclntab_window window;
	VECTOR(struct go_place) places;
	VECTOR(uint64_t) scopes;	/* their keys, as lines_scope() numbers
					 * them */
};

/* Give the lines of a function to the builder, from its entry on; its place
 * there, or SYMBOL_NO_LINES. */
uint32_t go_lines_add(struct go_lines *g, const struct pclntab *t,
		      const struct pclntab_func *fn, struct lines_builder *b);

/* A function's name as Go's tools print it: without its type arguments
 * (runtime/symtab.go, funcNameForPrint).  An offset, as of lines_string(). */
uint32_t go_lines_name(struct lines_builder *b, const char *name);

void go_lines_free(struct go_lines *g);

#endif /* SYMBOLIZERD_RUNTIMES_GO_LINES_H */
