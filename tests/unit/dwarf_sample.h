/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_sample - a program with inlined functions, built with DWARF by a compiler
 *
 * Its symbol `here` is in innermost(), inlined into middle(), into outer().
 */
#ifndef TESTS_DWARF_SAMPLE_H
#define TESTS_DWARF_SAMPLE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbolizerd/elf/elf_symbols.h"
#include "tests/unit/harness.h"

#define SAMPLE_INNERMOST	5	/* lines */
#define SAMPLE_HERE		7
#define SAMPLE_MIDDLE		12
#define SAMPLE_OUTER		17

static const char dwarf_sample_source[] =
	"#define I static inline __attribute__((always_inline))\n"	/* 1 */
	"volatile int sink;\n"
	"int outer(int x);\n"
	"\n"
	"I int innermost(int x)\n"					/* 5 */
	"{\n"
	"	__asm__ volatile(\".globl here\\nhere: nop\"); x += sink;\n"
	"	return x * 3;\n"
	"}\n"
	"I int middle(int x)\n"						/* 10 */
	"{\n"
	"	return innermost(x) + 1;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x)\n"
	"{\n"								/* 15 */
	"	sink = x;\n"
	"	return middle(x) - 1;\n"
	"}\n"
	"void _start(void) { sink = outer(sink); for (;;) ; }\n";

struct dwarf_sample {
	char dir[64];
	char path[128];		/* of the program */
	uint64_t here;		/* virtual address */
	uint64_t offset;	/* of that in the file */
};

/* False: the command fails, so there is no such compiler, say. */
static inline bool dwarf_sample_run(const char *command)
{
	return system(command) == 0;
}

static inline void dwarf_sample_find(struct dwarf_sample *s)
{
	static const char *const names[] = { "here" };
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	struct elf_file f;
	Elf64_Sym sym;

	CHECK(fd >= 0);
	CHECK_EQ(elf_file_open(&f, fd), 0);
	elf_symbols_find(&f, ".", names, 1, &sym);
	CHECK(sym.st_value);
	s->here = sym.st_value;
	CHECK(elf_file_offset(&f, s->here, true, &s->offset, NULL));
	elf_file_close(&f);
	close(fd);
}

/* False: there is no such compiler, or it does not know an option. */
static inline bool dwarf_sample_make(struct dwarf_sample *s, const char *compiler)
{
	char command[512];
	FILE *f;

	snprintf(s->dir, sizeof(s->dir), "/tmp/dwarf_sample.XXXXXX");
	CHECK(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/sample", s->dir);
	snprintf(command, sizeof(command), "%s/sample.c", s->dir);
	f = fopen(command, "w");
	CHECK(f);
	fputs(dwarf_sample_source, f);
	CHECK_EQ(fclose(f), 0);
	snprintf(command, sizeof(command),
		 "cd %s && %s -nostdlib -static -Wl,--build-id -o sample sample.c 2>/dev/null",
		 s->dir, compiler);
	if (!dwarf_sample_run(command))
		return false;
	dwarf_sample_find(s);
	return true;
}

static inline void dwarf_sample_remove(const struct dwarf_sample *s)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", s->dir);
	CHECK(dwarf_sample_run(command));
}

#endif /* TESTS_DWARF_SAMPLE_H */
