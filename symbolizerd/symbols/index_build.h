/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_build - a symbol index from the symbol tables of an ELF file
 *
 * Functions that a runtime names itself (struct symbol_source); then those of .symtab (of
 * the debug file, if the file has none) at other addresses; then those of .dynsym;
 * then stubs (plt.h) as "f@plt", and the rest of their sections as ".plt" and the
 * like.  Without section headers .dynsym is found through PT_DYNAMIC.
 *
 * A symbol without a size (assembler) reaches to the next one or to the end of its
 * section (_init is not the name of the PLT after it), at most SYMBOL_UNSIZED_MAX
 * bytes.  Of two that overlap the one that begins later counts; after its end the
 * other goes on.  Data in executable sections counts as functions (GHC's are such).
 * Of several names at one address the one of the earlier table is taken, then a
 * function, then a sized one, then one that is not an old version, then one that C
 * does not reserve for its implementation (write, not __write; __vdso_time is not
 * such a name), then a global one, then one that is not weak, then the shortest, then
 * the first in the alphabet.  Versions are left out of names that are not mangled.
 * Where a file has neither a source nor .symtab, functions that .dynsym does not name
 * are the ranges of its call frame information (ranges.h).  Files and lines are those
 * of the runtime.  Mangled names are demangled (demangle.h) until that has made
 * SYMBOLS_DEMANGLED_MAX bytes of one file, or half of what is left of
 * SYMBOLS_BYTES_MAX.
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H
#define SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/lines_build.h"

#define SYMBOLS_MAX		(4u << 20)	/* of one table */
#define SYMBOL_NAME_MAX		4096		/* bytes; longer ones are cut */
#define SYMBOLS_DEMANGLED_MAX	(48u << 20)
#define SYMBOL_UNSIZED_MAX	4096
#define PLT_NAMES_MAX	(8u << 20)	/* bytes, of a file's stubs */
#define DYNAMIC_MAX		(1u << 20)	/* bytes of PT_DYNAMIC */

/* --- functions of a file, by the tables of its runtime --------------------------- */

struct source_names {		/* of one file */
	void *state;		/* the source's own */
	const char *names;	/* all names are within this */
	uint32_t n;		/* functions; 0: it has nothing for this file */
};

struct source_function {
	uint64_t start, end;	/* virtual addresses */
	uint32_t before;	/* bytes before start that also belong to it */
	const char *name;	/* in .names, NUL-terminated, not "" */
};

struct symbol_source {
	/* JOB_OK, also with .n = 0; or a verdict.  close() either way. */
	int (*open)(const struct elf_file *f, struct source_names *ret);
	/* Function i of .n; false: it is broken, or has no name. */
	bool (*function)(const struct source_names *s, uint32_t i,
			 struct source_function *ret);
	/* A name as the language's tools show it: an offset, as of lines_string(). */
	uint32_t (*name)(struct lines_builder *b, const char *name);
	/* Give its lines to the builder; their place, or SYMBOL_NO_LINES. */
	uint32_t (*lines)(struct source_names *s, uint32_t i,
			  struct lines_builder *b);
	void (*close)(struct source_names *s);
};

/* Source i, or NULL after the last. */
typedef const struct symbol_source *(*symbol_sources_fn)(size_t i);

/* JOB_OK and malloc'ed bytes (symbols/index.h), or a verdict.  A file without
 * symbols has an index without entries.  sources: of runtimes
 * (runtimes_symbols()), or NULL. */
int symbols_build(const struct elf_file *f, symbol_sources_fn sources,
		  void **ret, size_t *len);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H */
