// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/index_build.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/message.h"
#include "symbolizerd/symbols/index.h"

struct raw {			/* a function as a table has it */
	uint64_t start;		/* file offset */
	uint64_t size;
	const char *name;
	uint32_t len;
	uint8_t rank;		/* smaller is better */
};

struct raws {
	struct raw *raw;
	size_t n, cap;
};

static int push(struct raws *all, const struct raw *r)
{
	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 1024;
		struct raw *p = realloc(all->raw, cap * sizeof(*p));

		if (!p)
			return JOB_NO_MEMORY;
		all->raw = p;
		all->cap = cap;
	}
	all->raw[all->n++] = *r;
	return JOB_OK;
}

static bool is_function(const Elf64_Sym *s)
{
	switch (ELF64_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:	/* of assembler: _start */
		return ELF64_ST_BIND(s->st_info) == STB_GLOBAL;
	default:
		return false;
	}
}

/* dynamic: from .dynsym, which ranks behind .symtab. */
static int take(const struct elf_file *f, const struct elf_bytes *syms,
		const struct elf_bytes *strs, bool dynamic, struct raws *all)
{
	size_t n = syms->len / sizeof(Elf64_Sym);

	if (n > SYMBOLS_MAX)
		return JOB_TOO_LARGE;
	for (size_t i = 0; i < n; i++) {
		struct raw r = { 0 };
		Elf64_Sym s;
		int err;

		memcpy(&s, syms->data + i * sizeof(s), sizeof(s));
		if (s.st_shndx == SHN_UNDEF || !is_function(&s) ||
		    s.st_name >= strs->len ||
		    !elf_file_offset(f, s.st_value, true, &r.start))
			continue;
		r.name = (const char *)strs->data + s.st_name;
		r.len = strnlen(r.name, SYMBOL_NAME_MAX);
		if (!r.len)
			continue;
		r.size = s.st_size < UINT32_MAX ? s.st_size : UINT32_MAX;
		r.rank = (dynamic ? 4 : 0) + (s.st_size ? 0 : 2) +
			 (ELF64_ST_BIND(s.st_info) == STB_LOCAL);
		err = push(all, &r);
		if (err)
			return err;
	}
	return JOB_OK;
}

static int compare(const void *x, const void *y)
{
	const struct raw *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->name, b->name, a->len);
}

/* The best of each address, cut at the next one's start. */
static void settle(struct raws *all)
{
	size_t to = 0;

	qsort(all->raw, all->n, sizeof(*all->raw), compare);
	for (size_t i = 0; i < all->n; i++) {
		if (!to || all->raw[to - 1].start != all->raw[i].start)
			all->raw[to++] = all->raw[i];
		else if (!all->raw[to - 1].size)
			all->raw[to - 1].size = all->raw[i].size;
	}
	all->n = to;
	for (size_t i = 0; i < to; i++) {
		struct raw *r = &all->raw[i];
		uint64_t room = i + 1 < to ? r[1].start - r->start : UINT64_MAX;

		if (!r->size)
			r->size = SYMBOL_UNSIZED_MAX;
		if (r->size > room)
			r->size = room;
	}
}

static int encode(const struct raws *all, void **ret, size_t *len)
{
	size_t names = 0, at = 0;
	struct symbols_hdr *h;
	struct symbol *s;
	char *p;

	for (size_t i = 0; i < all->n; i++)
		names += all->raw[i].len + 1;
	if (names > UINT32_MAX || all->n > UINT32_MAX)
		return JOB_TOO_LARGE;
	*len = sizeof(*h) + all->n * sizeof(*s) + names;
	h = calloc(1, *len);
	if (!h)
		return JOB_NO_MEMORY;
	*h = (struct symbols_hdr){ SYMBOLS_MAGIC, all->n, names, 0 };
	s = (struct symbol *)(h + 1);
	p = (char *)(s + all->n);
	for (size_t i = 0; i < all->n; i++) {
		const struct raw *r = &all->raw[i];

		s[i] = (struct symbol){ r->start, r->size, at };
		memcpy(p + at, r->name, r->len);
		at += r->len + 1;
	}
	*ret = h;
	return JOB_OK;
}

/* --- where the tables are ------------------------------------------------------ */

static int section_table(const struct elf_file *f, const char *syms,
			 const char *strs, struct elf_bytes *sym,
			 struct elf_bytes *str)
{
	const Elf64_Shdr *a = elf_file_find(f, syms), *b = elf_file_find(f, strs);
	int r;

	if (!a || !b)
		return JOB_OK;
	r = elf_file_section(f, a, sym);
	return r ? r : elf_file_section(f, b, str);
}

/* DT_SYMTAB has no length; DT_STRTAB usually follows it. */
static void dynamic_table(const struct elf_file *f, struct elf_bytes *sym,
			  struct elf_bytes *str)
{
	uint64_t symtab = 0, strtab = 0, strsz = 0;
	struct elf_bytes d = { 0 };

	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_DYNAMIC && p->p_filesz < (1 << 20) && !d.data)
			elf_file_read(f, p->p_offset, p->p_filesz, &d);
	}
	for (size_t i = 0; i + sizeof(Elf64_Dyn) <= d.len;
	     i += sizeof(Elf64_Dyn)) {
		Elf64_Dyn dyn;

		memcpy(&dyn, d.data + i, sizeof(dyn));
		if (dyn.d_tag == DT_SYMTAB)
			symtab = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRTAB)
			strtab = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRSZ)
			strsz = dyn.d_un.d_val;
	}
	elf_bytes_free(&d);
	if (!symtab || strtab <= symtab || elf_file_at(f, symtab, sym))
		return;
	if (sym->len > strtab - symtab)
		sym->len = strtab - symtab;
	if (elf_file_at(f, strtab, str))
		return;
	if (str->len > strsz) {
		str->len = strsz;
		str->data[strsz] = '\0';
	}
}

int symbols_build(const struct elf_file *f, void **ret, size_t *len)
{
	struct elf_bytes sym = { 0 }, str = { 0 }, dsym = { 0 }, dstr = { 0 };
	struct raws all = { 0 };
	int r;

	r = section_table(f, ".symtab", ".strtab", &sym, &str);
	if (!r)
		r = section_table(f, ".dynsym", ".dynstr", &dsym, &dstr);
	if (!f->n_shdrs)
		dynamic_table(f, &dsym, &dstr);
	if (!r && str.data)
		r = take(f, &sym, &str, false, &all);
	if (!r && dstr.data)
		r = take(f, &dsym, &dstr, true, &all);
	if (!r) {
		settle(&all);
		r = encode(&all, ret, len);
	}
	free(all.raw);
	elf_bytes_free(&sym);
	elf_bytes_free(&str);
	elf_bytes_free(&dsym);
	elf_bytes_free(&dstr);
	return r;
}
