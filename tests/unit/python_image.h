/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_image - a small CPython made up in memory, for tests
 *
 * Functions of PY_SIZE bytes, each with two rows of CFI, from PY_TEXT + their offset
 * in the file on; data from PY_DATA + theirs on.
 */
#ifndef TESTS_PYTHON_IMAGE_H
#define TESTS_PYTHON_IMAGE_H

#include "bpf/python.h"
#include "bpf/python_lines.h"
#include "tests/unit/cfi_bytes.h"
#include "tests/unit/elf_image.h"

#define PY_TEXT		0x500000	/* where the file's first byte would be */
#define PY_DATA		0x700000
#define PY_SIZE		64
#define PY_ROW		8		/* the second row of a function: from there on */
#define PY_THREAD_AT	(-24)
#define PY_OFFSETS	96		/* words of _Py_DebugOffsets */

enum py_func { PY_BEFORE, PY_LOOP, PY_COLD, PY_AFTER, PY_HEAD, PY_TLS, PY_FUNCS };

struct python_image {
	struct elf_image im;
	uint64_t text, root, root_at;	/* vaddr of functions; _PyRuntime's */
	Elf64_Sym syms[16];
	uint32_t n_syms;		/* [0] is the empty one */
	char strs[512];
	uint32_t strs_len;
};

/* An undefined one may have a value, too: where the executable calls it. */
static inline void py_symbol_of(struct python_image *p, const char *name, bool defined,
				uint64_t at, uint64_t size)
{
	CHECK(p->n_syms < 16);
	p->syms[p->n_syms++] = (Elf64_Sym){
		.st_name = p->strs_len, .st_value = at, .st_size = size,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = defined ? 1 : SHN_UNDEF,
	};
	strcpy(p->strs + p->strs_len, name);
	p->strs_len += strlen(name) + 1;
}

static inline void py_symbol(struct python_image *p, const char *name, uint64_t at,
			     uint64_t size)
{
	py_symbol_of(p, name, true, at, size);
}

/* The symbols until now are a table: "dyn", or "sym" with "str". */
static inline void py_symbols_end(struct python_image *p, bool dynamic)
{
	size_t len = p->n_syms * sizeof(*p->syms);
	uint64_t at = image_put(&p->im, p->syms, len);

	image_section(&p->im, dynamic ? ".dynsym" : ".symtab",
		      dynamic ? SHT_DYNSYM : SHT_SYMTAB, at, 0, len)->sh_entsize =
		sizeof(*p->syms);
	at = image_put(&p->im, p->strs, p->strs_len);
	image_section(&p->im, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, at, 0,
		      p->strs_len);
	p->n_syms = p->strs_len = 1;
}

static inline uint64_t py_func(const struct python_image *p, int i)
{
	return p->text + (uint64_t)i * PY_SIZE;
}

static inline void py_text(struct python_image *p)
{
	static const uint8_t ops[] = { 0x40 | PY_ROW, 0x0e, 16, 0x86, 2 };
	uint8_t code[PY_FUNCS * PY_SIZE];
	struct cfi_bytes cfi = { .n = 0 };
	int32_t to;
	size_t cie;
	uint64_t at;

	memset(code, 0x90, sizeof(code));
	p->text = PY_TEXT + IMAGE_DATA + 16;
	/* mov interp_head(%rip), %rax; ret */
	memcpy(code + PY_HEAD * PY_SIZE, "\x48\x8b\x05____\xc3", 8);
	to = p->root - (py_func(p, PY_HEAD) + 7);
	memcpy(code + PY_HEAD * PY_SIZE + 3, &to, 4);
	/* mov %fs:x, %rax; ret */
	memcpy(code + PY_TLS * PY_SIZE, "\x64\x48\x8b\x04\x25____\xc3", 10);
	to = PY_THREAD_AT;
	memcpy(code + PY_TLS * PY_SIZE + 5, &to, 4);
	image_put(&p->im, "", 1);	/* the place before the first one */
	at = image_put(&p->im, code, sizeof(code));
	CHECK_EQ(PY_TEXT + at, p->text);
	image_segment(&p->im, PT_LOAD, PF_R | PF_X, at, p->text, sizeof(code));
	cie = put_cie(&cfi);
	for (int i = 0; i < PY_FUNCS; i++)
		put_fde(&cfi, cie, py_func(p, i), PY_SIZE, ops, sizeof(ops));
	at = image_put(&p->im, cfi.b, cfi.n);
	image_section(&p->im, ".eh_frame", SHT_PROGBITS, at, CFI_VADDR, cfi.n);
}

/* What CPython says of itself, since 3.13: numbers of fields in their order there
 * (pycore_runtime.h, pycore_debug_offsets.h), and what they are. */
struct py_said {
	uint32_t field, value;
};

#define PY_FIELDS	23

static inline void py_fields(uint32_t layout, struct py_said *said)
{
	static const struct python_layout layouts[PYTHON_LAYOUTS] = PYTHON_LAYOUT_TABLE;
	static const struct python_lines lines[PYTHON_LAYOUTS] = PYTHON_LINES_TABLE;
	const struct python_layout *l = &layouts[layout];
	const struct python_lines *t = &lines[layout];
	bool is_15 = layout % PYTHON_FREE_THREADED == 15;
	uint32_t later = is_15 ? 8 : 0, end = is_15 ? 12 : 0;

	if (layout % PYTHON_FREE_THREADED == 13) {
		memcpy(said, (struct py_said[]) {
			{ 5, l->interpreters }, { 8, l->next_interp }, { 9, l->threads },
			{ 21, 8 }, { 23, l->current }, { 24, l->thread_id },
			{ 29, l->previous }, { 30, l->code }, { 31, t->at }, { 33, l->entry },
			{ 35, l->filename }, { 37, l->name }, { 38, t->table },
			{ 39, l->line }, { 43, t->code }, { 45, l->ob_type },
			{ 47, l->tp_name }, { 68, l->state }, { 69, l->length },
			{ 70, l->ascii },
		}, 20 * sizeof(*said));
		return;
	}
	memcpy(said, (struct py_said[]) {
		{ 5, l->interpreters }, { 8, l->next_interp }, { 9, l->threads },
		{ 24, 8 }, { 26, l->current }, { is_15 ? 27 : 0, l->base },
		{ is_15 ? 30 : 27, l->thread_id }, { 32 + later, l->previous },
		{ 33 + later, l->code }, { 34 + later, t->at }, { 36 + later, l->entry },
		{ 38 + later, t->copy }, { 40 + later, l->filename },
		{ 42 + later, l->name }, { 43 + later, t->table }, { 44 + later, l->line },
		{ 48 + later, t->code }, { 49 + later, t->copies },
		{ 51 + later, l->ob_type }, { 53 + later, l->tp_name },
		{ 78 + end, l->state }, { 79 + end, l->length }, { 80 + end, l->ascii },
	}, PY_FIELDS * sizeof(*said));
}

static inline void py_offsets(uint64_t *w, uint32_t layout)
{
	struct py_said said[PY_FIELDS] = { 0 };

	py_fields(layout, said);
	for (int i = 0; i < PY_FIELDS; i++)
		w[said[i].field] = said[i].value;
	memcpy(w, "xdebugpy", 8);
	w[1] = 0x030000f0 | layout % PYTHON_FREE_THREADED << 16;
	w[2] = layout >= PYTHON_FREE_THREADED;
}

/* minor: of 3.x, as that tells it; no_root: it only uses _PyRuntime.  It has a GIL: for
 * another layout there is py_offsets(). */
static inline void py_make(struct python_image *p, uint32_t minor, bool cold, bool no_root)
{
	static const char *const since[] = { "PyCode_NewWithPosOnlyArgs",
					     "PyObject_CallNoArgs",
					     "PyModule_AddObjectRef" };
	uint64_t words[PY_OFFSETS + 1] = { 0 };

	*p = (struct python_image){ .n_syms = 1, .strs_len = 1 };
	image_init(&p->im, EM_X86_64);
	if (minor >= 13 && minor <= 15)
		py_offsets(words, minor);
	words[PY_OFFSETS] = minor << 16 | 0x030000f0;
	p->root = PY_DATA + 4096;
	py_text(p);
	/* data lie at the place that the code already says */
	p->root_at = image_put(&p->im, words, sizeof(words));
	image_segment(&p->im, PT_LOAD, PF_R | PF_W, p->root_at, p->root, sizeof(words));
	if (minor >= 7)
		py_symbol_of(p, "_PyRuntime", !no_root, p->root, 64);
	py_symbol_of(p, "PyInterpreterState_Head", !no_root, py_func(p, PY_HEAD), 8);
	py_symbol(p, "PyGILState_GetThisThreadState", py_func(p, PY_TLS), 10);
	py_symbol(p, "_PyEval_EvalFrameDefault", py_func(p, PY_LOOP), PY_SIZE);
	for (uint32_t i = 8; i <= minor && i <= 10; i++)
		py_symbol(p, since[i - 8], py_func(p, PY_AFTER), 1);
	if (minor >= 11)
		py_symbol(p, "Py_Version", p->root + 8 * PY_OFFSETS, 8);
	py_symbols_end(p, true);
	if (cold) {
		py_symbol(p, "_PyEval_EvalFrameDefault.cold", py_func(p, PY_COLD), PY_SIZE);
		py_symbols_end(p, false);
	}
	image_finish(&p->im);
}

#endif /* TESTS_PYTHON_IMAGE_H */
