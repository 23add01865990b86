// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/elf_file.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/message_hub.h"

/* off and len are within f->size.  A file that has shrunk is corrupt. */
static int elf_file_read_all(const struct elf_file *f, void *to, uint64_t len, uint64_t off)
{
	if (f->mem) {
		memcpy(to, f->mem + off, len);
		return JOB_OK;
	}
	while (len) {
		ssize_t n = pread(f->fd, to, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return JOB_CORRUPT;
		to = (char *)to + n;
		off += n;
		len -= n;
	}
	return JOB_OK;
}

int elf_file_read(const struct elf_file *f, uint64_t off, uint64_t len,
		  struct elf_bytes *ret)
{
	uint8_t *p;
	int r;

	if (off > f->size || f->size - off < len)
		return JOB_CORRUPT;
	if (len > ELF_READ_MAX)
		return JOB_TOO_LARGE;
	p = malloc(len + 1);
	if (!p)
		return JOB_NO_MEMORY;
	r = elf_file_read_all(f, p, len, off);
	if (r) {
		free(p);
		return r;
	}
	p[len] = '\0';
	*ret = (struct elf_bytes){ .data = p, .len = len };
	return JOB_OK;
}

static int elf_file_read_phdrs(struct elf_file *f)
{
	const Elf64_Ehdr *e = &f->ehdr;
	struct elf_bytes b;
	int r;

	if (!e->e_phnum)
		return JOB_OK;
	if (e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phnum > ELF_PHDRS_MAX)
		return JOB_CORRUPT;
	r = elf_file_read(f, e->e_phoff, e->e_phnum * sizeof(Elf64_Phdr), &b);
	if (r)
		return r;
	f->phdrs = (Elf64_Phdr *)b.data;
	f->n_phdrs = e->e_phnum;
	return JOB_OK;
}

/* A file without section headers, or with broken ones, is still useful: this
 * does not fail. */
static void elf_file_read_shdrs(struct elf_file *f)
{
	const Elf64_Ehdr *e = &f->ehdr;
	struct elf_bytes b, names;
	uint32_t str = e->e_shstrndx;
	Elf64_Shdr first;
	uint64_t n = e->e_shnum;

	if (!e->e_shoff || e->e_shentsize != sizeof(Elf64_Shdr) ||
	    e->e_shoff > f->size || f->size - e->e_shoff < sizeof(first) ||
	    elf_file_read_all(f, &first, sizeof(first), e->e_shoff))
		return;
	if (!n)
		n = first.sh_size;	/* extended numbering */
	if (str == SHN_XINDEX)
		str = first.sh_link;
	if (!n || n > ELF_SECTIONS_MAX || str >= n ||
	    elf_file_read(f, e->e_shoff, n * sizeof(Elf64_Shdr), &b))
		return;
	f->shdrs = (Elf64_Shdr *)b.data;
	f->n_shdrs = n;
	if (elf_file_read(f, f->shdrs[str].sh_offset, f->shdrs[str].sh_size,
			  &names))
		return;
	f->names = (char *)names.data;
	f->names_len = names.len;
}

/* .fd or .mem, and .size, are set. */
static int elf_file_begin(struct elf_file *f)
{
	int r;

	if (f->size < sizeof(f->ehdr))
		return JOB_NOT_ELF;
	r = elf_file_read_all(f, &f->ehdr, sizeof(f->ehdr), 0);
	if (r)
		return r;
	if (memcmp(f->ehdr.e_ident, ELFMAG, SELFMAG) ||
	    f->ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    f->ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (f->ehdr.e_machine != EM_X86_64 && f->ehdr.e_machine != EM_AARCH64))
		return JOB_NOT_ELF;
	r = elf_file_read_phdrs(f);
	if (r)
		return r;
	elf_file_read_shdrs(f);
	return JOB_OK;
}

int elf_file_open(struct elf_file *f, int fd)
{
	struct stat st;

	*f = (struct elf_file){ .fd = fd };
	if (fstat(fd, &st) < 0 || st.st_size < 0)
		return JOB_NOT_ELF;
	f->size = st.st_size;
	return elf_file_begin(f);
}

int elf_file_open_memory(struct elf_file *f, uint8_t *data, size_t len)
{
	*f = (struct elf_file){ .fd = -1, .mem = data, .size = len };
	return elf_file_begin(f);
}

void elf_file_close(struct elf_file *f)
{
	free(f->mem);
	free(f->phdrs);
	free(f->shdrs);
	free(f->names);
	*f = (struct elf_file){ .fd = -1 };
}

const Elf64_Phdr *elf_file_segment(const struct elf_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		if (f->phdrs[i].p_type == type)
			return &f->phdrs[i];
	}
	return NULL;
}

const Elf64_Shdr *elf_file_find(const struct elf_file *f, const char *name)
{
	for (uint32_t i = 0; i < f->n_shdrs; i++) {
		const Elf64_Shdr *s = &f->shdrs[i];

		/* a NUL follows names_len bytes of names */
		if (s->sh_name < f->names_len && s->sh_type != SHT_NOBITS &&
		    !strcmp(f->names + s->sh_name, name))
			return s;
	}
	return NULL;
}

/* Replace b by what libelf makes of section 1, if that is `want` bytes. */
static int elf_file_inflate(Elf *elf, uint64_t want, struct elf_bytes *b)
{
	Elf_Scn *scn = elf_getscn(elf, 1);
	Elf_Data *d;
	uint8_t *p;

	if (!scn || elf_compress(scn, 0, 0) < 0)
		return JOB_CORRUPT;
	d = elf_rawdata(scn, NULL);
	if (!d || d->d_size != want)
		return JOB_CORRUPT;
	p = malloc(want + 1);
	if (!p)
		return JOB_NO_MEMORY;
	memcpy(p, d->d_buf, want);
	p[want] = '\0';
	free(b->data);
	b->data = p;
	b->len = want;
	return JOB_OK;
}

/* By an ELF file in memory that has this section alone. */
static int elf_file_uncompress(const struct elf_file *f, uint64_t want,
			       struct elf_bytes *b)
{
	Elf64_Ehdr head = f->ehdr;
	Elf64_Shdr shdr = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_COMPRESSED,
			    .sh_size = b->len, .sh_addralign = 8 };
	size_t at = sizeof(head) + 2 * sizeof(shdr), len = at + b->len;
	char *image = calloc(1, len);
	int r = JOB_CORRUPT;
	Elf *elf;

	if (!image)
		return JOB_NO_MEMORY;
	head.e_shoff = sizeof(head);
	head.e_shnum = 2;
	head.e_shstrndx = head.e_phnum = 0;
	shdr.sh_offset = at;
	memcpy(image, &head, sizeof(head));
	memcpy(image + sizeof(head) + sizeof(shdr), &shdr, sizeof(shdr));
	memcpy(image + at, b->data, b->len);
	elf_version(EV_CURRENT);
	elf = elf_memory(image, len);
	if (elf)
		r = elf_file_inflate(elf, want, b);
	elf_end(elf);
	free(image);
	return r;
}

static bool elf_file_may_inflate(uint64_t size, size_t packed)
{
	return size <= ELF_READ_MAX && (size <= ELF_INFLATE_FREE ||
					size / ELF_INFLATE_RATIO <= packed);
}

/* The bytes of a section with SHF_COMPRESSED become those that it was made of. */
static int elf_file_expand(const struct elf_file *f, struct elf_bytes *b)
{
	Elf64_Chdr chdr;

	if (b->len < sizeof(chdr))
		return JOB_CORRUPT;
	memcpy(&chdr, b->data, sizeof(chdr));
	if (!elf_file_may_inflate(chdr.ch_size, b->len))
		return JOB_TOO_LARGE;
	return elf_file_uncompress(f, chdr.ch_size, b);
}

int elf_file_section(const struct elf_file *f, const Elf64_Shdr *s,
		     struct elf_bytes *ret)
{
	struct elf_bytes b;
	int r = elf_file_read(f, s->sh_offset, s->sh_size, &b);

	if (r)
		return r;
	if (s->sh_flags & SHF_COMPRESSED) {
		r = elf_file_expand(f, &b);
		if (r) {
			free(b.data);
			return r;
		}
	}
	b.vaddr = s->sh_addr;
	*ret = b;
	return JOB_OK;
}

static const Elf64_Phdr *elf_file_segment_of(const struct elf_file *f, uint64_t vaddr,
					     bool exec)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr &&
		    vaddr - p->p_vaddr < p->p_filesz &&
		    (!exec || (p->p_flags & PF_X)))
			return p;
	}
	return NULL;
}

int elf_file_at(const struct elf_file *f, uint64_t vaddr, struct elf_bytes *ret)
{
	const Elf64_Phdr *p = elf_file_segment_of(f, vaddr, false);
	int r;

	if (!p)
		return JOB_CORRUPT;
	r = elf_file_read(f, p->p_offset + (vaddr - p->p_vaddr),
			  p->p_filesz - (vaddr - p->p_vaddr), ret);
	if (!r)
		ret->vaddr = vaddr;
	return r;
}

bool elf_file_get(const struct elf_file *f, uint64_t vaddr, void *ret, size_t len)
{
	uint64_t off, left;

	return elf_file_offset(f, vaddr, false, &off, &left) && left >= len &&
	       f->size - off >= len && !elf_file_read_all(f, ret, len, off);
}

bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, bool exec,
		     uint64_t *ret, uint64_t *left)
{
	const Elf64_Phdr *p = elf_file_segment_of(f, vaddr, exec);
	uint64_t in;

	if (!p)
		return false;
	in = vaddr - p->p_vaddr;
	if (p->p_offset > f->size || f->size - p->p_offset <= in)
		return false;
	*ret = p->p_offset + in;
	if (left)
		*left = p->p_filesz - in;
	return true;
}

void elf_bytes_free(struct elf_bytes *b)
{
	free(b->data);
	*b = (struct elf_bytes){ 0 };
}
