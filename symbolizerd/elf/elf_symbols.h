/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols - a few symbols of an ELF file, by their names */
#ifndef SYMBOLIZERD_ELF_ELF_SYMBOLS_H
#define SYMBOLIZERD_ELF_ELF_SYMBOLS_H

#include "symbolizerd/elf/elf_file.h"

/*
 * Definitions with these n names in one table: ".dyn" (.dynsym with .dynstr) or
 * "." (.symtab with .strtab).  ret[i] is the last one of names[i], all 0 if there
 * is none; undefined symbols do not count.  A table that cannot be read has none.
 */
void elf_symbols_find(const struct elf_file *f, const char *table,
		      const char *const *names, size_t n, Elf64_Sym *ret);

/* May the dynamic table define this name?  Reads only a few bytes of .gnu.hash;
 * true if there is none. */
bool elf_symbols_may_have(const struct elf_file *f, const char *name);

#endif /* SYMBOLIZERD_ELF_ELF_SYMBOLS_H */
