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

/* --- .gnu.hash ---------------------------------------------------------------------- */

/* Its head; the words of a Bloom filter follow (the ABI's "DT_GNU_HASH"). */
struct gnu_hash {
	uint32_t buckets, first, words, shift;
};

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static bool gnu_hash_read(const struct elf_file *f, const Elf64_Shdr *s, uint64_t at,
			  size_t len, void *ret)
{
	struct elf_bytes b;

	if (at > s->sh_size || s->sh_size - at < len ||
	    s->sh_offset > f->size ||
	    elf_file_read(f, s->sh_offset + at, len, &b))
		return false;
	memcpy(ret, b.data, len);
	elf_bytes_free(&b);
	return true;
}

bool elf_symbols_may_have(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *s = elf_file_find(f, ".gnu.hash");
	uint32_t h = gnu_hash_of(name);
	struct gnu_hash head;
	uint64_t word;

	if (!s)
		return true;
	if (!gnu_hash_read(f, s, 0, sizeof(head), &head) || !head.words ||
	    !gnu_hash_read(f, s, sizeof(head) +
			   sizeof(word) * (uint64_t)(h / 64 % head.words),
			   sizeof(word), &word))
		return false;
	return word >> (h % 64) & word >> ((h >> head.shift % 32) % 64) & 1;
}
