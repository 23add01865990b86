/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_image - small ELF files made up in memory, for tests
 *
 * Data first, from IMAGE_DATA on, each piece at a multiple of 16; section
 * headers and their names last.  Segments and sections are named by file
 * offsets that image_put() returned.
 */
#ifndef TESTS_ELF_IMAGE_H
#define TESTS_ELF_IMAGE_H

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/harness.h"

#define IMAGE_PHDRS	6
#define IMAGE_SHDRS	14
#define IMAGE_DATA	512

struct elf_image {
	uint8_t b[16384];
	size_t n;
	Elf64_Shdr shdrs[IMAGE_SHDRS];
	uint32_t n_shdrs;		/* [0] is the empty one */
	char names[256];
	uint32_t names_len;
};

static inline Elf64_Ehdr *image_ehdr(struct elf_image *im)
{
	return (void *)im->b;
}

static inline void image_init(struct elf_image *im, uint16_t machine)
{
	*im = (struct elf_image){ .n = IMAGE_DATA, .n_shdrs = 1,
				  .names_len = 1 };
	*image_ehdr(im) = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
}

static inline uint64_t image_put(struct elf_image *im, const void *data,
				 size_t len)
{
	uint64_t at = im->n = (im->n + 15) / 16 * 16;

	CHECK(sizeof(im->b) - at >= len);
	memcpy(im->b + at, data, len);
	im->n += len;
	return at;
}

static inline Elf64_Shdr *image_section(struct elf_image *im, const char *name,
					uint32_t type, uint64_t at,
					uint64_t vaddr, uint64_t len)
{
	Elf64_Shdr *s = &im->shdrs[im->n_shdrs++];

	CHECK(im->n_shdrs < IMAGE_SHDRS);
	CHECK(im->names_len + strlen(name) + 1 < sizeof(im->names));
	*s = (Elf64_Shdr){ .sh_name = im->names_len, .sh_type = type,
			   .sh_addr = vaddr, .sh_offset = at, .sh_size = len };
	strcpy(im->names + im->names_len, name);
	im->names_len += strlen(name) + 1;
	return s;
}

static inline void image_segment(struct elf_image *im, uint32_t type,
				 uint32_t flags, uint64_t at, uint64_t vaddr,
				 uint64_t len)
{
	Elf64_Ehdr *e = image_ehdr(im);
	Elf64_Phdr *p = (Elf64_Phdr *)(im->b + sizeof(*e)) + e->e_phnum++;

	CHECK(e->e_phnum <= IMAGE_PHDRS);
	e->e_phoff = sizeof(*e);
	*p = (Elf64_Phdr){ .p_type = type, .p_flags = flags, .p_offset = at,
			   .p_vaddr = vaddr, .p_filesz = len, .p_memsz = len,
			   .p_align = 1 };
}

/* Section headers, their names behind. */
static inline void image_finish(struct elf_image *im)
{
	Elf64_Ehdr *e = image_ehdr(im);
	Elf64_Shdr *str = image_section(im, ".shstrtab", SHT_STRTAB, 0, 0, 0);

	str->sh_offset = image_put(im, im->names, im->names_len);
	str->sh_size = im->names_len;
	e->e_shnum = im->n_shdrs;
	e->e_shstrndx = im->n_shdrs - 1;
	e->e_shoff = image_put(im, im->shdrs, im->n_shdrs * sizeof(*str));
}

/* len bytes in a file of their own. */
static inline int file_of(const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
	return fd;
}

static inline int image_file(const struct elf_image *im)
{
	return file_of(im->b, im->n);
}

#endif /* TESTS_ELF_IMAGE_H */
