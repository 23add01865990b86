// SPDX-License-Identifier: Apache-2.0
/*
 * What hostile files cost: the time of each parser grows at most as n log n.
 * The work of one test is a whole file's, as a worker does it.
 */
#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/unwind/build.h"
#include "tests/unit/complexity.h"
#include "tests/unit/elf_large.h"

/* CPU time of all that is made of a file. */
static uint64_t visit(int fd)
{
	uint64_t begin = complexity_ns();
	void *table = NULL, *index = NULL;
	struct elf_file f;
	size_t len;

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	unwind_build(&f, runtimes_rows, &table, &len);
	symbols_build(&f, runtimes_symbols, &index, &len);
	elf_file_close(&f);
	begin = complexity_ns() - begin;
	free(table);
	free(index);
	close(fd);
	return begin;
}

/* --- .eh_frame -------------------------------------------------------------------- */

/* The length of the entry at `at` is that of all behind it. */
static void entry_end(struct buffer *b, size_t at)
{
	uint32_t len;

	while (b->len % 4)
		buffer_add(b, "", 1);
	len = (uint32_t)(b->len - at - 4);
	memcpy(b->data + at, &len, sizeof(len));
}

/* Version 1, "", code 1, data -8, return address 16; cfa is rsp + 8, then these
 * instructions.  Addresses are absolute. */
static size_t cie(struct buffer *b, const void *ops, size_t n)
{
	static const uint8_t body[] = {
		1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x80 | 16, 1,
	};
	size_t at = b->len;

	large_put32(b, 0);
	large_put32(b, 0);
	buffer_add(b, body, sizeof(body));
	buffer_add(b, ops, n);
	entry_end(b, at);
	return at;
}

static size_t fde_begin(struct buffer *b, size_t cie_at, uint64_t start,
			uint64_t len)
{
	size_t at = b->len;

	large_put32(b, 0);
	large_put32(b, (uint32_t)(at + 4 - cie_at));
	large_put64(b, LARGE_BASE + start);
	large_put64(b, len);
	return at;
}

static uint64_t long_cie(size_t n)
{
	struct elf_large l = { 0 };
	uint8_t *nops = calloc(1, n * 16);
	size_t c[2];

	large_section(&l, ".eh_frame", SHT_PROGBITS);
	/* apart by the size of the cache of CIEs: each drives the other out */
	c[0] = cie(&l.behind, nops, n * 16);
	while (l.behind.len % 256 != c[0] % 256)
		entry_end(&l.behind, cie(&l.behind, "", 0));
	c[1] = cie(&l.behind, nops, n * 16);
	for (size_t i = 0; i < n; i++)
		entry_end(&l.behind, fde_begin(&l.behind, c[i % 2], 64 + i, 1));
	large_end(&l);
	free(nops);
	return visit(large_file(&l));
}

TEST(a_cie_that_all_refer_to_is_not_read_for_each)
{
	CHECK(complexity_growth(long_cie, 500) < COMPLEXITY_MAX);
}

/* One FDE, a row for each two bytes; remembered and restored in between. */
static uint64_t many_rows(size_t n)
{
	static const uint8_t ops[] = { 0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 24, 0x0b };
	struct elf_large l = { 0 };
	size_t at;

	large_section(&l, ".eh_frame", SHT_PROGBITS);
	at = fde_begin(&l.behind, cie(&l.behind, "", 0), 64, LARGE_TEXT - 64);
	for (size_t i = 0; i < n; i++)
		buffer_add(&l.behind, ops, sizeof(ops));
	entry_end(&l.behind, at);
	large_end(&l);
	return visit(large_file(&l));
}

TEST(rows_of_one_function)
{
	CHECK(complexity_growth(many_rows, 5000) < COMPLEXITY_MAX);
}

/* FDEs that all cover the same, in the order that sorts worst. */
static uint64_t overlapping(size_t n)
{
	struct elf_large l = { 0 };
	size_t c;

	large_section(&l, ".eh_frame", SHT_PROGBITS);
	c = cie(&l.behind, "", 0);
	for (size_t i = n; i; i--)
		entry_end(&l.behind, fde_begin(&l.behind, c, i % 2 ? i : 2 * n - i,
					       LARGE_TEXT - 2 * n));
	large_end(&l);
	/* the same again, where all is settled */
	large_section(&l, ".debug_frame", SHT_PROGBITS);
	c = l.behind.len;
	cie(&l.behind, "", 0);
	memset(l.behind.data + c + 4, 0xff, 4);
	for (size_t i = n; i; i--) {
		size_t at = fde_begin(&l.behind, 0, i, LARGE_TEXT - 2 * n);

		memset(l.behind.data + at + 4, 0, 4);
		entry_end(&l.behind, at);
	}
	large_end(&l);
	return visit(large_file(&l));
}

TEST(functions_that_overlap)
{
	CHECK(complexity_growth(overlapping, 3000) < COMPLEXITY_MAX);
}

/* --- symbols ------------------------------------------------------------------------ */

static void symbol(struct buffer *b, uint32_t name, uint64_t at, uint64_t size)
{
	Elf64_Sym s = { .st_name = name, .st_info = STT_FUNC, .st_shndx = 1,
			.st_value = LARGE_BASE + at, .st_size = size };

	buffer_add(b, &s, sizeof(s));
}

/* n symbols, `apart` bytes from each other, whose names are all as long as names
 * may be: parts of one string. */
static uint64_t symbols(size_t n, uint64_t apart)
{
	struct elf_large l = { 0 };
	char *text = malloc(2 * SYMBOL_NAME_MAX);

	memset(text, 'a', 2 * SYMBOL_NAME_MAX);
	text[0] = '\0';
	large_section(&l, ".strtab", SHT_STRTAB);
	buffer_add(&l.behind, text, 2 * SYMBOL_NAME_MAX);
	large_end(&l);
	large_section(&l, ".symtab", SHT_SYMTAB);
	for (size_t i = 0; i < n; i++)
		symbol(&l.behind, 1 + (i * 31) % SYMBOL_NAME_MAX,
		       64 + apart * (n - i), 0);
	large_end(&l);
	free(text);
	return visit(large_file(&l));
}

static uint64_t symbols_at_one_place(size_t n)
{
	return symbols(n, 0);
}

static uint64_t symbols_in_a_row(size_t n)
{
	return symbols(n, 16);
}

TEST(symbols_of_one_name)
{
	CHECK(complexity_growth(symbols_at_one_place, 2000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(symbols_in_a_row, 2000) < COMPLEXITY_MAX);
}

/* --- Go's table --------------------------------------------------------------------- */

/* n functions that share one table of n values: one behind the other, or each
 * second one over all of them. */
static uint64_t go_table_of(size_t n, bool over)
{
	static const uint8_t head[8] = { 0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8 };
	uint32_t tab = 8 * (uint32_t)n + 4, pcs = (2 * (uint32_t)n + 19) & ~3u;
	uint32_t reach = 4 * (uint32_t)n;
	struct elf_large l = { 0 };
	struct buffer *b = &l.behind;

	large_section(&l, ".gopclntab", SHT_PROGBITS);
	buffer_add(b, head, sizeof(head));
	large_put64(b, n);
	large_put64(b, 0);
	large_put64(b, LARGE_BASE);
	for (int i = 0; i < 4; i++)		/* names, units, files, pcs */
		large_put64(b, 72 + 16 * (uint64_t)i);
	large_put64(b, 72 + 48 + pcs);
	buffer_add(b, "main.f\0\0\0\0\0\0\0\0\0", 16);
	for (int i = 0; i < 8; i++)
		large_put32(b, 0);
	/* -1, -2, -1 ...: no place of a return address, so no row */
	buffer_add(b, "\0\0\1", 3);
	for (size_t i = 1; i < n; i++)
		buffer_add(b, i % 2 ? "\1\1" : "\2\1", 2);
	while (b->len < l.shdrs[1].sh_offset - LARGE_TEXT + 120 + pcs)
		buffer_add(b, "", 1);
	for (size_t i = 0; i < n; i++) {
		large_put32(b, !over ? 4 * (uint32_t)i : i % 2 ? reach : 0);
		large_put32(b, tab);
	}
	large_put32(b, reach);
	/* the record: entry, name, ..., pcsp, pcfile, pcln, npcdata, unit, line */
	for (int i = 0; i < 10; i++)
		large_put32(b, i >= 4 && i <= 6 ? 1 : 0);
	large_put32(b, 0);
	large_end(&l);
	return visit(large_file(&l));
}

static uint64_t go_flat(size_t n)
{
	return go_table_of(n | 1, false);
}

static uint64_t go_overlapping(size_t n)
{
	return go_table_of(n | 1, true);
}

TEST(go_functions_that_share_a_table)
{
	CHECK(complexity_growth(go_flat, 1000) < COMPLEXITY_MAX);
	CHECK(complexity_growth(go_overlapping, 500) < COMPLEXITY_MAX);
}
