// SPDX-License-Identifier: Apache-2.0
/*
 * files - ELF files that lie, and files that are others while they are read
 *
 * files extreme SEED N	N files like this one, with fields at their extremes
 * files slow N		N files whose few bytes of CFI mean hours of work
 * files change DIR	files truncated, grown, rewritten and replaced
 * All are mapped and stand in a stack, so that they are opened and parsed.  Each
 * goes on until it is killed.
 */
#include "tests/hostile/adversary/chain.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

static unsigned char *image;
static size_t image_len;
static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dULL >> 16;
}

/* In the stack, by that number. */
static void load(const void *data, size_t len, unsigned int i)
{
	chain_load_fd(chain_file(data, len, len), len, i);
}

/* --- extremes ----------------------------------------------------------------- */

static uint64_t extreme(size_t len)
{
	const uint64_t v[] = {
		0, 1, 7, 0xff, 0xffff, 0x10000, INT32_MAX, UINT32_MAX,
		1ULL << 32, INT64_MAX, UINT64_MAX, UINT64_MAX - 7, len, len - 1,
		len + 1, len / 2, 64, 4096, 1ULL << 47, rnd(),
	};

	return v[rnd() % (sizeof(v) / sizeof(*v))];
}

static void change(unsigned char *p, size_t len, size_t off, size_t size)
{
	uint64_t v = extreme(len);

	if (off <= len - size)
		memcpy(p + off, &v, size);
}

/* A field of a header of segments or sections. */
static void change_header(unsigned char *p, size_t len, bool section)
{
	const Elf64_Ehdr *e = (void *)p;
	static const unsigned char sizes[2][10] = {
		{ 4, 4, 8, 8, 8, 8, 8, 8 },
		{ 4, 4, 8, 8, 8, 8, 4, 4, 8, 8 },
	};
	size_t n = section ? e->e_shnum : e->e_phnum, fields = section ? 10 : 8;
	size_t off = section ? e->e_shoff : e->e_phoff;
	size_t field = rnd() % fields;

	if (!n || off > len)
		return;
	off += rnd() % n * (section ? sizeof(Elf64_Shdr) : sizeof(Elf64_Phdr));
	for (size_t i = 0; i < field; i++)
		off += sizes[section][i];
	change(p, len, off, sizes[section][field]);
}

static int extremes(unsigned int n)
{
	static const unsigned char ehdr[][2] = {
		{ 16, 2 }, { 18, 2 }, { 24, 8 }, { 32, 8 }, { 40, 8 },
		{ 52, 2 }, { 54, 2 }, { 56, 2 }, { 58, 2 }, { 60, 2 }, { 62, 2 },
	};
	unsigned char *p = malloc(image_len);

	for (unsigned int i = 0; p; i = (i + 1) % n) {
		memcpy(p, image, image_len);
		for (uint64_t k = rnd() % 6 + 1; k; k--) {
			uint64_t how = rnd() % 8, which = rnd() % 11;

			if (how == 0)
				change(p, image_len, ehdr[which][0], ehdr[which][1]);
			else if (how < 4)
				change_header(p, image_len, how > 1);
			else
				change(p, image_len, rnd() % image_len, 4);
		}
		/* no two are equal */
		memcpy(p + 9, &i, 4);
		load(p, rnd() % 8 ? image_len : 1 + rnd() % image_len, i);
	}
	return 1;
}

/* --- slow ones ---------------------------------------------------------------- */

struct slow {
	Elf64_Ehdr e;
	Elf64_Phdr p;
	Elf64_Shdr s[3];
	char names[32];
	unsigned char cfi[60000];
};

/* Each FDE is of a PLT of a MiB, whose rule changes every few bytes. */
static size_t put_plts(unsigned char *to, size_t room, uint64_t salt)
{
	static const unsigned char cie[] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16,
		0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0,
	}, ops[] = {
		0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x36, 0x2a, 0x33, 0x24,
		0x22, 0, 0, 0,
	};
	size_t n = sizeof(cie);

	memcpy(to, cie, n);
	for (uint64_t i = 0; n + 24 + sizeof(ops) <= room; i++) {
		uint32_t head[2] = { 20 + sizeof(ops), (uint32_t)n + 4 };
		uint64_t range[2] = { 0x400000 + 4096 + (salt + i * 16) % 65536,
				      1 << 20 };

		memcpy(to + n, head, 8);
		memcpy(to + n + 8, range, 16);
		memcpy(to + n + 24, ops, sizeof(ops));
		n += 24 + sizeof(ops);
	}
	return n;
}

static int slow(unsigned int n)
{
	static struct slow f;
	static unsigned char file[2 << 20];

	memcpy(&f.e, image, sizeof(f.e));
	f.e.e_phoff = offsetof(struct slow, p);
	f.e.e_phnum = 1;
	f.e.e_shoff = offsetof(struct slow, s);
	f.e.e_shnum = 3;
	f.e.e_shstrndx = 2;
	f.p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			    .p_vaddr = 0x400000, .p_filesz = sizeof(file),
			    .p_memsz = sizeof(file) };
	memcpy(f.names, "\0.eh_frame\0.shstrtab", 21);
	f.s[2] = (Elf64_Shdr){ .sh_name = 11, .sh_type = SHT_STRTAB,
			       .sh_offset = offsetof(struct slow, names),
			       .sh_size = sizeof(f.names) };
	for (unsigned int i = 0;; i = (i + 1) % n) {
		/* 240 of them are as many rows as a file may have */
		size_t len = put_plts(f.cfi, 240 * 40, i * 16);

		f.s[1] = (Elf64_Shdr){
			.sh_name = 1, .sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(struct slow, cfi), .sh_size = len,
			.sh_addr = 0x400000 + offsetof(struct slow, cfi),
		};
		memcpy(file, &f, sizeof(f));
		load(file, sizeof(file), i);
	}
	return 1;
}

/* --- others while they are read ------------------------------------------------ */

static int replace(const char *dir, const char *path, unsigned int turn)
{
	char other[4096];
	int fd;

	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(other, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, image, image_len) < 0 ||
	    pwrite(fd, &turn, sizeof(turn), 9) < 0 || rename(other, path))
		exit(1);
	return fd;
}

static int changing(const char *dir)
{
	struct link links[CHAIN_LOADED];
	char path[4096];

	snprintf(path, sizeof(path), "%s/changing", dir);
	for (unsigned int turn = 0;; turn++) {
		int fd = replace(dir, path, turn);
		char *p = chain_map(image_len, PROT_READ | PROT_EXEC, fd);

		if (!p)
			return 1;
		chain_through(links, CHAIN_LOADED, &p, 1);
		chain_run(links);
		for (int i = 0; i < 50; i++) {
			size_t len = rnd() % image_len;

			if (ftruncate(fd, (off_t)len) ||
			    ftruncate(fd, (off_t)(i % 3 ? image_len :
						  1ULL << 40)) ||
			    pwrite(fd, image + len, image_len - len,
				   (off_t)(i % 2 ? len : 0)) < 0)
				return 1;
		}
		chain_run(links);
		munmap(p, image_len);
		close(fd);
	}
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ?
		(unsigned int)strtoul(argv[argc - 1], NULL, 10) : 0;

	image = chain_image(&image_len);
	if (!strcmp(what, "extreme") && argc > 3 && n) {
		seed = strtoul(argv[2], NULL, 10) * 2 + 1;
		return extremes(n);
	}
	if (!strcmp(what, "slow") && n)
		return slow(n);
	if (!strcmp(what, "change") && argc > 2)
		return changing(argv[2]);
	return 2;
}
