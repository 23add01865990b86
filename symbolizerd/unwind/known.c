// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/known.h"

#include <string.h>

#include "symbolizerd/elf/elf_symbols.h"

#define ARM_VDSO_MAX		65536	/* bytes of the image */
#define ARM_NOP			4
#define ARM_SIGRETURN_LEN	8
#define CONTEXT_REACH		(256u << 10)	/* from makecontext() */

/* Value of a symbol of .dynsym, or 0. */
static uint64_t known_exported(const struct elf_file *f, const char *name)
{
	Elf64_Sym s;

	elf_symbols_find(f, ".dyn", &name, 1, &s);
	return s.st_value;
}

/* Lookups are by return address minus one: the nop belongs to it. */
static bool known_arm_sigreturn(const struct elf_file *f, struct known_place *ret)
{
	uint64_t at = 0;

	if (f->size <= ARM_VDSO_MAX)
		at = known_exported(f, "__kernel_rt_sigreturn");
	if (at < ARM_NOP)
		return false;
	*ret = (struct known_place){
		.start = at - ARM_NOP, .end = at + ARM_SIGRETURN_LEN,
		.rule.cfa = CFA_SIGNAL,
	};
	return true;
}

/* The place is the byte before the code: lookups are by return address minus one. */
static bool known_start_context(const struct elf_file *f, struct known_place *ret)
{
	static const struct {
		uint8_t len, bytes[11];
	} code[] = {
		/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je */
		{ 11, { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85,
			0xff, 0x74 } },
		/* mov %rbx, %rsp; pop %rdi; test %rdi, %rdi; je */
		{ 8, { 0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff, 0x74 } },
	};
	uint64_t at = known_exported(f, "makecontext"), off, left, before;
	const uint8_t *hit = NULL;
	struct elf_bytes b;

	if (!at || !elf_file_offset(f, at, true, &off, &left))
		return false;
	before = off < CONTEXT_REACH ? off : CONTEXT_REACH;
	if (left > CONTEXT_REACH)
		left = CONTEXT_REACH;
	if (elf_file_read(f, off - before, before + left, &b))
		return false;
	for (size_t i = 0; i < sizeof(code) / sizeof(*code) && !hit; i++)
		hit = memmem(b.data, b.len, code[i].bytes, code[i].len);
	if (hit) {
		at = at - before + (hit - b.data);
		*ret = (struct known_place){
			.start = at - 1, .end = at, .rule.cfa = CFA_END,
		};
	}
	elf_bytes_free(&b);
	return hit != NULL;
}

/* --- greenlets ------------------------------------------------------------------- */

/* greenlet::UserGreenlet::inner_bootstrap(_greenlet *, _object *) */
#define GREENLET_START	"_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object"

static bool known_greenlet(const struct elf_file *f, struct known_place *ret)
{
	static const char *const name = GREENLET_START;
	Elf64_Sym s;

	if (!elf_symbols_may_have(f, name))
		return false;
	elf_symbols_find(f, ".dyn", &name, 1, &s);
	if (!s.st_value || !s.st_size)
		return false;
	*ret = (struct known_place){
		.start = s.st_value, .end = s.st_value + s.st_size, .rule.cfa = CFA_END,
	};
	return true;
}

/* --- the sections .init and .fini --------------------------------------------- */

#define GLUED_MAX	128	/* bytes; crti.o and crtn.o alone make 9 to 27 */

static const struct glue {
	uint8_t n_first, first[4], n_last, last[5];
} glues[] = {
	{ 4, { 0x48, 0x83, 0xec, 8 },			/* sub $8, %rsp */
	  5, { 0x48, 0x83, 0xc4, 8, 0xc3 } },		/* add $8, %rsp; ret */
	{ 1, { 0x50 }, 2, { 0x58, 0xc3 } },		/* push, pop %rax; ret */
};

static struct known_place known_sp_place(uint64_t start, uint64_t end, int off)
{
	return (struct known_place){
		start, end, { .cfa = CFA_SP, .cfa_off = off, .ra_off = -8 },
	};
}

/* Three places, or none. */
static uint32_t known_glued(const struct elf_bytes *b, struct known_place *ret)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint64_t start = b->vaddr, end = b->vaddr + b->len;
	size_t skip = 0;

	if (b->len > sizeof(endbr) && !memcmp(b->data, endbr, sizeof(endbr)))
		skip = sizeof(endbr);
	for (size_t i = 0; i < sizeof(glues) / sizeof(*glues); i++) {
		const struct glue *g = &glues[i];
		size_t framed = skip + g->n_first;

		if (b->len < framed + g->n_last ||
		    memcmp(b->data + skip, g->first, g->n_first) ||
		    memcmp(b->data + b->len - g->n_last, g->last, g->n_last))
			continue;
		ret[0] = known_sp_place(start, start + framed, 8);
		ret[1] = known_sp_place(start + framed, end - 1, 16);
		ret[2] = known_sp_place(end - 1, end, 8);
		return 3;
	}
	return 0;
}

static uint32_t known_glued_section(const struct elf_file *f, const char *name,
				    struct known_place *ret)
{
	const Elf64_Shdr *s = elf_file_find(f, name);
	struct elf_bytes b;
	uint32_t n;

	if (!s || s->sh_size > GLUED_MAX || elf_file_section(f, s, &b))
		return 0;
	n = known_glued(&b, ret);
	elf_bytes_free(&b);
	return n;
}

uint32_t known_find(const struct elf_file *f,
		    struct known_place ret[KNOWN_MAX])
{
	uint32_t n = known_greenlet(f, ret);

	if (f->ehdr.e_machine == EM_AARCH64)
		return n + known_arm_sigreturn(f, ret + n);
	n += known_start_context(f, ret + n);
	n += known_glued_section(f, ".init", ret + n);
	return n + known_glued_section(f, ".fini", ret + n);
}
