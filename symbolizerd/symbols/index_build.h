/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_build - a symbol index from the symbol tables of an ELF file
 *
 * Functions that a runtime names itself (source.h); then those of .symtab (of
 * the debug file, if the file has none) at other addresses; then those of
 * .dynsym; then stubs (plt.h) as "f@plt", and as ".plt" and the like what else is in
 * their sections.  Without section headers .dynsym is found through PT_DYNAMIC.
 *
 * A symbol without a size (assembler) reaches to the next one or to the end of
 * its section (_init is not the name of the PLT behind it), at most
 * SYMBOL_UNSIZED_MAX bytes.  Of two that overlap the one that begins later wins;
 * where it ends the other goes on.  Data in executable sections counts as
 * functions (GHC's are such).  Of several names at one address the one of the
 * earlier table wins, then a function, then a sized one, then one that is no old
 * version, then one that C does not reserve for its implementation (write, not
 * __write; __vdso_time counts as such), then a global one, then one that is not weak,
 * then the shortest, then the first in the alphabet.  Versions are left out of names
 * that are not mangled.  Where a file has neither a source nor
 * .symtab, functions that .dynsym does not name are the ranges of its call frame
 * information (ranges.h), of which two may have a name all the same (entry.h).  Files
 * and lines are those of the runtime.
 * Mangled names are demangled (demangle.h) until that has made
 * SYMBOLS_DEMANGLED_MAX bytes of one file, or half of what is left of
 * SYMBOLS_BYTES_MAX.
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H
#define SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H

#include <stddef.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/source.h"

#define SYMBOLS_MAX		(4u << 20)	/* of one table */
#define SYMBOL_NAME_MAX		4096		/* bytes; longer ones are cut */
#define SYMBOLS_DEMANGLED_MAX	(48u << 20)
#define SYMBOL_UNSIZED_MAX	4096
#define PLT_NAMES_MAX	(8u << 20)	/* bytes, of a file's stubs */
#define DYNAMIC_MAX		(1u << 20)	/* bytes of PT_DYNAMIC */

/* JOB_OK and malloc'ed bytes (symbols/index.h), or a verdict.  A file without
 * symbols has an index without entries.  sources: of runtimes
 * (runtimes_symbols()), or NULL. */
int symbols_build(const struct elf_file *f, symbol_sources_fn sources,
		  void **ret, size_t *len);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_BUILD_H */
