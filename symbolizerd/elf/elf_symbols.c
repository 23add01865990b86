// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/elf_symbols.h"

#include <string.h>

static void elf_symbols_match(const Elf64_Sym *s, const char *name,
			      const char *const *names, size_t n, Elf64_Sym *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(name, names[i]))
			ret[i] = *s;
	}
}

void elf_symbols_find(const struct elf_file *f, const char *table,
		      const char *const *names, size_t n, Elf64_Sym *ret)
{
	bool dynamic = !strcmp(table, ".dyn");
	const Elf64_Shdr *sym = elf_file_find(f, dynamic ? ".dynsym" : ".symtab");
	const Elf64_Shdr *str = elf_file_find(f, dynamic ? ".dynstr" : ".strtab");
	struct elf_bytes syms = { 0 }, strs = { 0 };

	memset(ret, 0, n * sizeof(*ret));
	if (sym && str && !elf_file_section(f, sym, &syms) &&
	    !elf_file_section(f, str, &strs)) {
		for (size_t i = 0; i < syms.len / sizeof(Elf64_Sym); i++) {
			Elf64_Sym s;

			memcpy(&s, syms.data + i * sizeof(s), sizeof(s));
			if (s.st_name < strs.len && s.st_shndx != SHN_UNDEF)
				elf_symbols_match(&s, (char *)strs.data + s.st_name,
						  names, n, ret);
		}
	}
	elf_bytes_free(&syms);
	elf_bytes_free(&strs);
}
