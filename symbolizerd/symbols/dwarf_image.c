// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_image.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"

/* What begins a compressed section: of the older form a .zdebug. */
union dwarf_compressed {
	Elf64_Chdr chdr;
	struct {
		char zlib[4];		/* "ZLIB" */
		uint64_t size;		/* big endian */
	} __attribute__((packed)) old;
};

/* Uncompressed bytes of a section; 0: it is not compressed. */
static int dwarf_inflated(const struct elf_file *f, const Elf64_Shdr *s, uint64_t *ret)
{
	bool old = s->sh_name < f->names_len && !strncmp(f->names + s->sh_name, ".zdebug", 7);
	union dwarf_compressed head;
	struct elf_bytes b;
	int r;

	*ret = 0;
	if (s->sh_type == SHT_NOBITS || !(old || s->sh_flags & SHF_COMPRESSED))
		return JOB_OK;
	r = elf_file_read(f, s->sh_offset, old ? sizeof(head.old) : sizeof(head.chdr), &b);
	if (r)
		return r;
	memcpy(&head, b.data, b.len);
	elf_bytes_free(&b);
	*ret = head.chdr.ch_size;
	if (old)
		*ret = be64toh(head.old.size);
	if (*ret > ELF_INFLATE_FREE && *ret / ELF_INFLATE_RATIO > s->sh_size)
		return JOB_TOO_LARGE;
	return JOB_OK;
}

/* DWARF sections that are read.  Variables, macros and tables of names are not: libdw would
 * uncompress them, too. */
static const char *const dwarf_read[] = {
	"info", "types", "abbrev", "line", "line_str", "str", "str_offsets", "addr", "aranges",
	"ranges", "rnglists",
};

static bool dwarf_hidden(const struct elf_file *f, const Elf64_Shdr *s)
{
	const char *name = s->sh_name < f->names_len ? f->names + s->sh_name : "";

	if (!strncmp(name, ".debug_", 7))
		name += 7;
	else if (!strncmp(name, ".zdebug_", 8))
		name += 8;
	else
		return false;
	for (size_t i = 0; i < sizeof(dwarf_read) / sizeof(dwarf_read[0]); i++) {
		if (!strcmp(name, dwarf_read[i]))
			return false;
	}
	return true;
}

/* What is not read has no bytes, for us and for libdw. */
static void dwarf_hide(struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_shdrs; i++) {
		if (dwarf_hidden(f, &f->shdrs[i]))
			f->shdrs[i].sh_type = SHT_NOBITS;
	}
}

/* Does it have DWARF (*any), and is that small enough? */
static int dwarf_image_check(const struct elf_file *f, bool split, bool *any)
{
	uint64_t sum = 0, n;
	int r;

	*any = elf_file_find(f, split ? ".debug_info.dwo" : ".debug_info") ||
	       elf_file_find(f, split ? ".zdebug_info.dwo" : ".zdebug_info");
	for (uint32_t i = 0; *any && i < f->n_shdrs; i++) {
		r = dwarf_inflated(f, &f->shdrs[i], &n);
		if (r)
			return r;
		if (n > DWARF_INFLATED_MAX - sum)
			return JOB_TOO_LARGE;
		sum += n;
	}
	return JOB_OK;
}

/* libelf writes into the headers of sections that it uncompresses. */
static int dwarf_headers_writable(const struct dwarf_image *m, const struct elf_file *f)
{
	uint64_t begin = f->ehdr.e_shoff & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint64_t end = f->ehdr.e_shoff + f->n_shdrs * sizeof(Elf64_Shdr);

	return mprotect((char *)m->map + begin, end - begin, PROT_READ | PROT_WRITE);
}

/* In the mapped headers each section has the type that it has in f. */
static void dwarf_headers_typed(const struct dwarf_image *m, const struct elf_file *f)
{
	char *at = (char *)m->map + f->ehdr.e_shoff + offsetof(Elf64_Shdr, sh_type);

	for (uint32_t i = 0; i < f->n_shdrs; i++)
		memcpy(at + i * sizeof(Elf64_Shdr), &f->shdrs[i].sh_type,
		       sizeof(f->shdrs[i].sh_type));
}

static int dwarf_image_map(struct dwarf_image *m, const struct elf_file *f, bool split)
{
	m->map = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return JOB_TOO_LARGE;
	}
	m->len = f->size;
	/* no read-ahead, which would read all of a large file for the headers of its
	 * units */
	madvise(m->map, m->len, MADV_RANDOM);
	if (dwarf_headers_writable(m, f))
		return JOB_NO_MEMORY;
	dwarf_headers_typed(m, f);
	elf_version(EV_CURRENT);
	m->elf = elf_memory(m->map, m->len);
	if (!m->elf)
		return JOB_CORRUPT;
	if (split) {
		split_file_init(&m->split, m->elf);
		return JOB_OK;
	}
	m->dbg = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
	if (!m->dbg)
		return JOB_CORRUPT;
	return JOB_OK;
}

int dwarf_image_open(struct dwarf_image *m, int fd, bool split)
{
	struct elf_file f;
	bool any = false;
	int r = elf_file_open(&f, fd);

	if (!r && !split)
		dwarf_hide(&f);
	if (!r)
		r = dwarf_image_check(&f, split, &any);
	if (!r && any)
		r = dwarf_image_map(m, &f, split);
	elf_file_close(&f);
	return r;
}

void dwarf_image_close(struct dwarf_image *m)
{
	if (m->dbg)
		dwarf_end(m->dbg);
	if (m->elf)
		elf_end(m->elf);
	if (m->map)
		munmap(m->map, m->len);
}
