/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file - reading one hostile ELF file through a descriptor
 *
 * By pread(2) alone: the file may shrink or change while it is read, and a mapping
 * could raise SIGBUS.  Headers are read by hand, and every offset is checked
 * against the size from fstat(2): a header that names what the file does not
 * contain is an error.  libelf only uncompresses sections with SHF_COMPRESSED
 * (elf_file_section()).  A file inside of another one (debugdata.h) is in memory.
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
/* Limits of an uncompressed section: bytes, or a multiple of its bytes in the file,
 * whichever is more.  So the cost of a file is in proportion to its size.  zlib
 * can grow a thousandfold; sections of a MiB and more grew at most 33-fold (2,173
 * sections of Debian's debug files). */
#define ELF_INFLATE_FREE	(1u << 20)
#define ELF_INFLATE_RATIO	64

struct runtime_found;

struct elf_file {
	int fd;			/* borrowed; -1: it is in memory */
	uint8_t *mem;		/* owned; NULL: not in memory */
	uint64_t size;
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdrs;
	uint32_t n_phdrs;
	Elf64_Shdr *shdrs;
	uint32_t n_shdrs;
	char *names;		/* section names, then a NUL */
	size_t names_len;
	/* Its debug file, which was checked to belong to it: more sections, for the
	 * same addresses.  NULL: none.  Borrowed. */
	const struct elf_file *debug;
	/* What runtimes_find() has said of it; NULL: it was not asked.  Borrowed. */
	const struct runtime_found *found;
};

/* Bytes read from the file; data is malloc'ed, and a NUL follows it. */
struct elf_bytes {
	uint8_t *data;
	size_t len;
	uint64_t vaddr;		/* where the first byte is loaded */
};

/* Returns JOB_OK or an enum job_verdict (ipc/message.h). */
int elf_file_open(struct elf_file *f, int fd);
/* The same for len bytes from malloc(): f owns them, also after a failure. */
int elf_file_open_memory(struct elf_file *f, uint8_t *data, size_t len);
void elf_file_close(struct elf_file *f);

/* Header of the first section of this name that has bytes in the file. */
const Elf64_Shdr *elf_file_find(const struct elf_file *f, const char *name);

/* The first program header of this type, or NULL. */
const Elf64_Phdr *elf_file_segment(const struct elf_file *f, uint32_t type);

/* Read len bytes at off.  JOB_OK or a verdict; *ret is untouched on failure. */
int elf_file_read(const struct elf_file *f, uint64_t off, uint64_t len,
		  struct elf_bytes *ret);

/* Contents of a section, uncompressed.  Beyond the limits above: JOB_TOO_LARGE. */
int elf_file_section(const struct elf_file *f, const Elf64_Shdr *s,
		     struct elf_bytes *ret);

/* What is loaded at vaddr, up to the end of its segment. */
int elf_file_at(const struct elf_file *f, uint64_t vaddr, struct elf_bytes *ret);

/* len bytes that are loaded at vaddr, in one segment. */
bool elf_file_get(const struct elf_file *f, uint64_t vaddr, void *ret, size_t len);

/* File offset, within the file, of a virtual address; exec: only in executable
 * segments.  *left, if not NULL: bytes from there to the segment's end. */
bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, bool exec,
		     uint64_t *ret, uint64_t *left);

void elf_bytes_free(struct elf_bytes *b);

#endif /* SYMBOLIZERD_ELF_ELF_FILE_H */
