// SPDX-License-Identifier: Apache-2.0
/*
 * perl - the interpreter in an executable or a libperl, under any name
 *
 * By names that extensions in C need, so they are exported also where there are no debug
 * symbols.  Version and place of the root come from them alone.
 */
#include <stdio.h>

#include "bpf/perl.h"
#include "symbolizerd/elf/elf_symbols.h"
#include "symbolizerd/runtimes/runtime.h"

enum {
	LOOP, DEBUG_LOOP, VERSION, SUBVERSION, THREAD_KEY, CURCOP, STACK, ENV, SYMBOLS
};

static const char *const perl_exported[SYMBOLS] = {
	[LOOP] = "Perl_runops_standard",
	[DEBUG_LOOP] = "Perl_runops_debug",
	[VERSION] = "PL_version",		/* bytes in .rodata (perl.c) */
	[SUBVERSION] = "PL_subversion",
	[THREAD_KEY] = "PL_thr_key",		/* with threads: perlvars.h */
	[CURCOP] = "PL_curcop",			/* without: intrpvar.h */
	[STACK] = "PL_curstackinfo",
	[ENV] = "PL_top_env",
};

/* A loop is some ten instructions; what is longer is none. */
#define PERL_LOOP_BYTES	4096

static uint8_t perl_byte(const struct elf_file *f, const Elf64_Sym *s)
{
	uint8_t v = 0;

	return elf_file_get(f, s->st_value, &v, sizeof(v)) ? v : 0;
}

/* Fact: the place of a variable. */
static bool perl_add_place(const struct elf_file *f, const Elf64_Sym *s, int which,
			   uint32_t version, struct runtime_found *ret)
{
	uint64_t at;

	if (!s[which].st_value ||
	    !runtime_relative(f, s[LOOP].st_value, s[which].st_value, &at))
		return false;
	runtime_add_fact(ret, version, at, 0);
	return true;
}

/* Where the walk begins.  False: it is not known for a build of this kind. */
static bool perl_add_root(const struct elf_file *f, const Elf64_Sym *s, uint32_t minor,
			  struct runtime_found *ret)
{
	if (s[THREAD_KEY].st_value)
		return perl_add_place(f, s, THREAD_KEY, minor | PERL_THREADED, ret);
	return perl_add_place(f, s, CURCOP, minor, ret) &&
	       perl_add_place(f, s, STACK, minor, ret) &&
	       perl_add_place(f, s, ENV, minor, ret);
}

static void perl_add_loop(const Elf64_Sym *s, struct runtime_found *ret)
{
	if (s->st_value && s->st_size && s->st_size <= PERL_LOOP_BYTES)
		runtime_add_span(ret, s->st_value, s->st_value + s->st_size, RULE_LOOP);
}

static bool perl_known(uint32_t minor)
{
	return minor >= PERL_MINOR_MIN && minor <= PERL_MINOR_MAX && !(minor & 1);
}

static bool perl_find(const struct elf_file *f, struct runtime_found *ret)
{
	Elf64_Sym s[SYMBOLS];
	uint32_t minor;

	if (!elf_symbols_may_have(f, perl_exported[LOOP]))
		return false;
	elf_symbols_find(f, ".dyn", perl_exported, SYMBOLS, s);
	if (!s[LOOP].st_value || !s[VERSION].st_value || !s[SUBVERSION].st_value)
		return false;
	minor = perl_byte(f, &s[VERSION]);
	if (minor)
		snprintf(ret->id, sizeof(ret->id), "5.%u.%u", minor,
			 perl_byte(f, &s[SUBVERSION]));
	perl_add_loop(&s[LOOP], ret);
	perl_add_loop(&s[DEBUG_LOOP], ret);
	ret->unknown = !perl_known(minor) || !ret->n_spans || !perl_add_root(f, s, minor, ret);
	return true;
}

const struct runtime_ops runtime_perl = {
	.find = perl_find,
};
