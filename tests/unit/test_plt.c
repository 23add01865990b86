// SPDX-License-Identifier: Apache-2.0
/* Stubs have the names of what they call: layouts, aliases, damage. */
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"

#define TEXT	0x10000
#define GOT	0x20000
#define STUBS	0x100		/* of .plt in .text; the others follow */
#define NAMES	"\0memcpy\0_Znwm\0free"
#define MEMCPY	1
#define NEW	8
#define FREE	14

static struct elf_image im;
static struct symbol_index idx;
static void *data;
static size_t data_len;
static uint8_t code[1024];
static uint64_t text;
static uint64_t parts[3][2];	/* of the file: code, relocations, symbols and headers */

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* jmp *slot(%rip) at code[at], prefix before it. */
static void jump(size_t at, const char *prefix, size_t len, uint64_t slot)
{
	memcpy(code + at, prefix, len);
	memcpy(code + at + len, "\xff\x25", 2);
	put32(code + at + len + 2, (uint32_t)(slot - (TEXT + at + len + 6)));
}

/* adrp x16, slot; ldr x17, [x16, slot]; add; br x17 */
static void load(size_t at, uint64_t slot)
{
	uint32_t pages = (uint32_t)((slot >> 12) - ((TEXT + at) >> 12));

	put32(code + at, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
	put32(code + at + 4, 0xf9400211 | (uint32_t)(slot & 0xfff) / 8 << 10);
	put32(code + at + 8, 0x91000210);
	put32(code + at + 12, 0xd61f0220);
}

struct reloc {
	uint64_t slot;
	uint32_t type, symbol;
	int64_t addend;
};

struct section {
	const char *name;
	size_t at, len;		/* in code */
};

static void section_of_code(const struct section *s)
{
	image_section(&im, s->name, SHT_PROGBITS, text + s->at, TEXT + s->at,
		      s->len)->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
}

static void put_rela(const char *name, const struct reloc *r, size_t n)
{
	Elf64_Rela out[8];
	uint64_t at;

	for (size_t i = 0; i < n; i++)
		out[i] = (Elf64_Rela){ r[i].slot, ELF64_R_INFO((uint64_t)r[i].symbol,
							       r[i].type), r[i].addend };
	at = image_put(&im, out, n * sizeof(*out));
	image_section(&im, name, SHT_RELA, at, 0, n * sizeof(*out));
	parts[1][0] = at;
	parts[1][1] = n * sizeof(*out);
}

/* A function f of TEXT + 32 in .symtab, imports in .dynsym: 1 memcpy, 2 operator new,
 * 3 free. */
static void put_tables(const Elf64_Sym *more, size_t n_more)
{
	static const Elf64_Sym dynamic[] = {
		{ 0 }, { .st_name = MEMCPY }, { .st_name = NEW }, { .st_name = FREE },
	};
	Elf64_Sym sym[3] = { { 0 }, { .st_name = 1, .st_shndx = 1, .st_value = TEXT + 32,
				      .st_size = 16,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC) } };
	uint64_t at = image_put(&im, dynamic, sizeof(dynamic));

	parts[2][0] = at;
	image_section(&im, ".dynsym", SHT_DYNSYM, at, 0, sizeof(dynamic));
	at = image_put(&im, NAMES, sizeof(NAMES));
	image_section(&im, ".dynstr", SHT_STRTAB, at, 0, sizeof(NAMES));
	CHECK(n_more <= 1);
	if (n_more)
		sym[2] = *more;
	at = image_put(&im, sym, (2 + n_more) * sizeof(*sym));
	image_section(&im, ".symtab", SHT_SYMTAB, at, 0, (2 + n_more) * sizeof(*sym));
	at = image_put(&im, "\0f\0thunk", 9);
	image_section(&im, ".strtab", SHT_STRTAB, at, 0, 9);
	parts[2][1] = im.n - parts[2][0];
}

static void begin(uint16_t machine)
{
	image_init(&im, machine);
	text = image_put(&im, code, sizeof(code));
	image_segment(&im, PT_LOAD, PF_R | PF_X, text, TEXT, sizeof(code));
	section_of_code(&(struct section){ ".text", 0, STUBS });
	parts[0][0] = text + STUBS;
	parts[0][1] = 128;
}

static void build(void)
{
	int fd = image_file(&im);
	struct elf_file f;

	free(data);
	data = NULL;
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(symbols_build(&f, runtimes_symbols, &data, &data_len), JOB_OK);
	CHECK_EQ(symbols_open(data, data_len, &idx), 0);
	elf_file_close(&f);
	close(fd);
}

/* The image of .code: its sections, but for .text; one of relocations. */
static void make(uint16_t machine, const struct section *sections, size_t n_sections,
		 const char *rela, const struct reloc *relocs, size_t n_relocs)
{
	begin(machine);
	for (size_t i = 0; i < n_sections; i++)
		section_of_code(&sections[i]);
	put_rela(rela, relocs, n_relocs);
	put_tables(NULL, 0);
	image_finish(&im);
	build();
}

static void check(size_t from, size_t to, const char *want)
{
	for (size_t at = from; at < to; at++) {
		const char *name = symbols_find(&idx, text + at);

		if (!want ? name == NULL : name && !strcmp(name, want))
			continue;
		printf("# at %zu %s is not %s\n", at, name ? name : "none",
		       want ? want : "none");
		CHECK(false);
		return;
	}
}

/* As bfd writes it: lazy, with a header, and a .plt.got of 8 bytes a stub. */
static void lazy_image(void)
{
	static const struct reloc plt[] = {
		{ GOT + 24, R_X86_64_JUMP_SLOT, 1, 0 }, { GOT + 32, R_X86_64_JUMP_SLOT, 2, 0 },
	};
	static const struct reloc dyn[] = {
		{ GOT + 24, R_X86_64_RELATIVE, 0, 16 }, { GOT + 64, R_X86_64_GLOB_DAT, 3, 0 },
	};

	memset(code, 0, sizeof(code));
	memcpy(code + STUBS, "\xff\x35", 2);
	memcpy(code + STUBS + 6, "\xff\x25", 2);
	jump(STUBS + 16, "", 0, GOT + 24);
	jump(STUBS + 32, "", 0, GOT + 32);
	jump(STUBS + 48, "", 0, GOT + 64);
	begin(EM_X86_64);
	section_of_code(&(struct section){ ".plt", STUBS, 48 });
	section_of_code(&(struct section){ ".plt.got", STUBS + 48, 8 });
	put_rela(".rela.dyn", dyn, 2);
	put_rela(".rela.plt", plt, 2);
	put_tables(NULL, 0);
	image_finish(&im);
}

TEST(stubs_of_a_lazy_plt)
{
	lazy_image();
	build();
	check(32, 48, "f");
	check(48, STUBS, NULL);
	check(STUBS, STUBS + 16, ".plt");
	check(STUBS + 16, STUBS + 32, "memcpy@plt");
	check(STUBS + 32, STUBS + 48, "operator new(unsigned long)@plt");
	check(STUBS + 48, STUBS + 56, "free@plt");
	check(STUBS + 56, STUBS + 64, NULL);
}

TEST(stubs_tell_their_mangled_name)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];

	lazy_image();
	build();
	CHECK_EQ(symbols_places(&idx, text + STUBS + 32, at), 1);
	CHECK(at[0].system && !strcmp(at[0].system, "_Znwm@plt"));
	CHECK_EQ(symbols_places(&idx, text + STUBS + 16, at), 1);
	CHECK(!at[0].system);
}

/* IBT: those of .plt push a number, those of .plt.sec jump.  With bnd before, as MPX
 * had it, and mold's. */
TEST(stubs_of_other_layouts)
{
	static const struct reloc plt[] = {
		{ GOT + 24, R_X86_64_JUMP_SLOT, 1, 0 }, { GOT + 32, R_X86_64_JUMP_SLOT, 3, 0 },
		{ GOT + 40, R_X86_64_JUMP_SLOT, 2, 0 },
	};
	static const struct section sections[] = {
		{ ".plt", STUBS, 32 }, { ".plt.sec", STUBS + 32, 48 },
	};

	memset(code, 0, sizeof(code));
	memcpy(code + STUBS + 16, "\xf3\x0f\x1e\xfa\x68", 5);
	jump(STUBS + 32, "\xf3\x0f\x1e\xfa", 4, GOT + 24);
	jump(STUBS + 48, "\xf3\x0f\x1e\xfa\xf2", 5, GOT + 32);
	jump(STUBS + 64, "\xf3\x0f\x1e\xfa\x41\xbb\1\0\0\0", 10, GOT + 40);
	make(EM_X86_64, sections, 2, ".rela.plt", plt, 3);
	check(STUBS, STUBS + 32, ".plt");
	check(STUBS + 32, STUBS + 48, "memcpy@plt");
	check(STUBS + 48, STUBS + 64, "free@plt");
	check(STUBS + 64, STUBS + 80, "operator new(unsigned long)@plt");
}

TEST(stubs_of_arm64)
{
	static const struct reloc plt[] = {
		{ GOT + 0xff8, R_AARCH64_JUMP_SLOT, 1, 0 },
		{ GOT + 0x1000, R_AARCH64_JUMP_SLOT, 3, 0 },
		{ TEXT - 0x2000 + 8, R_AARCH64_JUMP_SLOT, 2, 0 },
	};

	memset(code, 0, sizeof(code));
	put32(code + STUBS, 0xa9bf7bf0);
	load(STUBS + 4, GOT + 0xff0);		/* the header */
	load(STUBS + 32, GOT + 0xff8);
	put32(code + STUBS + 48, 0xd503245f);	/* bti c */
	load(STUBS + 52, GOT + 0x1000);
	load(STUBS + 72, TEXT - 0x2000 + 8);	/* below it */
	make(EM_AARCH64, &(struct section){ ".plt", STUBS, 88 }, 1, ".rela.plt", plt, 3);
	check(STUBS, STUBS + 32, ".plt");
	check(STUBS + 32, STUBS + 48, "memcpy@plt");
	check(STUBS + 48, STUBS + 72, "free@plt");
	check(STUBS + 72, STUBS + 88, "operator new(unsigned long)@plt");
}

/* A static program has no imports: its stubs call what a resolver chooses. */
TEST(stubs_of_ifuncs)
{
	static const struct reloc plt[] = {
		{ GOT + 24, R_X86_64_IRELATIVE, 0, TEXT + 36 },	/* no function's begin */
		{ GOT + 32, R_X86_64_IRELATIVE, 0, TEXT + 32 },
		{ GOT + 40, R_X86_64_IRELATIVE, 0, 0 },
	};

	memset(code, 0, sizeof(code));
	for (size_t i = 0; i < 3; i++)
		jump(STUBS + 16 * i, "", 0, GOT + 24 + 8 * i);
	make(EM_X86_64, &(struct section){ ".iplt", STUBS, 48 }, 1, ".rela.plt", plt, 3);
	check(STUBS, STUBS + 16, ".iplt");
	check(STUBS + 16, STUBS + 32, "f@plt");
	check(STUBS + 32, STUBS + 48, ".iplt");
}

/* What a symbol names keeps that name. */
TEST(stubs_with_symbols)
{
	static const struct reloc plt[] = { { GOT + 24, R_X86_64_JUMP_SLOT, 1, 0 } };
	const Elf64_Sym thunk = { .st_name = 3, .st_shndx = 1, .st_value = TEXT + STUBS,
				  .st_size = 8, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC) };

	memset(code, 0, sizeof(code));
	jump(STUBS, "", 0, GOT + 24);
	begin(EM_X86_64);
	section_of_code(&(struct section){ ".plt", STUBS, 16 });
	put_rela(".rela.plt", plt, 1);
	put_tables(&thunk, 1);
	image_finish(&im);
	build();
	check(STUBS, STUBS + 8, "thunk");
}

/* An indirect jump in other code is no stub. */
TEST(stubs_only_in_their_sections)
{
	static const struct reloc plt[] = { { GOT + 24, R_X86_64_GLOB_DAT, 1, 0 } };

	memset(code, 0, sizeof(code));
	jump(STUBS, "", 0, GOT + 24);
	make(EM_X86_64, &(struct section){ ".text.tail", STUBS, 16 }, 1, ".rela.dyn", plt, 1);
	check(STUBS, STUBS + 16, NULL);
}

static void survive(size_t len)
{
	int fd = file_of(im.b, len);
	struct symbol_index x;
	struct elf_file f;
	void *p = NULL;
	size_t n;

	if (!elf_file_open(&f, fd) && !symbols_build(&f, runtimes_symbols, &p, &n))
		CHECK_EQ(symbols_open(p, n, &x), 0);
	free(p);
	elf_file_close(&f);
	close(fd);
}

static void survive_flipped(size_t from, size_t to)
{
	for (size_t bit = 8 * from; bit < 8 * to; bit++) {
		im.b[bit / 8] ^= 1 << bit % 8;
		survive(im.n);
		im.b[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(stubs_truncated_or_flipped)
{
	lazy_image();
	for (size_t len = 0; len < im.n; len++)
		survive(len);
	for (size_t i = 0; i < 3; i++)
		survive_flipped(parts[i][0], parts[i][0] + parts[i][1]);
	/* the section headers */
	survive_flipped(image_ehdr(&im)->e_shoff, im.n);
}
