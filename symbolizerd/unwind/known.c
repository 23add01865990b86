// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/unwind/known.h"

#include <string.h>

#define BLOCK		(1u << 20)
#define LONGEST		16

/* The lookup is by return address minus one: a place begins a byte before. */
static const struct {
	uint8_t len, bytes[LONGEST];
	uint8_t cfa, covers;	/* bytes from the first on */
} patterns[] = {
	/* mov $15, %rax; syscall */
	{ 9, { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, CFA_SIGNAL, 9 },
	/* mov $15, %eax; syscall */
	{ 7, { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 }, CFA_SIGNAL, 7 },
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je */
	{ 11, { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff,
		0x74 }, CFA_END, 0 },
	/* mov %rbx, %rsp; pop %rdi; test %rdi, %rdi; je */
	{ 8, { 0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff, 0x74 }, CFA_END, 0 },
};
#define PATTERNS	(sizeof(patterns) / sizeof(*patterns))

static void search(const struct elf_bytes *b, struct known *ret)
{
	for (size_t i = 0; i < PATTERNS; i++) {
		const uint8_t *at = b->data, *end = b->data + b->len;

		while (ret->n < KNOWN_MAX &&
		       (at = memmem(at, end - at, patterns[i].bytes,
				    patterns[i].len))) {
			uint64_t start = b->vaddr + (at - b->data);

			ret->place[ret->n++] = (struct known_place){
				start - 1, start + patterns[i].covers,
				patterns[i].cfa };
			at++;
		}
	}
}

void known_search(const struct elf_file *f, struct known *ret)
{
	uint64_t left = f->ehdr.e_machine == EM_X86_64 ? KNOWN_SEARCH : 0;

	ret->n = 0;
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];
		uint64_t at = 0;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		while (at < p->p_filesz && left) {
			uint64_t n = p->p_filesz - at;
			struct elf_bytes b;

			if (n > BLOCK + LONGEST)
				n = BLOCK + LONGEST;
			if (elf_file_read(f, p->p_offset + at, n, &b))
				break;
			b.vaddr = p->p_vaddr + at;
			search(&b, ret);
			elf_bytes_free(&b);
			left -= n < left ? n : left;
			at += BLOCK;
		}
	}
}
