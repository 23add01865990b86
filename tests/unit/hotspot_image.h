/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_image - a small libjvm.so made up in memory, for tests
 *
 * What its tables say is what those of real files said: Debian's 8u504, 11.0.33,
 * 17.0.21, 21.0.13, 25.0.5, 26.0.2, 27.0.1, and Temurin's 25 of spring 2026
 * (HS_25_OLD).  Code lies from HS_TEXT + its offset in the file on, strings from
 * HS_STRINGS on, data from HS_DATA on.
 */
#ifndef TESTS_HOTSPOT_IMAGE_H
#define TESTS_HOTSPOT_IMAGE_H

#include "tests/unit/elf_image.h"

#define HS_TEXT		0x200000	/* where the file's first byte would be */
#define HS_STRINGS	0x400000
#define HS_DATA		0x600000
#define HS_ROOT		0x700100	/* CodeCache's heaps: not in the file */
#define HS_NO		(-1)		/* the release does not have it */

enum hs_release { HS_8, HS_11, HS_17, HS_21, HS_25_OLD, HS_25, HS_26, HS_27, HS_RELEASES };

struct hs_row {
	const char *type, *field;	/* no field: sizeof(type) */
	int said[HS_RELEASES];
};

static const struct hs_row hs_fields[] = {
	{ "CodeBlob", "_code_begin", { HS_NO, 32, 32, 8, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "CodeBlob", "_code_end", { HS_NO, 40, 40, 16, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "CodeBlob", "_code_offset", { 32, HS_NO, HS_NO, HS_NO, 36, 36, 36, 36 } },
	{ "CodeBlob", "_data_offset", { 40, 24, 24, 84, 40, 40, 40, 40 } },
	{ "CodeBlob", "_frame_complete_offset", { 36, 20, 20, 80, 54, 54, 54, 54 } },
	{ "CodeBlob", "_frame_size", { 44, 28, 28, 88, 44, 44, 44, 44 } },
	{ "CodeBlob", "_mutable_data", { HS_NO, HS_NO, HS_NO, HS_NO, 16, 16, 16, 16 } },
	{ "CodeBlob", "_mutable_data_size", { HS_NO, HS_NO, HS_NO, HS_NO, 48, 48, 48, 48 } },
	{ "CodeBlob", "_name", { 8, 96, 96, 64, 8, 8, 8, 8 } },
	{ "CodeBlob", "_relocation_size", { 24, HS_NO, HS_NO, HS_NO, 28, 28, 28, 28 } },
	{ "CodeHeap", "_log2_segment_size", { 248, 256, 256, 248, 248, 248, 248, 248 } },
	{ "CodeHeap", "_memory", { 0, 8, 8, 0, 0, 0, 0, 0 } },
	{ "CodeHeap", "_segmap", { 112, 120, 120, 112, 112, 112, 112, 112 } },
	{ "CompiledMethod", "_deopt_handler_begin",
	  { HS_NO, 128, 128, 128, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "CompiledMethod", "_deopt_mh_handler_begin",
	  { HS_NO, 136, 136, 136, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "CompiledMethod", "_method", { HS_NO, 112, 112, 112, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "CompiledMethod", "_scopes_data_begin",
	  { HS_NO, 120, 120, 120, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "ConstMethod", "_code_size", { 32, 40, 32, 34, 34, 34, 34, 34 } },
	{ "ConstMethod", "_constMethod_size", { 24, 32, 24, 24, 24, 24, 24, 24 } },
	{ "ConstMethod", "_constants", { 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ "ConstMethod", "_flags", { 28, 36, 28, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "ConstMethod", "_flags._flags", { HS_NO, HS_NO, HS_NO, 28, 28, 28, 28, 28 } },
	{ "ConstMethod", "_name_index", { 34, 42, 34, 36, 36, 36, 36, 36 } },
	{ "ConstMethod", "_signature_index", { 36, 44, 36, 38, 38, 38, 38, 38 } },
	{ "ConstantPool", "_length", { 60, 52, 60, 60, 60, 68, 68, 68 } },
	{ "ConstantPool", "_pool_holder", { 24, 24, 24, 24, 24, 24, 24, 24 } },
	{ "ConstantPool", "_source_file_name_index", { HS_NO, HS_NO, 54, 54, 54, 62, 62, 62 } },
	{ "ConstantPool", "_tags", { 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ "GrowableArray<int>", "_data", { 24, 24, 8, 8, 8, 8, 8, 8 } },
	{ "HeapBlock::Header", "_used", { 8, 8, 8, 8, 4, 4, 4, 4 } },
	{ "InstanceKlass", "_constants", { 216, 232, 232, 224, 224, 224, 224, 224 } },
	{ "InstanceKlass", "_source_file_name_index",
	  { 258, 298, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "Klass", "_name", { 16, 24, 24, 24, 24, 24, 24, 24 } },
	{ "Method", "_constMethod", { 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ "PcDesc", "_pc_offset", { 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "PcDesc", "_scope_decode_offset", { 4, 4, 4, 4, 4, 4, 4, 4 } },
	{ "Symbol", "_body", { 8, 6, 6, 6, 6, 6, 6, 6 } },
	{ "Symbol", "_length", { 0, 0, 4, 4, 4, 4, 4, 4 } },
	{ "VirtualSpace", "_high", { 24, 24, 24, 24, 24, 24, 24, 24 } },
	{ "VirtualSpace", "_high_boundary", { 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ "VirtualSpace", "_low", { 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ "VirtualSpace", "_low_boundary", { 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "nmethod", "_deopt_handler_entry_offset",
	  { HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, 176, 176 } },
	{ "nmethod", "_deopt_handler_offset",
	  { HS_NO, HS_NO, HS_NO, HS_NO, 176, 176, HS_NO, HS_NO } },
	{ "nmethod", "_deopt_mh_handler_offset",
	  { HS_NO, HS_NO, HS_NO, HS_NO, 180, 180, HS_NO, HS_NO } },
	{ "nmethod", "_deoptimize_mh_offset",
	  { 152, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "nmethod", "_deoptimize_offset",
	  { 148, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "nmethod", "_dependencies_offset",
	  { 184, 304, 272, 280, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "nmethod", "_immutable_data", { HS_NO, HS_NO, HS_NO, HS_NO, 96, 96, 96, 96 } },
	{ "nmethod", "_immutable_data_size",
	  { HS_NO, HS_NO, HS_NO, HS_NO, 160, 160, 160, 160 } },
	{ "nmethod", "_metadata_offset", { 172, 292, 260, 268, HS_NO, HS_NO, HS_NO, HS_NO } },
	{ "nmethod", "_method", { 64, HS_NO, HS_NO, HS_NO, 80, 80, 80, 80 } },
	{ "nmethod", "_orig_pc_offset", { 200, 320, 300, 304, 208, 208, 208, 200 } },
	{ "nmethod", "_scopes_data_offset", { 176, HS_NO, HS_NO, HS_NO, 200, 200, 196, 192 } },
	{ "nmethod", "_scopes_pcs_offset", { 180, 300, 268, 276, 196, 196, 192, 188 } },
};

static const struct hs_row hs_types[] = {
	{ "HeapBlock", NULL, { 16, 16, 16, 16, 8, 8, 8, 8 } },
	{ "PcDesc", NULL, { 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ "ConstMethod", NULL, { 48, 56, 48, 56, 56, 56, 56, 56 } },
	{ "ConstantPool", NULL, { 80, 64, 72, 72, 72, 80, 80, 80 } },
};

#define HS_FIELDS	((int)(sizeof(hs_fields) / sizeof(hs_fields[0])))
#define HS_TYPES	((int)(sizeof(hs_types) / sizeof(hs_types[0])))
#define HS_STATICS	2

/* The release's number, and which layout it has. */
static const uint32_t hs_feature[HS_RELEASES] = { 8, 11, 17, 21, 25, 25, 26, 27 };
static const uint32_t hs_layout[HS_RELEASES] = { 8, 11, 17, 21, 25, 57, 26, 27 };

/* What is different of one that is made. */
struct hs_odd {
	bool by_code;		/* a function writes the offsets */
	bool arm64;
	uint32_t feature;	/* another one */
	bool undefined;		/* the tables are another file's */
	bool no_hash;		/* no .gnu.hash */
	int lie;		/* which number is another one, from 1: the
				 * fields, then the types */
	int missing;		/* which is not there */
	bool no_end;		/* no entry without a name ends the table */
	uint32_t texts;		/* how often the name of compiled code is there, more than
				 * its type is */
};

/* Names of kinds of code. */
#define HS_TEXTS	6
static const char *const hs_texts[HS_TEXTS] = {
	"nmethod", "native nmethod", "Interpreter", "vtable chunks", "I2C/C2I adapters",
	"MethodHandles adapters",
};

struct hotspot_image {
	struct elf_image im;
	char strings[4096];
	uint32_t n_strings;
	uint64_t strings_at;
	/* .data: pointers to the tables, the release's number, the tables */
	uint64_t data[1024];
	uint64_t data_at;
	uint32_t n_data;
	uint64_t fields_at;		/* their virtual address */
	uint8_t code[2048];
	uint32_t n_code;
	uint64_t base;			/* what x19 holds in it */
	uint32_t n_said;		/* entries that have a number */
};

static inline uint64_t hs_next(const struct elf_image *im)
{
	return (im->n + 15) / 16 * 16;
}

static inline uint64_t hs_string(struct hotspot_image *h, const char *s)
{
	uint32_t at = h->n_strings;

	CHECK(at + strlen(s) < sizeof(h->strings));
	strcpy(h->strings + at, s);
	h->n_strings += strlen(s) + 1;
	return HS_STRINGS + h->strings_at + at;
}

static inline void hs_word(struct hotspot_image *h, uint64_t w)
{
	CHECK(h->n_data < sizeof(h->data) / sizeof(h->data[0]));
	h->data[h->n_data++] = w;
}

static inline uint64_t hs_data_here(const struct hotspot_image *h)
{
	return HS_DATA + h->data_at + 8 * h->n_data;
}

/* movq $number, at(%rip) */
static inline void hs_store(struct hotspot_image *h, uint64_t text, uint64_t at,
			    uint32_t number)
{
	uint8_t *p = h->code + h->n_code;
	int32_t rel = (int32_t)(at - (text + h->n_code + 11));

	CHECK(h->n_code + 11 <= sizeof(h->code));
	memcpy(p, "\x48\xc7\x05", 3);
	memcpy(p + 3, &rel, 4);
	memcpy(p + 7, &number, 4);
	h->n_code += 11;
}

static inline void hs_insn(struct hotspot_image *h, uint32_t w)
{
	CHECK(h->n_code + 4 <= sizeof(h->code));
	memcpy(h->code + h->n_code, &w, 4);
	h->n_code += 4;
}

/* As gcc writes it: x19 leads to the table, numbers come in x3, but nothing in xzr; now
 * and then by another register, or with its neighbour, which is 0 in the file. */
static inline void hs_store_arm64(struct hotspot_image *h, uint64_t text, uint64_t at,
				  uint32_t number)
{
	uint64_t pages = (at >> 12) - ((text + h->n_code) >> 12), i;
	uint32_t rt = number ? 3 : 31;

	if (!h->base) {
		h->base = at;
		hs_insn(h, 0x90000013 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
		hs_insn(h, 0x91000273 | (at & 4095) << 10);	/* add x19, x19, n */
	}
	i = (at - h->base) / 8;
	if (number)
		hs_insn(h, 0xd2800003 | number << 5);		/* mov x3, n */
	if (number % 3 == 1) {
		hs_insn(h, 0xaa0303e4);				/* mov x4, x3 */
		rt = 4;
	}
	if (i < 32)
		hs_insn(h, 0xa9000000 | i << 15 | 31 << 10 | 19 << 5 | rt);	/* stp */
	else
		hs_insn(h, 0xf9000000 | i << 10 | 19 << 5 | rt);		/* str */
	if (number % 3 == 1)
		hs_insn(h, 0x94000000);				/* bl: x3 and x4 are lost */
}

static inline void hs_entry(struct hotspot_image *h, const char *type, const char *field,
			    bool is_static, uint64_t number)
{
	hs_word(h, hs_string(h, type));
	hs_word(h, hs_string(h, field));
	hs_word(h, 0);
	hs_word(h, is_static);
	hs_word(h, is_static ? 0 : number);
	hs_word(h, is_static ? number : 0);
}

/* Entries of a table that a release has; text: where the code will be. */
static inline void hs_rows(struct hotspot_image *h, const struct hs_odd *odd,
			   enum hs_release r, const struct hs_row *rows, int n,
			   uint64_t text)
{
	for (int i = 0; i < n; i++) {
		int said = rows[i].said[r];
		bool code = odd->by_code && rows[i].field;

		if (said == HS_NO)
			continue;
		h->n_said++;
		if ((int)h->n_said == odd->missing)
			continue;
		said += (int)h->n_said == odd->lie ? 4 : 0;
		if (code)
			(odd->arm64 ? hs_store_arm64 : hs_store)
				(h, text, hs_data_here(h) + 32, said);
		if (rows[i].field) {
			hs_entry(h, rows[i].type, rows[i].field, false, code ? 0 : said);
			continue;
		}
		hs_word(h, hs_string(h, rows[i].type));
		for (int k = 0; k < 3; k++)
			hs_word(h, 0);
		hs_word(h, said);
	}
}

static inline void hs_tables(struct hotspot_image *h, const struct hs_odd *odd,
			     enum hs_release r, uint64_t text)
{
	uint32_t types;

	for (int i = 0; i < 3; i++)
		hs_word(h, 0);
	h->data[2] = odd->feature ? odd->feature : r == HS_8 ? 25 : hs_feature[r];
	h->fields_at = h->data[0] = hs_data_here(h);
	hs_entry(h, "CodeCache", r == HS_8 ? "_heap" : "_heaps", true, HS_ROOT);
	hs_entry(h, "Abstract_VM_Version", "_vm_major_version", true,
		 HS_DATA + h->data_at + 16);
	hs_rows(h, odd, r, hs_fields, HS_FIELDS, text);
	for (int i = 0; i < 6 && !odd->no_end; i++)
		hs_word(h, 0);
	types = h->n_data;
	h->data[1] = hs_data_here(h);
	hs_rows(h, odd, r, hs_types, HS_TYPES, text);
	/* the last one: a table that does not end goes on into these */
	for (int i = 0; i < 5; i++)
		hs_word(h, odd->no_end ? h->data[types] : 0);
}

static inline void hs_symbols(struct hotspot_image *h, const struct hs_odd *odd)
{
	static const char names[] = "\0gHotSpotVMStructs\0gHotSpotVMTypes";
	uint64_t data = HS_DATA + h->data_at, at;
	Elf64_Sym s[3] = { { 0 } };
	uint32_t hash = 5381;

	for (int i = 1; i <= 2; i++)
		s[i] = (Elf64_Sym){ .st_name = i == 1 ? 1 : 19, .st_value = data + 8 * (i - 1),
				    .st_size = 8, .st_shndx = odd->undefined ? SHN_UNDEF : 1,
				    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) };
	at = image_put(&h->im, s, sizeof(s));
	image_section(&h->im, ".dynsym", SHT_DYNSYM, at, 0, sizeof(s))->sh_entsize =
		sizeof(s[0]);
	at = image_put(&h->im, names, sizeof(names));
	image_section(&h->im, ".dynstr", SHT_STRTAB, at, 0, sizeof(names));
	if (odd->no_hash)
		return;
	for (const char *p = names + 1; *p; p++)
		hash = hash * 33 + (uint8_t)*p;
	{
		struct {
			uint32_t buckets, first, words, shift;
			uint64_t word;
		} gnu = { 1, 1, 1, 6, 1ULL << hash % 64 | 1ULL << (hash >> 6) % 64 };

		at = image_put(&h->im, &gnu, sizeof(gnu));
		image_section(&h->im, ".gnu.hash", SHT_GNU_HASH, at, 0, sizeof(gnu));
	}
}

/* Strings and code, whose places the tables say before they are there: each has room
 * for all that there may be. */
static inline void hs_make(struct hotspot_image *h, enum hs_release r,
			   const struct hs_odd *odd)
{
	uint64_t text, at, init[2];

	memset(h, 0, sizeof(*h));
	image_init(&h->im, odd->arm64 ? EM_AARCH64 : EM_X86_64);
	h->strings_at = hs_next(&h->im);
	text = (h->strings_at + 2560) / 16 * 16;
	h->data_at = (text + 1024) / 16 * 16;
	hs_tables(h, odd, r, HS_TEXT + text);
	for (int i = 0; i < HS_TEXTS; i++)
		hs_string(h, hs_texts[i]);
	for (uint32_t i = 0; i < odd->texts; i++)
		hs_string(h, hs_texts[0]);
	image_put(&h->im, h->strings, h->n_strings);
	image_section(&h->im, ".rodata", SHT_PROGBITS, h->strings_at,
		      HS_STRINGS + h->strings_at, h->n_strings)->sh_flags = SHF_ALLOC;
	image_segment(&h->im, PT_LOAD, PF_R, h->strings_at, HS_STRINGS + h->strings_at,
		      h->n_strings);
	CHECK(h->im.n <= text && h->n_code <= h->data_at - text);
	h->im.n = text;
	h->n_code += 16;		/* one that is empty comes last */
	image_put(&h->im, h->code, h->n_code);
	image_segment(&h->im, PT_LOAD, PF_R | PF_X, text, HS_TEXT + text, h->n_code);
	h->im.n = h->data_at;
	at = image_put(&h->im, h->data, 8 * h->n_data);
	image_section(&h->im, ".data", SHT_PROGBITS, at, HS_DATA + at, 8 * h->n_data)
		->sh_flags = SHF_ALLOC | SHF_WRITE;
	image_segment(&h->im, PT_LOAD, PF_R | PF_W, at, HS_DATA + at, 8 * h->n_data);
	init[0] = HS_TEXT + text + h->n_code - 8;
	init[1] = HS_TEXT + text;
	at = image_put(&h->im, init, sizeof(init));
	image_section(&h->im, ".init_array", SHT_INIT_ARRAY, at, 0, sizeof(init));
	hs_symbols(h, odd);
	image_finish(&h->im);
}

#endif /* TESTS_HOTSPOT_IMAGE_H */
