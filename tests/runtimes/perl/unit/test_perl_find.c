// SPDX-License-Identifier: Apache-2.0
/* A made-up perl: found, of which version, its loops' rows marked, its facts, and broken in
 * every way. */
#include "tests/unit/elf_image.h"

#include "bpf/perl.h"
#include "bpf/runtime.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/cfi_bytes.h"
#include "tests/unit/runtime_image.h"

#define TEXT	0x500000	/* where the file's first byte would be */
#define DATA	0x700000
#define SIZE	64		/* bytes of a function */

enum func { BEFORE, LOOP, DEBUG_LOOP, AFTER, FUNCS };

static struct elf_image image;
static uint64_t text;			/* vaddr of functions */
static Elf64_Sym syms[16];
static uint32_t n_syms;
static char strs[512];
static uint32_t strs_len;

static void symbol(const char *name, uint64_t at, uint64_t size)
{
	CHECK(n_syms < 16);
	syms[n_syms++] = (Elf64_Sym){
		.st_name = strs_len, .st_value = at, .st_size = size,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
	};
	strcpy(strs + strs_len, name);
	strs_len += strlen(name) + 1;
}

static uint64_t func(int i)
{
	return text + (uint64_t)i * SIZE;
}

static void put_text(void)
{
	static const uint8_t ops[] = { 0x48, 0x0e, 16, 0x86, 2 };
	uint8_t code[FUNCS * SIZE];
	struct cfi_bytes cfi = { .n = 0 };
	uint64_t at;
	size_t cie;

	memset(code, 0x90, sizeof(code));
	at = image_put(&image, code, sizeof(code));
	text = TEXT + at;
	image_segment(&image, PT_LOAD, PF_R | PF_X, at, text, sizeof(code));
	cie = put_cie(&cfi);
	for (int i = 0; i < FUNCS; i++)
		put_fde(&cfi, cie, func(i), SIZE, ops, sizeof(ops));
	at = image_put(&image, cfi.b, cfi.n);
	image_section(&image, ".eh_frame", SHT_PROGBITS, at, CFI_VADDR, cfi.n);
}

/* Variables: at DATA + 0x100 and so on, which are in no file. */
static void put_symbols(bool threaded, uint64_t version)
{
	uint64_t at;

	n_syms = strs_len = 1;
	symbol("Perl_runops_standard", func(LOOP), SIZE);
	symbol("Perl_runops_debug", func(DEBUG_LOOP), SIZE);
	symbol("PL_version", version, 1);
	symbol("PL_subversion", version + 1, 1);
	if (threaded) {
		symbol("PL_thr_key", DATA + 0x100, 4);
	} else {
		symbol("PL_curcop", DATA + 0x200, 8);
		symbol("PL_curstackinfo", DATA + 0x300, 8);
		symbol("PL_top_env", DATA + 0x400, 8);
	}
	at = image_put(&image, syms, n_syms * sizeof(*syms));
	image_section(&image, ".dynsym", SHT_DYNSYM, at, 0, n_syms * sizeof(*syms))->sh_entsize =
		sizeof(*syms);
	at = image_put(&image, strs, strs_len);
	image_section(&image, ".dynstr", SHT_STRTAB, at, 0, strs_len);
}

static void make(uint8_t minor, bool threaded)
{
	uint8_t version[2] = { minor, 3 };
	uint64_t at;

	image_init(&image, EM_X86_64);
	put_text();
	at = image_put(&image, version, sizeof(version));
	image_segment(&image, PT_LOAD, PF_R, at, DATA + at, sizeof(version));
	put_symbols(threaded, DATA + at);
	image_finish(&image);
}

/* The name is another one. */
static void rename_symbol(const char *name)
{
	for (size_t i = 0; i + strlen(name) < image.n; i++) {
		if (!memcmp(image.b + i, name, strlen(name) + 1))
			image.b[i] = 'x';
	}
}

/* --- found ------------------------------------------------------------------------ */

TEST(perl_of_each_version)
{
	for (uint32_t minor = PERL_MINOR_MIN; minor <= PERL_MINOR_MAX; minor += 2) {
		char want[16];

		snprintf(want, sizeof(want), "5.%u.3", minor);
		make(minor, true);
		CHECK_STR(image_detect(&image, RUNTIME_PERL, false), want);
		make(minor, false);
		CHECK_STR(image_detect(&image, RUNTIME_PERL, false), want);
	}
}

static void check_fact(const void *table, uint32_t i, uint32_t version, uint64_t at)
{
	const struct unwind_rule *r = table_lookup(table, i);

	CHECK_EQ(r->cfa, CFA_RUNTIME);
	CHECK_EQ(RUNTIME_VERSION(r), version);
	CHECK_EQ(RUNTIME_ROOT(r), at - TEXT);
}

static void check_rows(const void *table, bool marked)
{
	for (int i = 0; i < FUNCS; i++) {
		bool loop = marked && (i == LOOP || i == DEBUG_LOOP);

		for (int k = 0; k < SIZE; k++) {
			const struct unwind_rule *r = table_lookup(table, func(i) - TEXT + k);

			CHECK_EQ(r->cfa, CFA_SP);
			CHECK_EQ(r->by_fp, loop ? RULE_LOOP : 0);
		}
	}
}

TEST(perl_with_threads_says_where_the_key_is)
{
	void *table;

	make(40, true);
	table = image_table(&image);
	check_fact(table, PERL_FACT_ROOT, 40 | PERL_THREADED, DATA + 0x100);
	CHECK_EQ(table_lookup(table, 1)->cfa, CFA_NONE);
	check_rows(table, true);
	free(table);
}

TEST(perl_without_threads_says_where_its_variables_are)
{
	void *table;

	make(36, false);
	table = image_table(&image);
	check_fact(table, PERL_FACT_ROOT, 36, DATA + 0x200);
	check_fact(table, PERL_FACT_STACK, 36, DATA + 0x300);
	check_fact(table, PERL_FACT_ENV, 36, DATA + 0x400);
	CHECK_EQ(table_lookup(table, 3)->cfa, CFA_NONE);
	check_rows(table, true);
	free(table);
}

/* --- not found, or not known ------------------------------------------------------- */

TEST(perl_without_its_names_is_none)
{
	static const char *const names[] = {
		"Perl_runops_standard", "PL_version", "PL_subversion"
	};

	for (int i = 0; i < 3; i++) {
		make(36, true);
		rename_symbol(names[i]);
		CHECK_STR(image_detect(&image, RUNTIME_NONE, false), "");
	}
}

TEST(perl_of_a_version_that_is_not_known)
{
	static const uint8_t minors[] = { 0, 8, 30, 31, 33, 45, 46, 255 };

	for (size_t i = 0; i < sizeof(minors); i++) {
		char want[16] = "";
		void *table;

		make(minors[i], true);
		if (minors[i])
			snprintf(want, sizeof(want), "5.%u.3", minors[i]);
		CHECK_STR(image_detect(&image, RUNTIME_PERL, true), want);
		table = image_table(&image);
		CHECK_EQ(table_lookup(table, 0)->cfa, CFA_NONE);
		check_rows(table, false);
		free(table);
	}
}

/* A build with MULTIPLICITY and no threads: where its interpreter is is not exported. */
TEST(perl_whose_root_is_not_known)
{
	static const char *const names[] = { "PL_curcop", "PL_curstackinfo", "PL_top_env" };

	for (int i = 0; i < 3; i++) {
		make(36, false);
		rename_symbol(names[i]);
		CHECK_STR(image_detect(&image, RUNTIME_PERL, true), "5.36.3");
	}
}

/* --- hostile ------------------------------------------------------------------------ */

TEST(perl_truncated)
{
	make(36, true);
	image_survive_truncated(&image);
	make(36, false);
	image_survive_truncated(&image);
}

TEST(perl_flipped)
{
	make(40, true);
	image_survive_flipped(&image, NULL);
	make(40, false);
	image_survive_flipped(&image, NULL);
}
