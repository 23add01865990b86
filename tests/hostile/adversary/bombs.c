// SPDX-License-Identifier: Apache-2.0
/*
 * bombs - files of a few KiB that want GiB, or for ever
 *
 * Each is an ELF file with one section that is larger than it looks, or that
 * never ends.  Every other one has it in its debug file: to be run with mounts
 * of its own (unshare -Urm).  Goes on until it is killed.
 */
#include "tests/hostile/adversary/chain.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mount.h>
#include <zlib.h>

#define BASE	0x400000
#define DEBUG	"/usr/lib/debug"
#define ZEROS	(500u << 20)	/* what a section is when it is not compressed */
#define ALLOWED	(32u << 20)	/* likewise, of so many bytes of the file: */
#define FROM	(600u << 10)
#define ROOM	(1u << 20)
#define KEPT	256		/* debug files: they are memory */

enum bomb {
	TIB,			/* compressed, of a TiB */
	COMPRESSED,		/* compressed, of 500 MiB */
	EH_FRAME,		/* the same, of less, of what is looked at first */
	ZDEBUG,			/* of a GNU kind that was before SHF_COMPRESSED */
	STRINGS,		/* 4 GiB of strings, a GiB of symbols: holes */
	ENDLESS,		/* a CIE that never ends */
	LEBS,			/* numbers of 100 bytes */
	CIRCLE,			/* an FDE that is its own CIE */
	BOMBS
};

static const char *const names[BOMBS] = {
	".debug_frame", ".debug_frame", ".eh_frame", ".zdebug_frame",
	".symtab", ".debug_frame", ".eh_frame", ".debug_frame",
};

struct image {
	Elf64_Ehdr e;
	Elf64_Phdr p[2];
	Elf64_Shdr s[4];
	char names[64];
	struct {
		Elf64_Nhdr n;
		char gnu[4];
		uint32_t id[5];
	} note;
	unsigned char section[ROOM];
};

static struct image f;

/* n zeros as zlib has them (RFC 1950): a MiB of them, again and again, and in the
 * end blocks of nothing until it is `least` bytes long. */
static size_t put_zeros(unsigned char *to, uint32_t n, size_t least)
{
	static unsigned char zeros[1 << 20];
	z_stream z = { .next_in = zeros, .avail_in = sizeof(zeros),
		       .next_out = to + 2, .avail_out = ROOM / 2 };
	uint32_t sum = __builtin_bswap32(n % 65521 << 16 | 1);
	unsigned char *p;

	memcpy(to, "\x78\x9c", 2);
	if (deflateInit2(&z, 9, Z_DEFLATED, -15, 9, 0) != Z_OK ||
	    deflate(&z, Z_FULL_FLUSH) != Z_OK ||
	    z.total_out * (n >> 20) > ROOM - 64)
		exit(1);
	deflateEnd(&z);
	for (p = z.next_out; n > sizeof(zeros); n -= sizeof(zeros)) {
		memcpy(p, to + 2, z.total_out);
		p += z.total_out;
	}
	for (; p < to + least; p += 5)
		memcpy(p, "\0\0\0\xff\xff", 5);
	memcpy(p, "\3\0", 2);
	memcpy(p + 2, &sum, 4);
	return (size_t)(p + 6 - to);
}

/* A CIE and an FDE whose every number is 100 bytes, and operations like that. */
static size_t put_lebs(unsigned char *to)
{
	unsigned char *p = to;

	for (int i = 0; i < 2; i++) {
		unsigned char *begin = p;
		uint32_t len, pointer = i ? (uint32_t)(p + 4 - to) : 0;

		memcpy(p + 4, &pointer, 4);
		p += 8;
		if (i) {
			uint64_t range[2] = { BASE, 4096 };

			memcpy(p, range, 16);
			p += 16;
		} else {
			*p++ = 1;		/* version */
			*p++ = '\0';		/* augmentation */
		}
		for (int k = 0; k < 100; k++) {
			*p++ = "\x0c\x05\x0e\x13\x16\x2e\x10\x0f"[k % 8];
			memset(p, 0x80 + k, 99);
			p[99] = (unsigned char)(k % 3);
			p += 100;
		}
		len = (uint32_t)(p - begin - 4);
		memcpy(begin, &len, 4);
	}
	memset(p, 0, 4);
	return (size_t)(p + 4 - to);
}

/* The bytes of the section; its size in *says. */
static size_t put_section(enum bomb bomb, Elf64_Shdr *s)
{
	Elf64_Chdr c = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 8 };
	const struct __attribute__((packed)) {
		uint32_t wide;
		uint64_t len, cie;
		uint8_t version;
	} endless = { UINT32_MAX, ROOM - 12, UINT64_MAX, 1 };
	size_t len;

	switch (bomb) {
	case TIB:
	case COMPRESSED:
	case EH_FRAME:
		s->sh_flags = SHF_COMPRESSED;
		c.ch_size = bomb == EH_FRAME ? ALLOWED : ZEROS;
		memcpy(f.section, &c, sizeof(c));
		len = sizeof(c) + put_zeros(f.section + sizeof(c),
					    (uint32_t)c.ch_size,
					    bomb == EH_FRAME ? FROM : 0);
		if (bomb == TIB)
			f.section[offsetof(Elf64_Chdr, ch_size) + 5] = 1;
		break;
	case ZDEBUG:
		memcpy(f.section, "ZLIB\0\0\0\2\0\0\0\0", 12);
		len = 12 + put_zeros(f.section + 12, ZEROS, 0);
		break;
	case STRINGS:
		s->sh_type = SHT_SYMTAB;
		s->sh_link = 3;
		s->sh_entsize = sizeof(Elf64_Sym);
		len = 1u << 30;
		break;
	case ENDLESS:
		memset(f.section, 'z', ROOM);
		memcpy(f.section, &endless, sizeof(endless));
		len = ROOM;
		break;
	case LEBS:
		len = put_lebs(f.section);
		break;
	default:
		for (len = 0; len < ROOM; len += 16)
			memcpy(f.section + len, (uint32_t[]){
			       12, (uint32_t)len, BASE, 4096 }, 16);
	}
	s->sh_size = len;
	return len < ROOM ? len : ROOM;
}

/* The file with that number; without the section if !armed.  Its size. */
static uint64_t make(unsigned int number, enum bomb bomb, bool armed, size_t *len)
{
	size_t at = offsetof(struct image, section);
	Elf64_Shdr *s = f.s + 1;

	memset(f.section, 0, ROOM);
	memcpy(f.e.e_ident + 9, &number, 4);
	f.note.id[0] = number;
	memset(f.names, 0, sizeof(f.names));
	strcpy(f.names + 1, armed ? names[bomb] : ".none");
	*s = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS,
			   .sh_addr = BASE + at, .sh_offset = at };
	*len = at + (armed ? put_section(bomb, s) : 0);
	f.s[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = at + ROOM,
			       .sh_size = UINT32_MAX };
	return armed && bomb == STRINGS ? (6ULL << 30) : *len;
}

static void begin(void)
{
	size_t self_len;
	unsigned char *self = chain_image(&self_len);

	memcpy(&f.e, self, sizeof(f.e));
	f.e.e_phoff = offsetof(struct image, p);
	f.e.e_phnum = 2;
	f.e.e_shoff = offsetof(struct image, s);
	f.e.e_shnum = 4;
	f.e.e_shstrndx = 2;
	f.p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			       .p_vaddr = BASE, .p_filesz = 4096,
			       .p_memsz = 4096 };
	f.p[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R,
			       .p_offset = offsetof(struct image, note),
			       .p_vaddr = BASE + offsetof(struct image, note),
			       .p_filesz = sizeof(f.note), .p_align = 4 };
	f.s[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
			       .sh_offset = offsetof(struct image, names),
			       .sh_size = sizeof(f.names) };
	f.note.n = (Elf64_Nhdr){ 4, sizeof(f.note.id), NT_GNU_BUILD_ID };
	memcpy(f.note.gnu, "GNU", 4);
	free(self);
}

/* The debug file of the file with that number; some of earlier ones stay. */
static void put_debug(unsigned int number, enum bomb bomb)
{
	static char kept[KEPT][96];
	char path[96] = DEBUG "/.build-id";
	uint64_t size;
	size_t len;
	int fd;

	mkdir(path, 0755);
	snprintf(path, sizeof(path), DEBUG "/.build-id/%02x", number & 255);
	mkdir(path, 0755);
	snprintf(path, sizeof(path),
		 DEBUG "/.build-id/%02x/%02x%02x%02x%032x.debug", number & 255,
		 number >> 8 & 255, number >> 16 & 255, number >> 24, 0);
	unlink(kept[number % KEPT]);
	strcpy(kept[number % KEPT], path);
	size = make(number, bomb, true, &len);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, &f, len) != (ssize_t)len ||
	    ftruncate(fd, (off_t)size))
		exit(1);
	close(fd);
}

int main(void)
{
	bool mounted = !mount("bombs", DEBUG, "tmpfs", 0, "mode=755");

	begin();
	for (unsigned int i = 0;; i++) {
		bool apart = mounted && i / BOMBS % 2;
		uint64_t size;
		size_t len;

		if (apart)
			put_debug(i, i % BOMBS);
		size = make(i, i % BOMBS, !apart, &len);
		chain_load_fd(chain_file(&f, len, size), 4096, i);
	}
	return 1;
}
