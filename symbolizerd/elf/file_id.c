// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/elf/file_id.h"

#include <endian.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>
#include <unistd.h>

#include "common/wire.h"

#define PART		4096
#define NOTE_MAX	4096	/* bytes of a section or segment of notes */

static int file_id_hash_part(struct sha256_ctx *sha, int fd, uint64_t off, size_t len)
{
	uint8_t buf[PART];
	size_t have = 0;

	while (have < len) {
		ssize_t n = pread(fd, buf + have, len - have, off + have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		have += n;
	}
	sha256_update(sha, len, buf);
	return 0;
}

int file_id(int fd, uint64_t size, uint8_t ret[16])
{
	uint64_t be = htobe64(size), part = size < PART ? size : PART;
	struct sha256_ctx sha;
	int r;

	sha256_init(&sha);
	r = file_id_hash_part(&sha, fd, 0, part);
	if (!r)
		r = file_id_hash_part(&sha, fd, size - part, part);
	if (r)
		return r;
	sha256_update(&sha, sizeof(be), (const uint8_t *)&be);
	sha256_digest(&sha, 16, ret);
	return 0;
}

/* The descriptor of the note of this name and type, in a run of notes. */
static bool file_note_find(const struct elf_bytes *b, const char *name,
			   uint32_t type, struct wire_in *ret)
{
	struct wire_in in, n;
	uint32_t namesz, descsz, t;

	wire_init(&in, b->data, b->len, false);
	while (!wire_get_u32(&in, &namesz) && !wire_get_u32(&in, &descsz) &&
	       !wire_get_u32(&in, &t) &&
	       !wire_get_sub(&in, ((uint64_t)namesz + 3) & ~3ULL, &n)) {
		struct wire_in desc;

		if (wire_get_sub(&in, descsz, &desc))
			return false;
		if (t == type && namesz == strlen(name) + 1 &&
		    !memcmp(n.pos, name, namesz)) {
			*ret = desc;
			return true;
		}
		if (wire_skip(&in, -descsz & 3))
			return false;
	}
	return false;
}

static bool file_note_section(const struct elf_file *f, const char *section,
			      const char *name, uint32_t type, struct elf_bytes *b,
			      struct wire_in *ret)
{
	const Elf64_Shdr *s = elf_file_find(f, section);

	if (!s || s->sh_size > NOTE_MAX || elf_file_section(f, s, b))
		return false;
	if (file_note_find(b, name, type, ret))
		return true;
	elf_bytes_free(b);
	return false;
}

static bool file_note_segment(const struct elf_file *f, const char *name,
			      uint32_t type, struct elf_bytes *b, struct wire_in *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_NOTE || p->p_filesz > NOTE_MAX ||
		    elf_file_read(f, p->p_offset, p->p_filesz, b))
			continue;
		if (file_note_find(b, name, type, ret))
			return true;
		elf_bytes_free(b);
	}
	return false;
}

ssize_t file_note(const struct elf_file *f, const char *section,
		  const char *owner, uint32_t type, void *ret, size_t max)
{
	struct elf_bytes b;
	struct wire_in d;
	size_t len = 0;

	if (!file_note_section(f, section, owner, type, &b, &d) &&
	    !file_note_segment(f, owner, type, &b, &d))
		return -1;
	if (wire_left(&d) <= max)
		len = wire_left(&d);
	memcpy(ret, d.pos, len);
	elf_bytes_free(&b);
	return len;
}

size_t file_build_id(const struct elf_file *f, uint8_t *ret, size_t max)
{
	ssize_t len = file_note(f, ".note.gnu.build-id", ELF_NOTE_GNU,
				NT_GNU_BUILD_ID, ret, max);

	return len > 0 ? len : 0;
}
