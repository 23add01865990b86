/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_large - ELF files of any size made up in memory, for tests of what they cost
 *
 * The first LARGE_TEXT bytes are code, loaded at LARGE_BASE; sections lie behind,
 * in the order in which they were added.
 */
#ifndef TESTS_ELF_LARGE_H
#define TESTS_ELF_LARGE_H

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buffer.h"
#include "tests/unit/harness.h"

#define LARGE_BASE	0x400000
#define LARGE_TEXT	(4u << 20)
#define LARGE_SECTIONS	8

struct elf_large {
	struct buffer behind;		/* the code */
	Elf64_Shdr shdrs[LARGE_SECTIONS];
	uint32_t n;			/* [0] is the empty one */
	char names[256];
	uint32_t names_len;
};

static inline void large_put32(struct buffer *b, uint32_t v)
{
	buffer_add(b, &v, sizeof(v));
}

static inline void large_put64(struct buffer *b, uint64_t v)
{
	buffer_add(b, &v, sizeof(v));
}

/* Begins a section of what is put into .behind from now on. */
static inline void large_section(struct elf_large *l, const char *name,
				 uint32_t type)
{
	Elf64_Shdr *s;

	while (l->behind.len % 16)
		buffer_add(&l->behind, "", 1);
	if (!l->n)
		l->n = l->names_len = 1;
	s = &l->shdrs[l->n++];
	CHECK(l->n < LARGE_SECTIONS);
	*s = (Elf64_Shdr){ .sh_name = l->names_len, .sh_type = type,
			   .sh_offset = LARGE_TEXT + l->behind.len };
	s->sh_addr = LARGE_BASE + s->sh_offset;
	strcpy(l->names + l->names_len, name);
	l->names_len += strlen(name) + 1;
}

static inline void large_end(struct elf_large *l)
{
	Elf64_Shdr *s = &l->shdrs[l->n - 1];

	s->sh_size = LARGE_TEXT + l->behind.len - s->sh_offset;
}

static inline void large_write(int fd, const void *p, size_t len, uint64_t at)
{
	CHECK(pwrite(fd, p, len, (off_t)at) == (ssize_t)len);
}

/* The file; frees what the sections hold. */
static inline int large_file(struct elf_large *l)
{
	uint64_t end;
	Elf64_Ehdr e = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(e), .e_phnum = 1, .e_ehsize = sizeof(e),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			 .p_vaddr = LARGE_BASE, .p_filesz = LARGE_TEXT,
			 .p_memsz = LARGE_TEXT };
	int fd = memfd_create("large", MFD_CLOEXEC);

	CHECK(fd >= 0 && !l->behind.failed);
	large_section(l, ".shstrtab", SHT_STRTAB);
	buffer_add(&l->behind, l->names, l->names_len);
	large_end(l);
	end = LARGE_TEXT + l->behind.len;
	e.e_shoff = end;
	e.e_shnum = l->n;
	e.e_shstrndx = l->n - 1;
	large_write(fd, &e, sizeof(e), 0);
	large_write(fd, &p, sizeof(p), sizeof(e));
	large_write(fd, l->behind.data, l->behind.len, LARGE_TEXT);
	large_write(fd, l->shdrs, l->n * sizeof(*l->shdrs), end);
	free(l->behind.data);
	*l = (struct elf_large){ 0 };
	return fd;
}

#endif /* TESTS_ELF_LARGE_H */
