// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/hotspot/texts.h"

#include <stdbool.h>
#include <string.h>

#include "bpf/hotspot.h"

/* As hotspot_kind_of() has them, whole (codeBlob.cpp, nmethod.cpp, vtableStubs.cpp,
 * stubs.cpp). */
static const struct {
	const char *text;
	uint32_t kind;
} texts[] = {
	{ "nmethod", HOTSPOT_COMPILED },
	{ "native nmethod", HOTSPOT_WRAPPER },
	{ "Interpreter", HOTSPOT_INTERPRETER },
	{ "vtable chunks", HOTSPOT_BARE },
	{ "I2C/C2I adapters", HOTSPOT_BARE },
	{ "MethodHandles adapters", HOTSPOT_BARE },
};

#define TEXTS	(sizeof(texts) / sizeof(texts[0]))

struct texts_search {
	text_fn fn;
	void *ctx;
	uint32_t found[TEXTS];
	uint64_t left;		/* bytes that may still be searched */
};

static int texts_in(struct texts_search *s, const struct elf_bytes *b, size_t i)
{
	size_t len = strlen(texts[i].text) + 1, at = 0;

	while (s->found[i] < TEXTS_EACH) {
		const uint8_t *p = memmem(b->data + at, b->len - at, texts[i].text, len);
		int r;

		if (!p)
			break;
		s->found[i]++;
		at = (size_t)(p - b->data);
		r = s->fn(s->ctx, b->vaddr + at, texts[i].kind);
		if (r)
			return r;
		at++;
	}
	return 0;
}

static int texts_in_segment(struct texts_search *s, const struct elf_file *f,
			    const Elf64_Phdr *p)
{
	struct elf_bytes b;
	int r = 0;

	if (p->p_filesz > s->left || elf_file_read(f, p->p_offset, p->p_filesz, &b))
		return 0;
	s->left -= p->p_filesz;
	b.vaddr = p->p_vaddr;
	for (size_t i = 0; !r && i < TEXTS; i++)
		r = texts_in(s, &b, i);
	elf_bytes_free(&b);
	return r;
}

static bool texts_any(const struct texts_search *s)
{
	for (size_t i = 0; i < TEXTS; i++) {
		if (s->found[i])
			return true;
	}
	return false;
}

int texts_find(const struct elf_file *f, text_fn fn, void *ctx)
{
	static const uint32_t flags[] = { PF_R, PF_R | PF_X };
	struct texts_search s = { .fn = fn, .ctx = ctx, .left = TEXTS_BYTES };
	int r = 0;

	for (int k = 0; k < 2 && !texts_any(&s); k++) {
		for (uint32_t i = 0; !r && i < f->n_phdrs; i++) {
			if (f->phdrs[i].p_type == PT_LOAD && f->phdrs[i].p_flags == flags[k])
				r = texts_in_segment(&s, f, &f->phdrs[i]);
		}
	}
	return r;
}
