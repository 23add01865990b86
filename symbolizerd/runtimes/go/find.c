// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/find.h"

#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/go/module.h"

#define BLOCK (1u << 20)
#define CANDIDATES_MAX 64 /* headers looked at when searching */

static int go_find_take(struct pclntab *t, uint64_t off, uint64_t len,
			uint64_t vaddr, bool *found)
{
	uint64_t text;
	int r;

	if (len > PCLNTAB_MAX)
		len = PCLNTAB_MAX;
	r = elf_file_read(t->f, off, len, &t->bytes);
	if (r)
		return r == JOB_NO_MEMORY ? r : JOB_OK;
	t->bytes.vaddr = vaddr;
	*found = pclntab_header(t, &text);
	if (*found)
		return go_module_read(t, text);
	elf_bytes_free(&t->bytes);
	t->n = 0;
	return JOB_OK;
}

/* A file of Go's linker has a note, with or without section headers. */
static bool go_find_is_go(const struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];
		struct elf_bytes b;
		bool yes;

		if (p->p_type != PT_NOTE || p->p_filesz < 16 ||
		    p->p_filesz > 65536 ||
		    elf_file_read(f, p->p_offset, p->p_filesz, &b))
			continue;
		yes = memmem(b.data, b.len, "Go\0\0", 4);
		elf_bytes_free(&b);
		if (yes)
			return true;
	}
	return !f->n_shdrs;
}

/* A header at a multiple of 8 within a block of a segment. */
static int go_find_block(struct pclntab *t, const Elf64_Phdr *p, uint64_t at,
			 const struct elf_bytes *b, int *left, bool *found)
{
	int r = JOB_OK;

	for (size_t i = 0; !r && !*found && *left && i + 8 <= b->len; i += 8) {
		if (!pclntab_is_header(b->data + i))
			continue;
		--*left;
		r = go_find_take(t, p->p_offset + at + i, p->p_filesz - at - i,
				 p->p_vaddr + at + i, found);
	}
	return r;
}

static int go_find_search(struct pclntab *t, bool *found)
{
	int r = JOB_OK, left = CANDIDATES_MAX;

	for (uint32_t i = 0; i < t->f->n_phdrs; i++) {
		const Elf64_Phdr *p = &t->f->phdrs[i];

		if (p->p_type != PT_LOAD || (p->p_flags & PF_X) ||
		    p->p_offset > t->f->size ||
		    p->p_filesz > t->f->size - p->p_offset)
			continue;
		for (uint64_t at = 0; at < p->p_filesz; at += BLOCK) {
			uint64_t len = p->p_filesz - at;
			struct elf_bytes b;

			if (len > BLOCK)
				len = BLOCK;
			r = elf_file_read(t->f, p->p_offset + at, len, &b);
			if (r)
				return r;
			r = go_find_block(t, p, at, &b, &left, found);
			elf_bytes_free(&b);
			if (r || *found || !left)
				return r;
		}
	}
	return r;
}

int go_find(struct pclntab *t, const struct elf_file *f)
{
	static const char *const sections[] = {
		".gopclntab",
		".data.rel.ro.gopclntab",
	};
	bool found = false;
	int r = JOB_OK;

	*t = (struct pclntab){ .f = f };
	for (int i = 0; i < 2 && !r && !found; i++) {
		const Elf64_Shdr *s = elf_file_find(f, sections[i]);

		if (s && !(s->sh_flags & SHF_COMPRESSED))
			r = go_find_take(t, s->sh_offset, s->sh_size,
					 s->sh_addr, &found);
	}
	if (!r && !found && go_find_is_go(f))
		r = go_find_search(t, &found);
	if (r)
		pclntab_close(t);
	return r;
}
