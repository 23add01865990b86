// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/plt.h"

#include <stdbool.h>
#include <string.h>

#include "common/bisect.h"
#include "ipc/message_hub.h"

#define X86_STEP	8	/* stubs begin at its multiples */
#define X86_STUB	16	/* bytes at most, of all layouts */
#define ARM_STEP	4
#define ARM_STUB	24
#define RELA_BLOCK	(4096 * sizeof(Elf64_Rela))

struct plt_code {		/* of a section */
	const uint8_t *data;
	size_t len;
	uint64_t vaddr;
};

/* --- instructions -------------------------------------------------------------- */

static bool plt_is(const struct plt_code *c, size_t at, const char *bytes, size_t len)
{
	return c->len - at >= len && !memcmp(c->data + at, bytes, len);
}

static uint32_t plt_word(const struct plt_code *c, size_t at)
{
	uint32_t v;

	memcpy(&v, c->data + at, sizeof(v));
	return v;
}

/* [endbr64] [mov $imm32, %r11d] [bnd] jmp *disp32(%rip): address of the word, or 0. */
static uint64_t plt_x86(const struct plt_code *c, size_t at)
{
	if (plt_is(c, at, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (plt_is(c, at, "\x41\xbb", 2) && c->len - at > 6)
		at += 6;
	if (plt_is(c, at, "\xf2", 1))
		at++;
	if (!plt_is(c, at, "\xff\x25", 2) || c->len - at < 6)
		return 0;
	return c->vaddr + at + 6 + (uint64_t)(int64_t)(int32_t)plt_word(c, at + 2);
}

/* [bti c] adrp x16, page; ldr x17, [x16, offset] */
static uint64_t plt_arm(const struct plt_code *c, size_t at)
{
	uint32_t adrp, ldr;
	int64_t page;

	if (c->len - at >= 12 && plt_word(c, at) == 0xd503245f)
		at += 4;
	if (c->len - at < 8)
		return 0;
	adrp = plt_word(c, at);
	ldr = plt_word(c, at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (int64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	page = (page ^ 0x100000) - 0x100000;
	return ((c->vaddr + at) & ~0xfffULL) + (uint64_t)page * 4096 +
	       (ldr >> 10 & 0xfff) * 8;
}

/* The stubs of a section; each reaches to the next. */
static int plt_scan(const struct plt_code *c, bool arm, struct plt *p)
{
	const size_t step = arm ? ARM_STEP : X86_STEP;
	const size_t most = arm ? ARM_STUB : X86_STUB;
	struct plt_stub *last = NULL;

	for (size_t at = 0; at + step <= c->len; at += step) {
		struct plt_stub stub = {
			.vaddr = c->vaddr + at, .symbol = PLT_NO_SYMBOL,
			.slot = arm ? plt_arm(c, at) : plt_x86(c, at),
			.size = (uint32_t)most,
		};

		if (stub.size > c->len - at)
			stub.size = (uint32_t)(c->len - at);
		if (!stub.slot)
			continue;
		if (last && stub.vaddr - last->vaddr < last->size)
			last->size = (uint32_t)(stub.vaddr - last->vaddr);
		if (!vector_push(&p->stubs, stub))
			return JOB_NO_MEMORY;
		last = &p->stubs.v[p->stubs.n - 1];
		if (arm)	/* its adrp, after a bti, is not another stub */
			at += 4;
	}
	return JOB_OK;
}

static int plt_section(const struct elf_file *f, const char *name, struct plt *p)
{
	const Elf64_Shdr *s = elf_file_find(f, name);
	struct elf_bytes b;
	struct plt_code c;
	int r;

	if (!s || s->sh_size > PLT_BYTES_MAX || !(s->sh_flags & SHF_EXECINSTR) ||
	    s->sh_flags & SHF_COMPRESSED)
		return JOB_OK;
	r = elf_file_section(f, s, &b);
	if (r)
		return r;
	c = (struct plt_code){ b.data, b.len, s->sh_addr };
	r = plt_scan(&c, f->ehdr.e_machine == EM_AARCH64, p);
	elf_bytes_free(&b);
	p->sections[p->n_sections] = s;
	p->names[p->n_sections++] = name;
	return r;
}

/* --- relocations ---------------------------------------------------------------- */

static int plt_by_slot(const void *x, const void *y)
{
	const struct plt_stub *a = x, *b = y;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return 0;
}

static bool plt_known(const struct plt_stub *s)
{
	return s->symbol != PLT_NO_SYMBOL || s->resolver;
}

/* Set the symbol or resolver of stubs whose word this relocation fills.  The first
 * relocation of a stub counts; *left: stubs without one. */
static void plt_relocate(struct plt *p, const Elf64_Rela *rela, bool arm, uint32_t *left)
{
	static const struct { uint32_t irelative, jump_slot, glob_dat; } machines[] = {
		{ R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT },
		{ R_AARCH64_IRELATIVE, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT },
	};
	uint32_t type = ELF64_R_TYPE(rela->r_info);
	bool chosen = type == machines[arm].irelative;
	struct plt_stub *s = p->stubs.v;

	if (!chosen && type != machines[arm].jump_slot && type != machines[arm].glob_dat)
		return;
	for (uint32_t i = bisect(mid, p->stubs.n, s[mid].slot < rela->r_offset);
	     i < p->stubs.n && s[i].slot == rela->r_offset && !plt_known(&s[i]); i++) {
		if (chosen)
			s[i].resolver = (uint64_t)rela->r_addend;
		else if (ELF64_R_SYM(rela->r_info))
			s[i].symbol = ELF64_R_SYM(rela->r_info);
		if (!plt_known(&s[i]))
			return;
		(*left)--;
	}
}

/* A section's relocations, a block at a time, until each stub has one. */
static int plt_relocations(const struct elf_file *f, const char *name, struct plt *p,
			   uint32_t *left)
{
	const Elf64_Shdr *s = elf_file_find(f, name);
	uint64_t off, len;
	int r;

	if (!s || s->sh_type != SHT_RELA || s->sh_flags & SHF_COMPRESSED)
		return JOB_OK;
	off = s->sh_offset;
	len = s->sh_size - s->sh_size % sizeof(Elf64_Rela);
	while (*left && len) {
		size_t part = len < RELA_BLOCK ? len : RELA_BLOCK;
		struct elf_bytes b;

		r = elf_file_read(f, off, part, &b);
		if (r)
			return r;
		for (size_t i = 0; *left && i < part; i += sizeof(Elf64_Rela)) {
			Elf64_Rela rela;

			memcpy(&rela, b.data + i, sizeof(rela));
			plt_relocate(p, &rela, f->ehdr.e_machine == EM_AARCH64, left);
		}
		elf_bytes_free(&b);
		off += part;
		len -= part;
	}
	return JOB_OK;
}

int plt_read(const struct elf_file *f, struct plt *ret)
{
	static const char *const code[PLT_SECTIONS] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	static const char *const relocations[] = { ".rela.plt", ".rela.iplt", ".rela.dyn" };
	uint32_t left;
	int r = JOB_OK;

	*ret = (struct plt){ 0 };
	for (size_t i = 0; !r && i < PLT_SECTIONS; i++)
		r = plt_section(f, code[i], ret);
	left = ret->stubs.n;
	if (left)
		qsort(ret->stubs.v, left, sizeof(*ret->stubs.v), plt_by_slot);
	for (size_t i = 0; !r && left && i < sizeof(relocations) / sizeof(*relocations); i++)
		r = plt_relocations(f, relocations[i], ret, &left);
	return r;
}

void plt_free(struct plt *p)
{
	free(p->stubs.v);
	*p = (struct plt){ 0 };
}
