/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file - reading one hostile ELF file through a descriptor
 *
 * Only pread(2): the file may shrink or change while it is read, and a mapping
 * could raise SIGBUS.  Headers are read by hand, and every offset is checked
 * against the size that fstat told: it is an error when a header names what the
 * file does not contain.  libelf only decompresses sections that are compressed
 * by SHF_COMPRESSED (elf_file_section()).  What was inside of another file
 * (debugdata.h) is in memory.
 *
 * ELF64, little endian, x86-64 or AArch64.  Layouts: System V ABI, chapters 4
 * and 5.
 */
#ifndef SYMBOLIZERD_ELF_ELF_FILE_H
#define SYMBOLIZERD_ELF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_PHDRS_MAX	256
#define ELF_SECTIONS_MAX	65536
#define ELF_READ_MAX	(512u << 20)	/* bytes of one section */
/* Uncompressed, a section has at most this many bytes, or so many times those
 * that it has in the file: what a file costs has to be in proportion to it.
 * zlib can make a thousand times of it, of sections of a MiB and more it made 33
 * times at most (2,173 sections of a Debian's debug files). */
#define ELF_INFLATE_FREE	(1u << 20)
#define ELF_INFLATE_RATIO	64

struct elf_file {
	int fd;			/* borrowed; -1: it is in memory */
	uint8_t *mem;		/* owned; NULL: not in memory */
	uint64_t size;
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdrs;
	uint32_t n_phdrs;
	Elf64_Shdr *shdrs;
	uint32_t n_shdrs;
	char *names;		/* section names, NUL behind */
	size_t names_len;
	/* Its debug file (checked to be that), for what is not in itself: more
	 * sections, at the same addresses; NULL: none.  Borrowed. */
	const struct elf_file *debug;
};

/* Bytes read from the file; data is malloc'ed, with a NUL behind. */
struct elf_bytes {
	uint8_t *data;
	size_t len;
	uint64_t vaddr;		/* where the first byte is loaded */
};

/* Returns JOB_OK or an enum job_verdict (ipc/message.h). */
int elf_file_open(struct elf_file *f, int fd);
/* The same of len bytes in memory, from malloc(): they are f's in any case. */
int elf_file_open_memory(struct elf_file *f, uint8_t *data, size_t len);
void elf_file_close(struct elf_file *f);

/* Header of the first section of this name that has bytes in the file. */
const Elf64_Shdr *elf_file_find(const struct elf_file *f, const char *name);

/* Read len bytes at off.  JOB_OK or a verdict; *ret is untouched on failure. */
int elf_file_read(const struct elf_file *f, uint64_t off, uint64_t len,
		  struct elf_bytes *ret);

/* Contents of a section, uncompressed.  Beyond the limits above: JOB_TOO_LARGE. */
int elf_file_section(const struct elf_file *f, const Elf64_Shdr *s,
		     struct elf_bytes *ret);

/* What is loaded at vaddr, to the end of its segment. */
int elf_file_at(const struct elf_file *f, uint64_t vaddr, struct elf_bytes *ret);

/* File offset, within the file, of a virtual address; exec: only in executable
 * segments.  *left, if not NULL: bytes from there to the segment's end. */
bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, bool exec,
		     uint64_t *ret, uint64_t *left);

void elf_bytes_free(struct elf_bytes *b);

#endif /* SYMBOLIZERD_ELF_ELF_FILE_H */
