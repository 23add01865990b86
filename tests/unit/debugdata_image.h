/* SPDX-License-Identifier: Apache-2.0 */
/* debugdata_image - a stripped file with a .gnu_debugdata, in memory, for tests */
#ifndef TESTS_DEBUGDATA_IMAGE_H
#define TESTS_DEBUGDATA_IMAGE_H

#include <lzma.h>
#include <stdlib.h>

#include "tests/unit/elf_image.h"

#define DEBUGDATA_TEXT	0x1000	/* 32 bytes of code */

/* What is inside: the functions inner and other. */
static inline void debugdata_inner(struct elf_image *im, uint16_t machine)
{
	const Elf64_Sym syms[] = {
		{ 0 }, { 1, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, DEBUGDATA_TEXT, 16 },
		{ 7, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, DEBUGDATA_TEXT + 16, 16 },
	};
	static const char strings[] = "\0inner\0other";
	uint64_t at;

	image_init(im, machine);
	at = image_put(im, syms, sizeof(syms));
	image_section(im, ".symtab", SHT_SYMTAB, at, 0, sizeof(syms));
	at = image_put(im, strings, sizeof(strings));
	image_section(im, ".strtab", SHT_STRTAB, at, 0, sizeof(strings));
	image_finish(im);
}

/* The file around these bytes.  Beyond what an image has room for: nothing. */
static inline void debugdata_outer(struct elf_image *im, const void *packed, size_t len)
{
	uint64_t at;

	image_init(im, EM_X86_64);
	at = image_put(im, "0123456789abcdef0123456789abcdef", 32);
	image_segment(im, PT_LOAD, PF_R | PF_X, at, DEBUGDATA_TEXT, 32);
	if (len > sizeof(im->b) - 4096)
		len = 0;
	at = image_put(im, packed, len);
	image_section(im, ".gnu_debugdata", SHT_PROGBITS, at, 0, len);
	image_finish(im);
}

/* As xz does it: how many bytes, in ret. */
static inline size_t debugdata_pack(const void *data, size_t len, uint32_t preset, uint8_t *ret,
				    size_t max)
{
	size_t n = 0;

	if (lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, NULL, data, len, ret, &n, max))
		abort();
	return n;
}

#endif /* TESTS_DEBUGDATA_IMAGE_H */
