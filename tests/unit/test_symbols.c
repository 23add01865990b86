// SPDX-License-Identifier: Apache-2.0
/* Which functions an index holds, under which names; what it survives. */
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#include <errno.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/symbols/index_build.h"

#define TEXT	0x10000
#define TEXT_LEN 8192
#define MANY 256

struct sym {
	const char *name;
	uint8_t bind, type;
	uint16_t shndx;
	uint64_t value, size;
};

static struct elf_image im;
static struct symbol_index idx;
static void *data;
static size_t data_len;
static uint64_t text;		/* file offset */

static void put_symbols(const struct sym *s, size_t n, const char *sym,
			const char *str, uint64_t *at, uint64_t *str_at,
			uint64_t *str_len)
{
	char strings[8192] = "";
	Elf64_Sym out[MANY + 1] = { 0 };
	uint32_t len = 1;

	for (size_t i = 0; i < n; i++) {
		out[i + 1] = (Elf64_Sym){
			.st_name = len, .st_shndx = s[i].shndx,
			.st_info = ELF64_ST_INFO(s[i].bind, s[i].type),
			.st_value = s[i].value, .st_size = s[i].size,
		};
		CHECK(len + strlen(s[i].name) < sizeof(strings));
		strcpy(strings + len, s[i].name);
		len += strlen(s[i].name) + 1;
	}
	*at = image_put(&im, out, (n + 1) * sizeof(out[0]));
	*str_at = image_put(&im, strings, len);
	*str_len = len;
	if (sym) {
		image_section(&im, sym, SHT_SYMTAB, *at, 0,
			      (n + 1) * sizeof(out[0]));
		image_section(&im, str, SHT_STRTAB, *str_at, 0, len);
	}
}

static void begin(void)
{
	static const uint8_t bytes[TEXT_LEN];

	image_init(&im, EM_X86_64);
	text = image_put(&im, bytes, sizeof(bytes));
	image_segment(&im, PT_LOAD, PF_R | PF_X, text, TEXT, sizeof(bytes));
}

/* The index of the image, which is complete now. */
static void build(void)
{
	struct elf_file f;
	int fd;

	image_finish(&im);
	fd = image_file(&im);
	free(data);
	data = NULL;
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(symbols_build(&f, runtimes_symbols, &data, &data_len), JOB_OK);
	CHECK_EQ(symbols_open(data, data_len, &idx), 0);
	elf_file_close(&f);
	close(fd);
}

static void index_of(const struct sym *s, size_t n, const struct sym *d,
		     size_t n_d)
{
	uint64_t a, b, c;

	begin();
	if (n)
		put_symbols(s, n, ".symtab", ".strtab", &a, &b, &c);
	if (n_d)
		put_symbols(d, n_d, ".dynsym", ".dynstr", &a, &b, &c);
	build();
}
#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void check(uint64_t at, const char *want)
{
	const char *name = symbols_find(&idx, text + at);

	if (!want || !name) {
		CHECK(name == want);
		return;
	}
	if (strcmp(name, want))
		printf("# %s is not %s\n", name, want);
	CHECK(!strcmp(name, want));
}

TEST(symbols_of_functions)
{
	static const struct sym s[] = {
		{ "f", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 16 },
		{ "g", STB_LOCAL, STT_FUNC, 1, TEXT + 48, 8 },
		{ "h", STB_WEAK, STT_GNU_IFUNC, 1, TEXT + 32, 4 },
		{ "data", STB_GLOBAL, STT_OBJECT, 1, TEXT + 64, 8 },
		{ "import", STB_GLOBAL, STT_FUNC, SHN_UNDEF, TEXT + 80, 8 },
		{ "$x", STB_LOCAL, STT_NOTYPE, 1, TEXT + 96, 0 },
		{ "constant", STB_GLOBAL, STT_NOTYPE, SHN_ABS, TEXT + 112, 0 },
		{ "", STB_GLOBAL, STT_FUNC, 1, TEXT + 128, 8 },
		{ "outside", STB_GLOBAL, STT_FUNC, 1, TEXT + TEXT_LEN, 8 },
		{ "before", STB_GLOBAL, STT_FUNC, 1, TEXT - 1, 8 },
	};

	index_of(s, N(s), NULL, 0);
	CHECK_EQ(idx.n, 3);
	check(0, NULL);
	check(15, NULL);
	check(16, "f");
	check(31, "f");
	check(32, "h");
	check(35, "h");
	check(36, NULL);	/* beyond its size: not that symbol */
	check(48, "g");
	check(55, "g");
	check(56, NULL);
	check(UINT64_MAX - text, NULL);
}

TEST(symbols_without_size)
{
	static const struct sym s[] = {
		{ "_start", STB_GLOBAL, STT_NOTYPE, 1, TEXT, 0 },
		{ "next", STB_GLOBAL, STT_FUNC, 1, TEXT + 100, 0 },
		{ "last", STB_LOCAL, STT_FUNC, 1, TEXT + 200, 0 },
	};

	index_of(s, N(s), NULL, 0);
	check(99, "_start");
	check(100, "next");
	check(199, "next");
	check(200 + SYMBOL_UNSIZED_MAX - 1, "last");
	check(200 + SYMBOL_UNSIZED_MAX, NULL);
}

/* _init of crti.o has no size, and the PLT follows it. */
TEST(symbols_without_size_end_with_their_section)
{
	static const struct sym s[] = {
		{ "_init", STB_GLOBAL, STT_FUNC, 1, TEXT + 8, 0 },
		{ "elsewhere", STB_GLOBAL, STT_FUNC, 1, TEXT + 100, 0 },
	};
	uint64_t a, b, c;

	begin();
	image_section(&im, ".init", SHT_PROGBITS, text, TEXT, 27);
	put_symbols(s, N(s), ".symtab", ".strtab", &a, &b, &c);
	build();
	check(8, "_init");
	check(26, "_init");
	check(27, NULL);
	check(99, NULL);
	check(100, "elsewhere");
	check(4195, "elsewhere");
}

TEST(symbols_of_one_address)
{
	static const struct sym s[] = {
		{ "__libc_malloc", STB_GLOBAL, STT_FUNC, 1, TEXT, 16 },
		{ "malloc", STB_GLOBAL, STT_FUNC, 1, TEXT, 16 },
		{ "mal", STB_LOCAL, STT_FUNC, 1, TEXT, 16 },
		{ "m", STB_GLOBAL, STT_NOTYPE, 1, TEXT, 0 },
		{ "unsized", STB_GLOBAL, STT_FUNC, 1, TEXT + 32, 0 },
		{ "sized_local", STB_LOCAL, STT_FUNC, 1, TEXT + 32, 4 },
		{ "bb", STB_GLOBAL, STT_FUNC, 1, TEXT + 48, 4 },
		{ "aa", STB_GLOBAL, STT_FUNC, 1, TEXT + 48, 4 },
	};

	index_of(s, N(s), NULL, 0);
	CHECK_EQ(idx.n, 3);
	check(0, "malloc");
	check(32, "sized_local");
	check(36, NULL);
	check(48, "aa");
}

/* Of aliases the one that people call it by. */
TEST(symbols_of_aliases)
{
	static const struct {
		struct {
			const char *name;
			uint8_t bind;
		} names[3];
		const char *want;
	} cases[] = {
		/* glibc's */
		{ { { "__write", STB_GLOBAL }, { "write", STB_WEAK },
		    { "__GI___write", STB_LOCAL } }, "write" },
		{ { { "bcmp", STB_WEAK }, { "memcmp", STB_GLOBAL },
		    { "__memcmpeq", STB_GLOBAL } }, "memcmp" },
		{ { { "_IO_puts", STB_GLOBAL }, { "puts", STB_WEAK },
		    { "_IO_puts", STB_LOCAL } }, "puts" },
		{ { { "_Exit", STB_WEAK }, { "_exit", STB_GLOBAL },
		    { "__GI__exit", STB_LOCAL } }, "_exit" },
		/* of a static program */
		{ { { "memmove", STB_LOCAL }, { "__libc_memmove", STB_GLOBAL },
		    { "__libc_memmove_ifunc", STB_LOCAL } }, "memmove" },
		{ { { "f@V_1", STB_GLOBAL }, { "longer@@V_2", STB_GLOBAL },
		    { "__f", STB_GLOBAL } }, "longer" },
		/* the vDSO's */
		{ { { "time", STB_WEAK }, { "__vdso_time", STB_GLOBAL },
		    { "time", STB_WEAK } }, "__vdso_time" },
		/* C does not reserve names of C++ */
		{ { { "_ZN1a1fEv", STB_GLOBAL }, { "a_f_of_c", STB_LOCAL },
		    { "_ZN1a1fEv.localalias", STB_LOCAL } }, "a::f()" },
	};
	struct sym s[3 * N(cases)];

	for (size_t i = 0; i < N(s); i++)
		s[i] = (struct sym){ cases[i / 3].names[i % 3].name,
				     cases[i / 3].names[i % 3].bind, STT_FUNC, 1,
				     TEXT + 16 * (i / 3), 16 };
	index_of(s, N(s), NULL, 0);
	CHECK_EQ(idx.n, N(cases));
	for (size_t i = 0; i < N(cases); i++)
		check(16 * i, cases[i].want);
}

TEST(symbols_of_both_tables)
{
	static const struct sym s[] = {
		{ "a_static_name", STB_LOCAL, STT_FUNC, 1, TEXT, 16 },
		{ "unsized", STB_GLOBAL, STT_NOTYPE, 1, TEXT + 64, 0 },
	};
	static const struct sym d[] = {
		{ "dyn", STB_GLOBAL, STT_FUNC, 1, TEXT, 16 },
		{ "only_dyn", STB_GLOBAL, STT_FUNC, 1, TEXT + 32, 16 },
		{ "sized", STB_GLOBAL, STT_FUNC, 1, TEXT + 64, 8 },
	};

	index_of(s, N(s), d, N(d));
	check(0, "a_static_name");
	check(32, "only_dyn");
	check(64, "unsized");
	check(71, "unsized");
	check(72, NULL);	/* the size in the other table */
	index_of(NULL, 0, d, N(d));
	check(0, "dyn");
}

TEST(symbols_that_overlap)
{
	static const struct sym s[] = {
		{ "outer", STB_GLOBAL, STT_FUNC, 1, TEXT, 100 },
		{ "inner", STB_GLOBAL, STT_FUNC, 1, TEXT + 8, 40 },
		{ "innermost", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 8 },
		{ "second", STB_GLOBAL, STT_FUNC, 1, TEXT + 60, 8 },
		{ "across", STB_GLOBAL, STT_FUNC, 1, TEXT + 90, 30 },
		{ "huge", STB_GLOBAL, STT_FUNC, 1, TEXT + 200, UINT64_MAX },
		{ "within", STB_GLOBAL, STT_FUNC, 1, TEXT + 208, 8 },
	};
	static const struct {
		uint64_t end;
		const char *name;
	} pieces[] = {
		{ 8, "outer" }, { 16, "inner" }, { 24, "innermost" }, { 48, "inner" },
		{ 60, "outer" }, { 68, "second" }, { 90, "outer" }, { 120, "across" },
		{ 200, NULL }, { 208, "huge" }, { 216, "within" }, { TEXT_LEN, "huge" },
		{ TEXT_LEN + 1, NULL },
	};
	uint64_t at = 0;

	index_of(s, N(s), NULL, 0);
	for (size_t i = 0; i < N(pieces); i++) {
		check(at, pieces[i].name);
		check(pieces[i].end - 1, pieces[i].name);
		at = pieces[i].end;
	}
	CHECK_EQ(idx.n, N(pieces) - 2);
}

/* Each within the one before: the work and the index stay in proportion. */
TEST(symbols_within_each_other)
{
	static struct sym s[MANY];
	uint64_t end = 8 * MANY;

	for (size_t i = 0; i < MANY; i++)
		s[i] = (struct sym){ "f", STB_GLOBAL, STT_FUNC, 1, TEXT + 2 * i,
				     end - 4 * i };
	index_of(s, MANY, NULL, 0);
	CHECK_EQ(idx.n, 2 * MANY - 1);
	check(0, "f");
	check(end - 1, "f");
	check(end, NULL);
}

/* GHC's functions are objects in .text; a table of constants is none. */
TEST(symbols_of_objects_in_code)
{
	static const struct sym s[] = {
		{ "base_zdwf_info", STB_GLOBAL, STT_OBJECT, 1, TEXT + 16, 16 },
		{ "unsized", STB_GLOBAL, STT_OBJECT, 1, TEXT + 48, 0 },
		{ "table", STB_GLOBAL, STT_OBJECT, 2, TEXT + 64, 16 },
		{ "nowhere", STB_GLOBAL, STT_OBJECT, SHN_ABS, TEXT + 80, 16 },
		{ "object", STB_GLOBAL, STT_OBJECT, 1, TEXT + 96, 16 },
		{ "function", STB_LOCAL, STT_FUNC, 1, TEXT + 96, 16 },
	};
	uint64_t a, b, c;

	begin();
	image_section(&im, ".text", SHT_PROGBITS, text, TEXT, TEXT_LEN);
	im.shdrs[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	image_section(&im, ".rodata", SHT_PROGBITS, text, TEXT, TEXT_LEN);
	im.shdrs[2].sh_flags = SHF_ALLOC;
	put_symbols(s, N(s), ".symtab", ".strtab", &a, &b, &c);
	build();
	check(16, "base_zdwf_info");
	check(31, "base_zdwf_info");
	check(48, NULL);
	check(64, NULL);
	check(80, NULL);
	check(96, "function");
}

TEST(symbols_through_dynamic_segment)
{
	static const struct sym d[] = {
		{ "f", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 16 },
		{ "g", STB_GLOBAL, STT_FUNC, 1, TEXT + 32, 16 },
	};
	uint64_t at, str, len;
	Elf64_Dyn dyn[4] = { { .d_tag = DT_SYMTAB }, { .d_tag = DT_STRTAB },
			     { .d_tag = DT_STRSZ } };

	for (int broken = 0; broken < 5; broken++) {
		begin();
		put_symbols(d, N(d), NULL, NULL, &at, &str, &len);
		image_segment(&im, PT_LOAD, PF_R, at, 0x80000, str + len - at);
		dyn[0].d_un.d_ptr = 0x80000;
		dyn[1].d_un.d_ptr = 0x80000 + str - at;
		dyn[2].d_un.d_val = len;
		if (broken == 1)
			dyn[0].d_un.d_ptr = UINT64_MAX;
		if (broken == 2)
			dyn[1].d_un.d_ptr = UINT64_MAX;
		if (broken == 3)
			dyn[2].d_un.d_val = 2;	/* only "f" without its end */
		if (broken == 4)
			dyn[2].d_un.d_val = UINT64_MAX;
		at = image_put(&im, dyn, sizeof(dyn));
		image_segment(&im, PT_DYNAMIC, PF_R, at, 0, sizeof(dyn));
		build();
		check(16, broken == 1 || broken == 2 ? NULL : "f");
		check(32, broken && broken != 4 ? NULL : "g");
	}
}

TEST(symbols_with_long_names)
{
	static char name[SYMBOL_NAME_MAX + 100];
	const struct sym s[] = {
		{ name, STB_GLOBAL, STT_FUNC, 1, TEXT, 16 },
		{ "\xff\xfe raw", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 16 },
	};

	memset(name, 'x', sizeof(name) - 1);
	index_of(s, N(s), NULL, 0);
	CHECK_EQ(strlen(symbols_find(&idx, text)), SYMBOL_NAME_MAX);
	check(16, "\xff\xfe raw");
}

TEST(symbols_with_mangled_names)
{
	static const struct sym s[] = {
		{ "_ZN1a1fEi@@V_1", STB_GLOBAL, STT_FUNC, 1, TEXT, 16 },
		{ "_ZN1a1fEi@V_0", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 16 },
		{ "a::f(int)", STB_GLOBAL, STT_FUNC, 1, TEXT + 32, 16 },
		{ "_Znot", STB_GLOBAL, STT_FUNC, 1, TEXT + 48, 16 },
	};
	static const char *const want[][2] = {
		{ "a::f(int)", "_ZN1a1fEi@@V_1" },
		{ "a::f(int)", "_ZN1a1fEi@V_0" },
		{ "a::f(int)", NULL }, { "_Znot", NULL },
	};

	index_of(s, N(s), NULL, 0);
	for (size_t i = 0; i < N(want); i++) {
		struct symbol_place at[SYMBOL_DEPTH_MAX];

		check(16 * i, want[i][0]);
		CHECK_EQ(symbols_places(&idx, text + 16 * i, at), 1);
		CHECK(!strcmp(at[0].name, want[i][0]));
		if (want[i][1])
			CHECK(!strcmp(at[0].system, want[i][1]));
		else
			CHECK(!at[0].system);
	}
}

/* An image whose FDEs say n ranges; what is wrong: an FDE that begins elsewhere
 * than the table says, an encoding, a count, addresses beside the pages. */
enum wrong { NOTHING, FDE, ENCODING, COUNT, DISTANCE };

static uint64_t ranges_image(const uint32_t (*ranges)[2], uint32_t n,
			     enum wrong wrong)
{
	static const uint8_t bytes[TEXT_LEN];
	uint32_t words[64] = { 0x3b031b01, 0, wrong == COUNT ? n - 1 : n };
	uint32_t frame, at = 3 + 2 * n;
	uint64_t vaddr, hdr = 0x50000;

	image_init(&im, EM_X86_64);
	text = image_put(&im, bytes, sizeof(bytes));
	vaddr = TEXT + text + (wrong == DISTANCE ? 8 : 0);
	image_segment(&im, PT_LOAD, PF_R | PF_X, text, vaddr, sizeof(bytes));
	frame = 4 * at;
	words[1] = frame - 4;
	if (wrong == ENCODING)
		words[0] ^= 1 << 8;
	for (uint32_t i = 0; i < n; i++, at += 4) {
		words[3 + 2 * i] = (uint32_t)(vaddr + ranges[i][0] - hdr);
		words[4 + 2 * i] = 4 * at;
		words[at] = 12;
		words[at + 2] = (uint32_t)(vaddr + ranges[i][0] -
					   (hdr + 4 * at + 8)) +
				(wrong == FDE && i == 0);
		words[at + 3] = ranges[i][1];
	}
	frame = (uint32_t)image_put(&im, words, 4 * at);
	image_segment(&im, PT_GNU_EH_FRAME, PF_R, frame, hdr, 4 * at);
	image_segment(&im, PT_LOAD, PF_R, frame, hdr, 4 * at);
	return vaddr;
}

static void check_range(uint64_t at, uint64_t begin)
{
	struct symbol_place p[SYMBOL_DEPTH_MAX];
	uint32_t n = symbols_places(&idx, text + at, p);

	CHECK_EQ(n, begin != 0);
	CHECK(!n || (!p[0].name[0] && p[0].begin == begin));
	check(at, NULL);
}

TEST(symbols_without_names_are_ranges_of_cfi)
{
	static const uint32_t ranges[][2] = {
		{ 16, 16 }, { 32, 100 }, { 64, 32 }, { 256, 32 }, { 300, 8 },
		{ 512, 0 }, { TEXT_LEN - 8, 800 }, { TEXT_LEN + 64, 8 },
	};
	struct sym d[] = {
		{ "f", STB_GLOBAL, STT_FUNC, 1, 0, 64 },
	};

	for (int wrong = NOTHING; wrong <= DISTANCE; wrong++) {
		uint64_t v = ranges_image(ranges, N(ranges), wrong), a, b, c;
		bool none = wrong == ENCODING || wrong == DISTANCE;

		d[0].value = v + 272;
		put_symbols(d, 1, ".dynsym", ".dynstr", &a, &b, &c);
		build();
		check_range(15, 0);
		check_range(16, none || wrong == FDE ? 0 : v + 16);
		check_range(31, none || wrong == FDE ? 0 : v + 16);
		check_range(63, none ? 0 : v + 32);	/* where they overlap */
		check_range(64, none ? 0 : v + 64);
		check_range(96, 0);
		check_range(271, none ? 0 : v + 256);	/* up to f */
		check(272, "f");
		check(304, "f");			/* in f */
		check_range(512, 0);
		check_range(TEXT_LEN - 1, none ? 0 : v + TEXT_LEN - 8);
	}
}

/* glibc's _start, by the compilers' ways to write main's address. */
#define BEGIN	"\x31\xed\x49\x89\xd1\x5e\x48\x89\xe2\x48\x83\xe4\xf0\x50\x54"
#define NEW	"\x45\x31\xc0\x31\xc9"
#define OLD	"\x49\xc7\xc0\1\2\3\4\x48\x8d\x0d\1\2\3\4"
#define CALL	"\xff\x15\0\0\0\0"
#define START(s)	{ s, sizeof(s) - 1 }
#define MAIN	256

TEST(symbols_of_the_entry)
{
	static const uint32_t ranges[][2] = { { 64, 64 }, { MAIN, 32 } };
	static const struct {
		struct {
			const char *code;
			size_t len;
		} begin;
		bool relative;	/* main's address */
		bool start, main;
	} cases[] = {
		{ START(BEGIN NEW "\x48\x8d\x3d"), true, true, true },
		{ START(BEGIN NEW "\x48\xc7\xc7"), false, true, true },
		{ START("\xf3\x0f\x1e\xfa" BEGIN OLD "\x48\x8d\x3d"), true, true, true },
		/* another register, another beginning */
		{ START(BEGIN NEW "\x48\x8d\x35"), true, true, false },
		{ START(BEGIN "\x31\xc0" "\x48\x8d\x3d"), true, true, false },
		{ START("\x90" BEGIN NEW "\x48\x8d\x3d"), true, false, false },
	};

	for (size_t i = 0; i < N(cases); i++) {
		uint64_t v = ranges_image(ranges, N(ranges), NOTHING);
		size_t len = cases[i].begin.len;
		uint32_t to = (uint32_t)(v + MAIN);
		uint8_t *code = im.b + text + 64;

		to -= cases[i].relative ? (uint32_t)(v + 64 + len + 4) : 0;
		memcpy(code, cases[i].begin.code, len);
		memcpy(code + len, &to, 4);
		memcpy(code + len + 4, CALL, 6);
		image_ehdr(&im)->e_entry = v + 64;
		build();
		check(64, cases[i].start ? "_start" : NULL);
		check(127, cases[i].start ? "_start" : NULL);
		check(MAIN, cases[i].main ? "main" : NULL);
		check(MAIN + 31, cases[i].main ? "main" : NULL);
	}
}

/* The entry point may be anywhere. */
TEST(symbols_of_an_entry_at_the_end)
{
	static const uint32_t ranges[][2] = { { 64, 64 } };
	static const char code[] = BEGIN NEW "\x48\x8d\x3d\0\0\0\0" CALL;

	for (size_t n = 0; n <= sizeof(code); n++) {
		uint64_t v = ranges_image(ranges, 1, NOTHING);

		memcpy(im.b + text + TEXT_LEN - n, code, n);
		image_ehdr(&im)->e_entry = v + TEXT_LEN - n;
		build();
	}
}

/* A file that has .symtab names its functions itself. */
TEST(symbols_with_symtab_have_no_ranges)
{
	static const uint32_t ranges[][2] = { { 16, 16 } };
	const struct sym s = { "f", STB_GLOBAL, STT_FUNC, 1,
			       ranges_image(ranges, 1, NOTHING) + 64, 8 };
	uint64_t a, b, c;

	put_symbols(&s, 1, ".symtab", ".strtab", &a, &b, &c);
	build();
	check_range(16, 0);
	check(64, "f");
}

TEST(symbols_of_a_file_without)
{
	index_of(NULL, 0, NULL, 0);
	CHECK_EQ(idx.n, 0);
	check(0, NULL);
}

TEST(symbols_too_many)
{
	struct elf_file f;
	uint64_t a, b, c;
	int fd;

	begin();
	put_symbols(NULL, 0, ".symtab", ".strtab", &a, &b, &c);
	im.shdrs[1].sh_size = (SYMBOLS_MAX + 1ULL) * sizeof(Elf64_Sym);
	image_finish(&im);
	fd = image_file(&im);
	CHECK(ftruncate(fd, 1 << 30) == 0);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(symbols_build(&f, runtimes_symbols, &data, &data_len),
		 JOB_TOO_LARGE);
	elf_file_close(&f);
	close(fd);
}

/* --- the index, judged by its reader ----------------------------------------- */

static void open_copy(const void *bytes, size_t len)
{
	struct symbol_index copy = { 0 };
	void *p = malloc(len ? len : 1);

	memcpy(p, bytes, len);
	if (!symbols_open(p, len, &copy)) {
		for (uint32_t i = 0; i < copy.n; i++) {
			const char *name = symbols_find(&copy,
							copy.symbols[i].start);

			if (name)
				CHECK(strlen(name) < len);
		}
	}
	free(p);
}

TEST(symbols_index_truncated_or_flipped)
{
	static const struct sym s[] = {
		{ "f", STB_GLOBAL, STT_FUNC, 1, TEXT + 16, 16 },
		{ "g", STB_GLOBAL, STT_FUNC, 1, TEXT + 32, 16 },
	};
	struct symbol_index none;
	uint8_t *b;

	index_of(s, N(s), NULL, 0);
	for (size_t len = 0; len < data_len; len++) {
		open_copy(data, len);
		CHECK_EQ(-symbols_open(data, len, &none), EPROTO);
	}
	b = data;
	for (size_t bit = 0; bit < 8 * data_len; bit++) {
		b[bit / 8] ^= 1 << bit % 8;
		open_copy(data, data_len);
		b[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(symbols_index_out_of_order)
{
	struct {
		struct symbols_hdr h;
		struct symbol s[2];
		char names[4];
	} x = { { SYMBOLS_MAGIC, 2, 0, 0, 4, 0 }, { { 16, 16, 0 }, { 32, 8, 2 } },
		"a\0b" };
	size_t len = offsetof(__typeof__(x), names) + 4;

	CHECK_EQ(symbols_open(&x, len, &idx), 0);
	x.s[1].start = 31;			/* overlap */
	CHECK_EQ(-symbols_open(&x, len, &idx), EPROTO);
	x.s[0].size = 0;
	x.s[1].start = 16;			/* twice */
	CHECK_EQ(-symbols_open(&x, len, &idx), EPROTO);
	x.s[1].start = UINT64_MAX;		/* wraps */
	CHECK_EQ(-symbols_open(&x, len, &idx), EPROTO);
	x.s[1].start = 32;
	x.s[1].name = 4;
	CHECK_EQ(-symbols_open(&x, len, &idx), EPROTO);
	x.s[1].name = 2;
	x.names[3] = 'c';			/* not terminated */
	CHECK_EQ(-symbols_open(&x, len, &idx), EPROTO);
}
