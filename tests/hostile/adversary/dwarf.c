// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf - files whose lines take long to read
 *
 * dwarf N	N files, each with DWARF that is slow in one way, all of them in stacks
 * Goes on until it is killed.
 */
#include "tests/hostile/adversary/chain.h"

#include <dwarf.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#define BASE	0x400000
#define ROOM	(1u << 20)	/* of a section */
#define ATTRIBUTES	100000u
#define NEST	40		/* blocks, each in the one before */

enum slow {
	WIDE,			/* entries with 100,000 attributes each */
	DEEP,			/* blocks in blocks, with all of the file in the innermost */
	BACK,			/* an entry whose sibling it is itself */
	UNITS,			/* 80,000 units */
	RANGES,			/* 65,000 ranges, each within the one before */
	ROWS,			/* a line for each byte of the program */
	IDLE,			/* a line program that says nothing */
	SLOWS
};

enum part { INFO, ABBREV, LINES, ADDRS, PARTS };

static const char names[] = "\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_ranges\0.names";
static const uint32_t name_at[] = { 1, 13, 27, 39, 53 };

struct header {
	Elf64_Ehdr e;
	Elf64_Phdr p;
	Elf64_Shdr s[PARTS + 2];
	char names[64];
};

static struct header head;
static unsigned char *part[PARTS];
static uint32_t len[PARTS];

static void put(enum part p, const void *data, uint32_t n)
{
	if (len[p] + n > ROOM)
		exit(1);
	memcpy(part[p] + len[p], data, n);
	len[p] += n;
}

static void put_byte(enum part p, unsigned int byte)
{
	put(p, &(unsigned char){ (unsigned char)byte }, 1);
}

static void put_fill(enum part p, int byte, uint32_t n)
{
	memset(part[p] + len[p], byte, n);
	len[p] += n;
}

/* What an entry is, with attributes in pairs that end with 0. */
static void put_kind(unsigned int code, unsigned int tag, bool children, const unsigned char *pairs)
{
	put_byte(ABBREV, code);
	put_byte(ABBREV, tag);
	put_byte(ABBREV, children);
	for (; *pairs; pairs += 2)
		put(ABBREV, pairs, 2);
	put(ABBREV, "\0", 2);
}

enum kind { UNIT = 1, FUNCTION, BLOCK, NOTHING, SELF, SPREAD };

static void put_kinds(enum slow slow)
{
	put_kind(UNIT, DW_TAG_compile_unit, true, (const unsigned char[]){
		DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4,
		DW_AT_stmt_list, DW_FORM_sec_offset, 0 });
	put_kind(FUNCTION, DW_TAG_subprogram, true, (const unsigned char[]){
		DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0 });
	put_kind(BLOCK, DW_TAG_lexical_block, true, (const unsigned char[]){ 0 });
	put_kind(SELF, DW_TAG_variable, true, (const unsigned char[]){
		DW_AT_sibling, DW_FORM_ref4, 0 });
	put_kind(SPREAD, DW_TAG_compile_unit, true, (const unsigned char[]){
		DW_AT_low_pc, DW_FORM_addr, DW_AT_ranges, DW_FORM_sec_offset, 0 });
	put_byte(ABBREV, NOTHING);
	put(ABBREV, (const unsigned char[]){ DW_TAG_variable, 0 }, 2);
	for (uint32_t i = 0; slow == WIDE && i < ATTRIBUTES; i++)
		put(ABBREV, (const unsigned char[]){ 0x80 | (i & 0x7f), 0x40 | (i >> 7 & 0x3f),
						     DW_FORM_flag_present }, 3);
	put(ABBREV, "\0\0", 3);
}

static void put_function(void)
{
	uint64_t low = BASE;
	uint32_t size = 4096;

	put_byte(INFO, FUNCTION);
	put(INFO, &low, 8);
	put(INFO, &size, 4);
}

static void put_units(void)
{
	static const unsigned char unit[] = { 9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, BLOCK, 0 };

	while (len[INFO] + 64 < ROOM)
		put(INFO, unit, sizeof(unit));
}

static void put_ranges(void)
{
	uint64_t pair[2] = { 0, 4096 };

	for (; len[ADDRS] + 32 < ROOM; pair[0]++)
		put(ADDRS, pair[0] < 4000 ? pair : (uint64_t[]){ 1, 2 + pair[0] % 6 }, 16);
	put(ADDRS, (uint64_t[2]){ 0 }, 16);
}

static void put_entries(enum slow slow)
{
	uint32_t self;

	put_function();
	for (int i = 0; slow == DEEP && i < NEST; i++)
		put_byte(INFO, BLOCK);
	self = len[INFO];
	if (slow == BACK) {
		put_byte(INFO, SELF);
		put(INFO, &self, 4);
	}
	if (slow == WIDE || slow == DEEP)
		put_fill(INFO, NOTHING, ROOM - len[INFO] - 256);
	put_fill(INFO, 0, NEST + 8);
}

/* A unit of version 4 at the end: what is asked for is in it. */
static void put_info(enum slow slow)
{
	uint64_t low = slow == RANGES ? 0 : BASE;
	uint32_t begin, size = 4096, zero = 0, n;

	if (slow == UNITS)
		put_units();
	begin = len[INFO];
	put(INFO, "\0\0\0\0\4\0\0\0\0\0\10", 11);
	put_byte(INFO, slow == RANGES ? SPREAD : UNIT);
	low = BASE;
	put(INFO, &low, 8);
	if (slow != RANGES)
		put(INFO, &size, 4);
	put(INFO, &zero, 4);
	put_entries(slow);
	n = len[INFO] - begin - 4;
	memcpy(part[INFO] + begin, &n, 4);
}

static void put_lines(enum slow slow)
{
	static const unsigned char begin[] = {
		0, 0, 0, 0, 4, 0, 0, 0, 0, 0,	/* lengths, version */
		1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1,
		0, 'a', '.', 'c', 0, 0, 0, 0, 0,
		0, 9, DW_LNE_set_address, 0, 0, 0x40, 0, 0, 0, 0, 0,
	};
	static const unsigned char end[] = { 2, 0x80, 0x20, 0, 1, 1 };
	uint32_t n;

	put(LINES, begin, sizeof(begin));
	n = sizeof(begin) - 11 - 10;
	memcpy(part[LINES] + 6, &n, 4);
	if (slow == ROWS || slow == IDLE)
		put_fill(LINES, slow == ROWS ? DW_LNS_copy : DW_LNS_negate_stmt,
			 ROOM - len[LINES] - 64);
	put(LINES, end, sizeof(end));
	n = len[LINES] - 4;
	memcpy(part[LINES], &n, 4);
}

static void begin_head(void)
{
	size_t n;
	unsigned char *self = chain_image(&n);

	memcpy(&head.e, self, sizeof(head.e));
	free(self);
	head.e.e_phoff = offsetof(struct header, p);
	head.e.e_phnum = 1;
	head.e.e_shoff = offsetof(struct header, s);
	head.e.e_shnum = PARTS + 2;
	head.e.e_shstrndx = PARTS + 1;
	head.p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE,
			       .p_filesz = 4096, .p_memsz = 4096 };
	memcpy(head.names, names, sizeof(names));
	head.s[PARTS + 1] = (Elf64_Shdr){
		.sh_name = name_at[PARTS], .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
		.sh_offset = offsetof(struct header, names),
	};
	for (int i = 0; i < PARTS; i++)
		part[i] = calloc(1, ROOM);
}

/* A file without a name that is slow in this way; its descriptor. */
static int make(unsigned int number, enum slow slow)
{
	uint64_t at = sizeof(head);
	int fd = memfd_create("dwarf", MFD_CLOEXEC);

	memset(len, 0, sizeof(len));
	put_kinds(slow);
	put_info(slow);
	put_lines(slow);
	if (slow == RANGES)
		put_ranges();
	memcpy(head.e.e_ident + 9, &number, 4);
	for (int i = 0; i < PARTS; i++) {
		head.s[i + 1] = (Elf64_Shdr){ .sh_name = name_at[i], .sh_type = SHT_PROGBITS,
					      .sh_offset = at, .sh_size = len[i],
					      .sh_addralign = 1 };
		if (fd < 0 || pwrite(fd, part[i], len[i], (off_t)at) != (ssize_t)len[i])
			exit(1);
		at += len[i];
	}
	/* its code is there */
	if (pwrite(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    ftruncate(fd, (off_t)(at < 4096 ? 4096 : at)))
		exit(1);
	return fd;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	int *fds = calloc(n + 1, sizeof(*fds));

	if (!n || !fds)
		return 2;
	begin_head();
	for (unsigned int i = 0; i < n; i++)
		fds[i] = make(i, (enum slow)(i % SLOWS));
	for (unsigned int i = 0;; i++)
		chain_load_fd(dup(fds[i % n]), 4096, i);
	return 1;
}
