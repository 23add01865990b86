// SPDX-License-Identifier: Apache-2.0
/* A made-up Go executable: found, unwound, named, and broken in every way. */
#include "tests/unit/go_image.h"

#include <stdlib.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/table_view.h"

static const uint32_t magics[] = { PCLNTAB_116, PCLNTAB_118, PCLNTAB_120 };

static struct go_image image;
static void *table, *index_data;
static struct symbol_index idx;

/* All that is made of the image. */
static void visit(uint32_t magic, bool sections, uint16_t machine)
{
	struct elf_file f;
	size_t len;
	int fd;

	free(table);
	free(index_data);
	go_make(&image, magic, sections, machine);
	fd = image_file(&image.im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(unwind_build(&f, runtimes_rows, &table, &len), JOB_OK);
	CHECK_EQ(symbols_build(&f, runtimes_symbols, &index_data, &len),
		 JOB_OK);
	CHECK_EQ(symbols_open(index_data, len, &idx), 0);
	elf_file_close(&f);
	close(fd);
}

static uint64_t place(int func, int byte)
{
	return image.text - GO_BASE + func * GO_SIZE + byte;
}

static const struct unwind_rule *rule(int func, int byte)
{
	static const struct unwind_rule none;
	const struct unwind_rule *r = table_lookup(table, place(func, byte));

	return r ? r : &none;
}

/* cfa = sp + off; FP at cfa - 16, or as it is. */
static void by_sp(int func, int byte, int off, bool fp)
{
	const struct unwind_rule *r = rule(func, byte);

	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->cfa_off, off);
	CHECK_EQ(r->ra, RA_CFA);
	CHECK_EQ(r->ra_off, -8);
	CHECK_EQ(r->saved, fp ? 1 << SAVED_FP : 0);
	CHECK_EQ(r->fp_off, fp ? -16 : 0);
}

static void by_fp(int func, int byte)
{
	const struct unwind_rule *r = rule(func, byte);

	CHECK_EQ(r->cfa, CFA_FP);
	CHECK_EQ(r->cfa_off, 16);
	CHECK_EQ(r->saved, 1 << SAVED_FP | RULE_ELSEWHERE);
	CHECK_EQ(r->fp_off, -16);
}

TEST(go_rows_are_exact_at_each_instruction)
{
	visit(PCLNTAB_120, true, EM_X86_64);
	for (int i = 0; i < GO_SIZE; i++)
		by_sp(GO_LEAF, i, 8, false);
	by_sp(GO_FRAME, 0, 8, false);
	by_sp(GO_FRAME, 1, 16, true);		/* pushed */
	by_sp(GO_FRAME, 7, 16, true);
	by_sp(GO_FRAME, 8, 40, true);
	by_sp(GO_FRAME, 19, 40, true);
	by_sp(GO_FRAME, 20, 16, true);
	by_sp(GO_FRAME, 21, 8, false);		/* popped */
	CHECK_EQ(rule(GO_CLANG, 5)->cfa, CFA_NONE);
	visit(PCLNTAB_118, true, EM_X86_64);
	by_sp(GO_FRAME, 3, 8, false);
	by_sp(GO_FRAME, 4, 40, false);		/* not kept yet */
	by_sp(GO_FRAME, 8, 40, false);
	by_sp(GO_FRAME, 9, 40, true);
	by_sp(GO_FRAME, 24, 40, true);
	by_sp(GO_FRAME, 25, 8, false);
}

TEST(go_rows_know_the_switches_of_stacks)
{
	for (size_t i = 0; i < 3; i++) {
		visit(magics[i], true, EM_X86_64);
		by_sp(GO_SYSTEMSTACK, 0, 8, false);
		by_sp(GO_SYSTEMSTACK, 3, 16, true);
		by_fp(GO_SYSTEMSTACK, 4);
		by_fp(GO_SYSTEMSTACK, 13);	/* the call */
		by_fp(GO_SYSTEMSTACK, 20);
		by_sp(GO_SYSTEMSTACK, 21, 8, false);
		by_fp(GO_MCALL, 7);
		CHECK_EQ(rule(GO_MCALL, 8)->cfa, CFA_END);
		CHECK_EQ(rule(GO_MCALL, 13)->cfa, CFA_END);
		CHECK_EQ(rule(GO_GOEXIT, 0)->cfa, CFA_END);
		by_sp(GO_VFORK, 3, 8, false);
		CHECK_EQ(rule(GO_VFORK, 4)->cfa_off, 0);
		CHECK_EQ(rule(GO_VFORK, 4)->ra, RA_REG);
		CHECK_EQ(rule(GO_VFORK, 4)->ra_reg, 1);	/* r12 */
		by_sp(GO_VFORK, 8, 8, false);
		/* the return address is its first byte */
		CHECK_EQ(rule(GO_CLANG, GO_SIZE - 2)->cfa, CFA_NONE);
		CHECK_EQ(rule(GO_SIGRETURN, -1)->cfa, CFA_SIGNAL);
		CHECK_EQ(rule(GO_SIGRETURN, 0)->cfa, CFA_SIGNAL);
		CHECK_EQ(rule(GO_SIGRETURN, GO_SIZE - 1)->cfa, CFA_SIGNAL);
	}
}

TEST(go_rows_of_aarch64)
{
	const struct unwind_rule *r;

	visit(PCLNTAB_120, true, EM_AARCH64);
	r = rule(GO_LEAF, 0);
	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->cfa_off, 0);
	CHECK_EQ(r->ra, RA_REG);
	CHECK_EQ(r->ra_reg, SAVED_REGS);
	r = rule(GO_FRAME, 12);		/* the link register is at sp */
	CHECK_EQ(r->cfa_off, 32);
	CHECK_EQ(r->ra_off, -32);
	CHECK_EQ(r->fp_off, -40);
	CHECK_EQ(r->saved, 1 << SAVED_FP);
	CHECK_EQ(rule(GO_GOEXIT, 4)->cfa, CFA_END);
}

static void at(int func, int byte, uint32_t n, const char *name,
	       const char *file, uint32_t line)
{
	struct symbol_place p[SYMBOL_DEPTH_MAX];

	CHECK_EQ(symbols_places(&idx, place(func, byte), p), n);
	CHECK(!strcmp(p[0].name, name));
	CHECK(!strcmp(p[0].file, file));
	CHECK_EQ(p[0].line, line);
	CHECK(!strcmp(p[n - 1].name, func == GO_FRAME ? "main.frame[...]" :
							go_name(func)));
	if (n > 1) {
		CHECK(!strcmp(p[n - 1].file, "a.go"));
		CHECK_EQ(p[n - 1].line, 9);
	}
	if (n > 2) {
		CHECK(!strcmp(p[1].name, "main.inner"));
		CHECK_EQ(p[1].line, 52);
	}
	for (uint32_t i = 0; i < n; i++)
		CHECK_EQ(p[i].first_line, image.magic != PCLNTAB_120 ? 0 :
			 i + 1 == n ? GO_LINES : i + 2 == n ? 48 : 59);
}

TEST(go_names_files_and_lines)
{
	for (size_t i = 0; i < 3; i++) {
		for (int sections = 0; sections < 2; sections++) {
			visit(magics[i], sections, EM_X86_64);
			at(GO_LEAF, 5, 1, "main.leaf", "a.go", 7);
			at(GO_FRAME, 0, 1, "main.frame[...]", "a.go", 7);
			at(GO_FRAME, 7, 1, "main.frame[...]", "a.go", 9);
			at(GO_FRAME, 8, 2, "main.inner", "b.go", 50);
			at(GO_FRAME, 10, 2, "main.inner", "b.go", 51);
			at(GO_FRAME, 11, 2, "main.inner", "b.go", 52);
			at(GO_FRAME, 12, 3, "main.most", "b.go", 60);
			at(GO_FRAME, 16, 1, "main.frame[...]", "a.go", 10);
			CHECK(!strcmp(symbols_find(&idx, place(GO_SIGRETURN, -1)),
				      go_name(GO_SIGRETURN)));
			CHECK(!strcmp(symbols_find(&idx, place(GO_CLANG, 3)),
				      "clang"));
		}
	}
}

/* --- hostile ------------------------------------------------------------------ */

/* Whatever comes of it keeps its promises. */
static void survive(const void *bytes, size_t len)
{
	void *t = NULL, *x = NULL;
	struct symbol_index got;
	struct table_view view;
	struct elf_file f;
	size_t n;
	int fd = file_of(bytes, len);

	if (!elf_file_open(&f, fd)) {
		if (!unwind_build(&f, runtimes_rows, &t, &n))
			CHECK(view_open(&view, t, n));
		if (!symbols_build(&f, runtimes_symbols, &x, &n))
			CHECK_EQ(symbols_open(x, n, &got), 0);
	}
	elf_file_close(&f);
	free(t);
	free(x);
	close(fd);
}

TEST(go_truncated)
{
	for (size_t i = 0; i < 3; i++) {
		go_make(&image, magics[i], false, EM_X86_64);
		for (size_t len = 0; len < image.im.n; len += 1 + i)
			survive(image.im.b, len);
	}
}

TEST(go_flipped)
{
	for (size_t i = 0; i < 3; i++) {
		go_make(&image, magics[i], false, EM_X86_64);
		for (size_t bit = 8 * (image.text - GO_BASE);
		     bit < 8 * image.im.n; bit += 1 + 2 * (i != 2)) {
			image.im.b[bit / 8] ^= 1 << bit % 8;
			survive(image.im.b, image.im.n);
			image.im.b[bit / 8] ^= 1 << bit % 8;
		}
	}
}

/* Absurd values in each word of the table. */
TEST(go_absurd_words)
{
	static const uint64_t odd[] = {
		0, 1, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX,
		1ULL << 63, 0x400000,
	};

	for (size_t i = 0; i < 3; i++) {
		go_make(&image, magics[i], true, EM_X86_64);
		for (size_t w = image.text - GO_BASE; w + 8 <= image.im.n;
		     w += 4) {
			uint8_t keep[8];

			memcpy(keep, image.im.b + w, 8);
			for (size_t k = 0; k < sizeof(odd) / sizeof(odd[0]);
			     k++) {
				memcpy(image.im.b + w, &odd[k], 8);
				survive(image.im.b, image.im.n);
			}
			memcpy(image.im.b + w, keep, 8);
		}
	}
	free(table);
	free(index_data);
	table = index_data = NULL;
}
