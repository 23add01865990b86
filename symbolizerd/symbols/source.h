/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - functions of a file as its runtime has them written down
 *
 * What a language implements so that symbols_build() (index_build.h) takes
 * names and lines from its tables.
 */
#ifndef SYMBOLIZERD_SYMBOLS_SOURCE_H
#define SYMBOLIZERD_SYMBOLS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/lines_build.h"

struct source_names {		/* of one file */
	void *state;		/* the source's own */
	const char *names;	/* what all names lie in */
	uint32_t n;		/* functions; 0: it has nothing for this file */
};

struct source_function {
	uint64_t start, end;	/* virtual addresses */
	uint32_t before;	/* bytes before start that belong to it */
	const char *name;	/* in .names, NUL-terminated, not "" */
};

struct symbol_source {
	/* JOB_OK, also with .n = 0; or a verdict.  close() either way. */
	int (*open)(const struct elf_file *f, struct source_names *ret);
	/* Function i of .n; false: it is broken, or has no name. */
	bool (*function)(const struct source_names *s, uint32_t i,
			 struct source_function *ret);
	/* A name as people know it: an offset, as of lines_string(). */
	uint32_t (*name)(struct lines_builder *b, const char *name);
	/* Give its lines to the builder; their place, or SYMBOL_NO_LINES. */
	uint32_t (*lines)(struct source_names *s, uint32_t i,
			  struct lines_builder *b);
	void (*close)(struct source_names *s);
};

/* Source i, or NULL behind the last. */
typedef const struct symbol_source *(*symbol_sources_fn)(size_t i);

#endif /* SYMBOLIZERD_SYMBOLS_SOURCE_H */
