/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_image - a small Go executable made up in memory, for tests
 *
 * As Go 1.16, 1.18 or 1.20 lays its tables out.  Its functions are GO_FUNCS
 * pieces of GO_SIZE bytes from GO_TEXT on, each with the prologue of its time.
 */
#ifndef TESTS_GO_IMAGE_H
#define TESTS_GO_IMAGE_H

#include "symbolizerd/runtimes/go/pclntab.h"
#include "tests/unit/elf_image.h"

#define GO_BASE	0x400000	/* virtual address of the file's first byte */
#define GO_SIZE	32
#define GO_LINES	7	/* line of the first instruction of each function */

enum go_func {
	GO_LEAF, GO_FRAME, GO_SYSTEMSTACK, GO_MCALL, GO_VFORK, GO_GOEXIT,
	GO_CLANG, GO_SIGRETURN, GO_FUNCS
};

struct go_bytes {
	uint8_t b[4096];
	size_t n;
};

struct go_image {
	struct elf_image im;
	uint32_t magic;
	bool sections;		/* else no section headers, but a note */
	uint64_t text, table, data;	/* virtual addresses */
	struct go_bytes names, units, files, pcs, funcs, inl;
};

static inline size_t go_put(struct go_bytes *g, const void *p, size_t len)
{
	size_t at = g->n;

	CHECK(sizeof(g->b) - at >= len);
	memcpy(g->b + at, p, len);
	g->n += len;
	return at;
}

static inline size_t go_num(struct go_bytes *g, uint64_t v, size_t size)
{
	return go_put(g, &v, size);
}

static inline const char *go_name(int i)
{
	static const char *const names[GO_FUNCS] = {
		"main.leaf", "main.frame[int]", "runtime.systemstack",
		"runtime.mcall", "syscall.rawVforkSyscall", "runtime.goexit",
		"clang", "runtime.sigreturn__sigaction",
	};

	return names[i];
}

/* push %rbp; mov %rsp,%rbp; sub $24,%rsp ... add $24,%rsp; pop %rbp; ret; or,
 * before Go 1.21: sub $32,%rsp; mov %rbp,24(%rsp); lea 24(%rsp),%rbp ... */
static const uint8_t go_new_code[GO_SIZE] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x18,
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3, 0xcc, 0xcc,
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
};
static const uint8_t go_old_code[GO_SIZE] = {
	0x48, 0x83, 0xec, 0x20, 0x48, 0x89, 0x6c, 0x24, 0x18,
	0x48, 0x8d, 0x6c, 0x24, 0x18, 0x90, 0x90,
	0x48, 0x8b, 0x6c, 0x24, 0x18, 0x48, 0x83, 0xc4, 0x20, 0xc3,
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
};
/* the same with a load of SP, mov 0x38(%rdx),%rsp, at 8 and, once, at 16 */
static const uint8_t go_switch_code[GO_SIZE] = {
	0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90,
	0x48, 0x8b, 0x62, 0x38, 0xff, 0xd7, 0x90, 0x90,
	0x48, 0x8b, 0x60, 0x38, 0x5d, 0xc3, 0xcc, 0xcc,
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
};

static inline void go_code(const struct go_image *g, int i, uint8_t *to)
{
	const uint8_t *code = g->magic == PCLNTAB_120 ? go_new_code :
							go_old_code;

	if (i == GO_SYSTEMSTACK || i == GO_MCALL)
		code = go_switch_code;
	if (i == GO_FRAME || i == GO_SYSTEMSTACK || i == GO_MCALL)
		memcpy(to, code, GO_SIZE);
	else
		memset(to, 0x90, GO_SIZE);
	if (i == GO_VFORK)		/* pop %r12 */
		memcpy(to + 2, "\x41\x5c", 2);
}

/* Value and length, again and again, to a length of 0: place of the table. */
static inline uint32_t go_table(struct go_image *g, const int32_t *v)
{
	int32_t before = -1;
	uint32_t at = g->pcs.n;

	for (; v[1]; v += 2) {
		int32_t d = v[0] - before;

		CHECK(d > -64 && d < 64);
		go_num(&g->pcs, d < 0 ? -2 * d - 1 : 2 * d, 1);
		go_num(&g->pcs, v[1], 1);
		before = v[0];
	}
	go_num(&g->pcs, 0, 1);
	return at;
}

static inline uint32_t go_pcsp(struct go_image *g, int i)
{
	static const int32_t leaf[] = { 0, 22, 0, 0 };
	static const int32_t new[] = { 0, 1, 8, 7, 32, 12, 8, 1, 0, 1, 0, 0 };
	static const int32_t old[] = { 0, 4, 32, 21, 0, 1, 0, 0 };
	static const int32_t swap[] = { 0, 1, 8, 20, 0, 1, 0, 0 };
	static const int32_t vfork[] = { 0, 4, -8, 4, 0, 8, 0, 0 };

	switch (i) {
	case GO_FRAME:
		return go_table(g, g->magic == PCLNTAB_120 ? new : old);
	case GO_SYSTEMSTACK:
	case GO_MCALL:
		return go_table(g, swap);
	case GO_VFORK:
		return go_table(g, vfork);
	case GO_CLANG:
		return 0;
	default:
		return go_table(g, leaf);
	}
}

/* GO_FRAME: from byte 8 on main.inner (b.go, line 50 on) is inlined at line 9
 * of a.go, from byte 12 on main.most (b.go, line 60) within it, at 52. */
static inline void go_record(struct go_image *g, int i)
{
	static const int32_t inlined[] = { -1, 8, 0, 4, 1, 4, -1, 6, 0, 0 };
	static const int32_t files[] = { 0, 8, 1, 8, 0, 6, 0, 0 };
	static const int32_t lines[] = { 7, 7, 9, 1, 50, 1, 51, 2, 52, 1,
					 60, 4, 10, 6, 0, 0 };
	static const int32_t zero[] = { 0, 22, 0, 0 }, seven[] = { 7, 22, 0, 0 };
	bool frame = i == GO_FRAME, old = g->magic == PCLNTAB_116;
	struct go_bytes *f = &g->funcs;

	go_num(f, (old ? g->text : 0) + i * GO_SIZE, old ? 8 : 4);
	go_num(f, go_put(&g->names, go_name(i), strlen(go_name(i)) + 1), 4);
	go_num(f, 0, 8);		/* args, deferreturn */
	go_num(f, go_pcsp(g, i), 4);
	go_num(f, go_table(g, frame ? files : zero), 4);
	go_num(f, go_table(g, frame ? lines : seven), 4);
	go_num(f, 3, 4);		/* pcdata */
	go_num(f, 0, 4);		/* unit */
	if (g->magic == PCLNTAB_120)
		go_num(f, GO_LINES, 4);
	go_num(f, 0, 1);
	go_num(f, old ? 0 : i == GO_GOEXIT ? PCLNTAB_TOPFRAME | PCLNTAB_ASM :
		  i == GO_SYSTEMSTACK || i == GO_MCALL ?
		  PCLNTAB_SPWRITE | PCLNTAB_ASM : 0, 1);
	go_num(f, 0, 1);
	go_num(f, 4, 1);		/* funcdata */
	go_num(f, 0, 8);
	go_num(f, frame ? go_table(g, inlined) : 0, 4);
	if (old && f->n % 8)
		go_num(f, 0, 4);
	for (int k = 0; k < 4; k++) {
		uint64_t at = old ? g->data : 0;

		go_num(f, k == 3 && frame ? at : old ? 0 : UINT32_MAX,
		       old ? 8 : 4);
	}
}

static inline void go_inlined(struct go_image *g, const char *name,
			      uint32_t parent_pc, uint32_t line)
{
	uint32_t at = go_put(&g->names, name, strlen(name) + 1);

	go_num(&g->inl, 0, 4);
	if (g->magic != PCLNTAB_120)
		go_num(&g->inl, 0, 8);
	go_num(&g->inl, at, 4);
	go_num(&g->inl, parent_pc, 4);
	if (g->magic == PCLNTAB_120)
		go_num(&g->inl, line, 4);
}

/* Header, parts, the table of functions in front of their records. */
static inline void go_parts(struct go_image *g, struct go_bytes *out)
{
	struct go_bytes *parts[] = { &g->names, &g->units, &g->files, &g->pcs };
	size_t old = g->magic == PCLNTAB_116, at = old ? 64 : 72, i;
	size_t size = old ? 8 : 4, records[GO_FUNCS], tab;
	struct go_bytes funcs;

	tab = (2 * GO_FUNCS + 1) * size;
	tab = (tab + 7) / 8 * 8;
	for (i = 0; i < GO_FUNCS; i++) {
		records[i] = tab + g->funcs.n;
		go_record(g, i);
		while (g->funcs.n % 8)
			go_num(&g->funcs, 0, 1);
	}
	go_inlined(g, "main.inner", 7, 48);
	go_inlined(g, "main.most", 11, 59);
	funcs = (struct go_bytes){ 0 };
	for (i = 0; i <= GO_FUNCS; i++) {
		go_num(&funcs, (old ? g->text : 0) + i * GO_SIZE, size);
		if (i < GO_FUNCS)
			go_num(&funcs, records[i], size);
	}
	while (funcs.n < tab)
		go_num(&funcs, 0, 1);
	go_put(&funcs, g->funcs.b, g->funcs.n);
	go_num(out, g->magic, 4);
	go_num(out, 0x08010000, 4);
	go_num(out, GO_FUNCS, 8);
	go_num(out, 2, 8);
	if (!old)
		go_num(out, 0, 8);
	for (i = 0; i < 4; i++) {
		while (parts[i]->n % 8)
			go_num(parts[i], 0, 1);
		go_num(out, at, 8);
		at += parts[i]->n;
	}
	go_num(out, at, 8);
	for (i = 0; i < 4; i++)
		go_put(out, parts[i]->b, parts[i]->n);
	go_put(out, funcs.b, funcs.n);
}

static inline void go_module(struct go_image *g, uint64_t names)
{
	uint64_t words[48] = { g->table, g->table + names };
	uint64_t at;

	words[22] = g->text;
	words[g->magic == PCLNTAB_120 ? 40 : 38] = g->data;
	image_put(&g->im, "something else", 15);
	at = image_put(&g->im, words, sizeof(words));
	image_segment(&g->im, PT_LOAD, PF_R | PF_W, at - 16, GO_BASE + at - 16,
		      sizeof(words) + 16);
}

static inline void go_make(struct go_image *g, uint32_t magic, bool sections,
			   uint16_t machine)
{
	static const uint8_t note[] = { 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0,
					'G', 'o', 0, 0, 'a', 'b', 'c', 'd' };
	uint8_t code[GO_FUNCS * GO_SIZE];
	static struct go_bytes table;
	uint64_t at;

	*g = (struct go_image){ .magic = magic, .sections = sections };
	table = (struct go_bytes){ 0 };
	image_init(&g->im, machine);
	for (int i = 0; i < GO_FUNCS; i++)
		go_code(g, i, code + i * GO_SIZE);
	image_put(&g->im, "", 1);	/* the place before the first one */
	at = image_put(&g->im, code, sizeof(code));
	g->text = GO_BASE + at;
	image_segment(&g->im, PT_LOAD, PF_R | PF_X, at, g->text, sizeof(code));
	go_put(&g->files, "a.go", 5);
	go_num(&g->units, 0, 4);
	go_num(&g->units, go_put(&g->files, "b.go", 5), 4);
	go_num(&g->pcs, 0, 1);
	/* inlining trees lie before the table: their size is known */
	at = image_put(&g->im, table.b, 64);
	g->data = GO_BASE + at;
	go_parts(g, &table);
	memcpy(g->im.b + at, g->inl.b, g->inl.n);
	g->table = GO_BASE + image_put(&g->im, table.b, table.n);
	image_segment(&g->im, PT_LOAD, PF_R, at, g->data,
		      g->table - g->data + table.n);
	if (sections)
		image_section(&g->im, ".gopclntab", SHT_PROGBITS,
			      g->table - GO_BASE, g->table, table.n);
	go_module(g, magic == PCLNTAB_116 ? 64 : 72);
	at = image_put(&g->im, note, sizeof(note));
	image_segment(&g->im, PT_NOTE, PF_R, at, GO_BASE + at, sizeof(note));
	if (sections)
		image_finish(&g->im);
}

#endif /* TESTS_GO_IMAGE_H */
