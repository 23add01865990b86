// SPDX-License-Identifier: Apache-2.0
/*
 * The real symbolizerd, with real workers under their limits, is given a sound
 * file that has more names than an index may have: it goes without them, and
 * keeps its unwind table.  A sample asks for the names.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

#define NAME_BYTES	100
#define TEXT		4096	/* file offset and address of the code */
#define STEP		16	/* bytes of a function */

/* One CIE and one FDE: at 0x1000 64 bytes with the CFA at rsp + 8. */
static const unsigned char eh_frame[] = {
	20, 0, 0, 0,	0, 0, 0, 0,	1, 'z', 'R', 0,	1, 0x78, 16, 1,
	0x1b, 12, 7, 8,	0x90, 1, 0, 0,
	20, 0, 0, 0,	28, 0, 0, 0,	0, 0, 0, 0,	64, 0, 0, 0,
	0, 0, 0, 0,	0, 0, 0, 0,
};
#define FDE_START	32	/* relative to its own place */

enum { NONE, CODE, FRAME, SYMTAB, STRTAB, NAMES, SECTIONS };

struct layout {
	uint64_t at[SECTIONS], len[SECTIONS], shdrs, end;
};

static struct layout lay_out(uint64_t n)
{
	struct layout l = {
		.len = { 0, n * STEP, sizeof(eh_frame), n * sizeof(Elf64_Sym),
			 1 + n * NAME_BYTES, 64 },
	};
	uint64_t at = TEXT;

	for (int i = CODE; i < SECTIONS; i++) {
		l.at[i] = at;
		at = (at + l.len[i] + 15) / 16 * 16;
	}
	l.shdrs = at;
	l.end = at + SECTIONS * sizeof(Elf64_Shdr);
	return l;
}

static void put_headers(char *p, const struct layout *l)
{
	static const char names[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0.x";
	static const uint32_t name[SECTIONS] = { 0, 1, 7, 17, 25, 33 };
	static const uint32_t type[SECTIONS] = {
		SHT_NULL, SHT_PROGBITS, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB,
		SHT_STRTAB,
	};
	Elf64_Shdr *s = (void *)(p + l->shdrs);
	Elf64_Ehdr *e = (void *)p;
	Elf64_Phdr *ph = (void *)(e + 1);

	*e = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = sizeof(*e),
		.e_shoff = l->shdrs, .e_ehsize = sizeof(*e),
		.e_phentsize = sizeof(*ph), .e_phnum = 1,
		.e_shentsize = sizeof(*s), .e_shnum = SECTIONS,
		.e_shstrndx = NAMES,
	};
	*ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			    .p_filesz = l->at[SYMTAB], .p_memsz = l->at[SYMTAB],
			    .p_align = 4096 };
	memcpy(p + l->at[NAMES], names, sizeof(names));
	for (int i = CODE; i < SECTIONS; i++)
		s[i] = (Elf64_Shdr){
			.sh_name = name[i], .sh_type = type[i],
			.sh_flags = i <= FRAME ? SHF_ALLOC : 0,
			.sh_addr = i <= FRAME ? l->at[i] : 0,
			.sh_offset = l->at[i], .sh_size = l->len[i],
			.sh_link = i == SYMTAB ? STRTAB : 0,
			.sh_entsize = i == SYMTAB ? sizeof(Elf64_Sym) : 0,
		};
}

/* A file with n functions. */
static int file_with_names(uint64_t n)
{
	struct layout l = lay_out(n);
	int fd = memfd_create("file", MFD_CLOEXEC);
	Elf64_Sym *sym;
	int32_t start;
	char *p, *name;

	NEED(fd >= 0 && ftruncate(fd, (off_t)l.end) == 0);
	p = mmap(NULL, l.end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEED(p != MAP_FAILED);
	put_headers(p, &l);
	memcpy(p + l.at[FRAME], eh_frame, sizeof(eh_frame));
	start = (int32_t)(TEXT - (l.at[FRAME] + FDE_START));
	memcpy(p + l.at[FRAME] + FDE_START, &start, sizeof(start));
	sym = (void *)(p + l.at[SYMTAB]);
	name = p + l.at[STRTAB] + 1;
	for (uint64_t i = 0; i < n; i++, name += NAME_BYTES) {
		sym[i] = (Elf64_Sym){
			.st_name = (uint32_t)(1 + i * NAME_BYTES),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = CODE, .st_value = TEXT + i * STEP,
			.st_size = STEP,
		};
		memset(name, 'f', NAME_BYTES - 1);
		snprintf(name + NAME_BYTES - 12, 12, "%011u", (unsigned int)i);
	}
	munmap(p, l.end);
	return fd;
}

static void expect_table(uint64_t n_names)
{
	struct file_key key = { .ino = n_names, .size = 2 };
	struct fake_loader l = { 0 };
	uint64_t start = now_ns();
	struct file_entry e;
	struct conn status;
	struct place place = { 0 };
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_exe(&l, 5, &key, "/opt/names", file_with_names(n_names));
	NEED(loader_settled(&l, &key, &e) == TABLE_CAME);
	NEED(e.state == FILE_TABLE);
	loader_sample_file(&l, &key, TEXT + 4);
	status_until(&status, &st, has_jobs, 2);	/* the second reads the names */
	loader_bye(&l);
	hub_end(&place, &status, &st);
	printf("# %u names: %u ms, worker %u MB\n", (unsigned int)n_names,
	       (unsigned int)((now_ns() - start) / NSEC_PER_MSEC),
	       (unsigned int)(st.hub.worker_rss_bytes >> 20));
	NEED(st.hub.worker_jobs == 2 && st.hub.worker_deaths == 0);
	NEED(st.hub.exes_failed == 0 && st.hub.offences == 0);
	loader_drop(&l);
}

TEST(names_that_are_many_come_with_the_table)
{
	expect_table(10000);
}

/* 110 MB of them, in 1,100,000 functions; and 200 MB. */
TEST(names_that_are_too_many_leave_the_table)
{
	expect_table(1100000);
	expect_table(2000000);
}
