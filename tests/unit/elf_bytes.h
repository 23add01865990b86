/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_bytes - bytes, and ELF files made of them, for tests
 *
 * An image has one PT_LOAD that holds the whole file from IMAGE_BASE on,
 * readable and executable, so virtual address = IMAGE_BASE + file offset.
 */
#ifndef TESTS_ELF_BYTES_H
#define TESTS_ELF_BYTES_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/harness.h"

/* --- bytes -------------------------------------------------------------------- */

struct bytes {
	uint8_t data[8192];
	size_t len;
};

static inline void put(struct bytes *b, const void *data, size_t len)
{
	CHECK(len <= sizeof(b->data) - b->len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* The low n bytes of v. */
static inline void put_n(struct bytes *b, uint64_t v, size_t n)
{
	put(b, &v, n);
}

static inline void put_uleb(struct bytes *b, uint64_t v)
{
	do {
		put_n(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0), 1);
		v >>= 7;
	} while (v);
}

static inline void put_sleb(struct bytes *b, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		more = v != ((byte & 0x40) ? -1 : 0);
		put_n(b, byte | (more ? 0x80 : 0), 1);
	}
}

static inline void put_to(struct bytes *b, size_t at, uint64_t v, size_t n)
{
	memcpy(b->data + at, &v, n);
}

static inline void pad_to(struct bytes *b, size_t align)
{
	while (b->len % align)
		put_n(b, 0, 1);
}

/* --- files -------------------------------------------------------------------- */

#define IMAGE_BASE	0x400000
#define IMAGE_PHDRS	8
#define IMAGE_SHDRS	24

struct image {
	struct bytes b;
	struct bytes names;
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[IMAGE_PHDRS];
	Elf64_Shdr shdrs[IMAGE_SHDRS];
};

static inline void image_init(struct image *im, uint16_t machine)
{
	static const uint8_t zeros[sizeof(Elf64_Ehdr) +
				   IMAGE_PHDRS * sizeof(Elf64_Phdr)];

	memset(im, 0, sizeof(*im));
	memcpy(im->ehdr.e_ident, ELFMAG, SELFMAG);
	im->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	im->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	im->ehdr.e_ident[EI_VERSION] = im->ehdr.e_version = EV_CURRENT;
	im->ehdr.e_type = ET_DYN;
	im->ehdr.e_machine = machine;
	im->ehdr.e_ehsize = sizeof(Elf64_Ehdr);
	im->ehdr.e_phoff = sizeof(Elf64_Ehdr);
	im->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	im->ehdr.e_shentsize = sizeof(Elf64_Shdr);
	im->ehdr.e_phnum = im->ehdr.e_shnum = 1;
	put(&im->b, zeros, sizeof(zeros));
	put_n(&im->names, 0, 1);
}

/* Append a section; returns its header, to be changed at will. */
static inline Elf64_Shdr *image_add(struct image *im, const char *name,
				    uint32_t type, const void *data, size_t len)
{
	Elf64_Shdr *s = &im->shdrs[im->ehdr.e_shnum];

	CHECK(im->ehdr.e_shnum++ < IMAGE_SHDRS);
	pad_to(&im->b, 8);
	*s = (Elf64_Shdr){ .sh_name = im->names.len, .sh_type = type,
			   .sh_addr = IMAGE_BASE + im->b.len,
			   .sh_offset = im->b.len, .sh_size = len,
			   .sh_addralign = 8 };
	put(&im->names, name, strlen(name) + 1);
	put(&im->b, data, len);
	return s;
}

/* A segment over what a section holds. */
static inline void image_segment(struct image *im, uint32_t type,
				 const Elf64_Shdr *s)
{
	CHECK(im->ehdr.e_phnum < IMAGE_PHDRS);
	im->phdrs[im->ehdr.e_phnum++] = (Elf64_Phdr){
		.p_type = type, .p_flags = PF_R, .p_offset = s->sh_offset,
		.p_vaddr = s->sh_addr, .p_filesz = s->sh_size,
		.p_memsz = s->sh_size,
	};
}

/* Section headers and all that is known at the end only; b is the file then. */
static inline void image_finish(struct image *im)
{
	struct bytes names = im->names;

	put(&names, ".shstrtab", sizeof(".shstrtab"));
	im->ehdr.e_shstrndx = im->ehdr.e_shnum;
	image_add(im, ".shstrtab", SHT_STRTAB, names.data, names.len);
	pad_to(&im->b, 8);
	im->ehdr.e_shoff = im->b.len;
	put(&im->b, im->shdrs, im->ehdr.e_shnum * sizeof(Elf64_Shdr));
	im->phdrs[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_vaddr = IMAGE_BASE, .p_filesz = im->b.len,
		.p_memsz = im->b.len,
	};
	memcpy(im->b.data, &im->ehdr, sizeof(im->ehdr));
	memcpy(im->b.data + sizeof(im->ehdr), im->phdrs, sizeof(im->phdrs));
}

/* As if objcopy --strip-section-headers had been at it. */
static inline void image_no_sections(struct image *im)
{
	im->ehdr.e_shoff = im->ehdr.e_shnum = im->ehdr.e_shstrndx = 0;
	memcpy(im->b.data, &im->ehdr, sizeof(im->ehdr));
}

/* A file of these bytes: a memfd. */
static inline int image_fd(const void *data, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
	return fd;
}

#endif /* TESTS_ELF_BYTES_H */
