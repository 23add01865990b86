// SPDX-License-Identifier: Apache-2.0
/* A made-up tail-calling interpreter: its functions found by the table that leads to
 * them, in a position-independent executable and in another one; and broken. */
#include "symbolizerd/runtimes/python/tail.h"

#include "ipc/message_hub.h"
#include "tests/unit/cfi_bytes.h"
#include "tests/unit/elf_image.h"

#define TEXT		0x500000	/* + offset in the file */
#define DATA		0x700000	/* likewise */
#define SIZE		16		/* of a function */
#define HANDLERS	80
#define TABLE		256
#define PARTS		8

enum { LOOP, START, OTHER, FIRST, MORE = FIRST + HANDLERS, COMMON, FUNCS };

static struct image {
	struct elf_image im;
	uint64_t text, table, table_at, relas_at;
	bool anywhere;
	int different;		/* functions in the table */
} image;

static uint64_t func(int i)
{
	return image.text + (uint64_t)(i * SIZE);
}

static void put_rel(uint8_t *code, int i, int at, const char *op, uint64_t to)
{
	size_t n = strlen(op);
	int32_t rel = (int32_t)(to - (func(i) + (uint64_t)at + n + 4));

	memcpy(code + i * SIZE + at, op, n);
	memcpy(code + i * SIZE + at + n, &rel, sizeof(rel));
}

/* Five jump to what they have in common, three to another function. */
static void put_code(uint8_t *code)
{
	int32_t table = (int32_t)image.table;

	memset(code, 0x90, FUNCS * SIZE);
	put_rel(code, LOOP, 0, "\xe8", func(OTHER));
	put_rel(code, LOOP, 5, "\xe8", func(START));
	if (image.anywhere) {
		put_rel(code, START, 1, "\x48\x8d\x0d", image.table);
	} else {
		memcpy(code + START * SIZE + 1, "\xff\x24\xc5", 3);
		memcpy(code + START * SIZE + 4, &table, 4);
	}
	for (int i = 0; i < 5; i++) {
		put_rel(code, FIRST + i, 0, "\x0f\x84", func(START));
		put_rel(code, FIRST + i, SIZE - 5, "\xe9", func(COMMON));
		if (i < 3)
			put_rel(code, FIRST + i, 6, "\xe9", func(MORE));
	}
}

static void put_frames(void)
{
	uint32_t hdr[3 + 2 * FUNCS] = { 0x3b031b01, 0, FUNCS };
	struct cfi_bytes cfi = { .n = 0 };
	uint64_t at, hdr_at = DATA + 0x10000;
	size_t cie = put_cie(&cfi);

	for (int i = 0; i < FUNCS; i++) {
		hdr[3 + 2 * i] = (uint32_t)(func(i) - hdr_at);
		hdr[4 + 2 * i] = (uint32_t)(CFI_VADDR + cfi.n - hdr_at);
		put_fde(&cfi, cie, func(i), SIZE, "", 0);
	}
	at = image_put(&image.im, cfi.b, cfi.n);
	image_segment(&image.im, PT_LOAD, PF_R, at, CFI_VADDR, cfi.n);
	at = image_put(&image.im, hdr, sizeof(hdr));
	image_segment(&image.im, PT_GNU_EH_FRAME, PF_R, at, hdr_at, sizeof(hdr));
}

/* The words of the table are in it, or what puts them there is. */
static void put_table(void)
{
	uint64_t words[TABLE], at;
	Elf64_Rela relas[TABLE];
	Elf64_Dyn dyn[3];

	for (int i = 0; i < TABLE; i++) {
		words[i] = func(FIRST + i % image.different);
		relas[i] = (Elf64_Rela){ image.table + 8 * (uint64_t)i,
					 ELF64_R_INFO(0, R_X86_64_RELATIVE),
					 (int64_t)words[i] };
	}
	if (image.anywhere)
		memset(words, 0, sizeof(words));
	image.table_at = image_put(&image.im, words, sizeof(words));
	image_segment(&image.im, PT_LOAD, PF_R | PF_W, image.table_at, image.table,
		      sizeof(words));
	if (!image.anywhere)
		return;
	image.relas_at = at = image_put(&image.im, relas, sizeof(relas));
	image_segment(&image.im, PT_LOAD, PF_R, at, DATA + 0x20000, sizeof(relas));
	dyn[0] = (Elf64_Dyn){ DT_RELA, { DATA + 0x20000 } };
	dyn[1] = (Elf64_Dyn){ DT_RELASZ, { sizeof(relas) } };
	dyn[2] = (Elf64_Dyn){ DT_NULL, { 0 } };
	at = image_put(&image.im, dyn, sizeof(dyn));
	image_segment(&image.im, PT_DYNAMIC, PF_R, at, DATA + 0x30000, sizeof(dyn));
}

static void make(bool anywhere, int different)
{
	uint8_t code[FUNCS * SIZE];

	image = (struct image){ .anywhere = anywhere, .table = DATA, .different = different };
	image_init(&image.im, EM_X86_64);
	image.text = TEXT + IMAGE_DATA;
	put_code(code);
	CHECK_EQ(image_put(&image.im, code, sizeof(code)), IMAGE_DATA);
	image_segment(&image.im, PT_LOAD, PF_R | PF_X, IMAGE_DATA, image.text, sizeof(code));
	put_frames();
	put_table();
	image_finish(&image.im);
}

static uint32_t parts_of(const void *bytes, size_t len, struct code_span *ret, uint64_t end)
{
	const struct code_span loop = { func(LOOP), end };
	int fd = file_of(bytes, len);
	struct elf_file f;
	uint32_t n = 0;

	if (elf_file_open(&f, fd) == JOB_OK)
		n = tail_parts(&f, &loop, ret, PARTS);
	elf_file_close(&f);
	close(fd);
	return n;
}

static uint32_t parts(struct code_span *ret)
{
	return parts_of(image.im.b, image.im.n, ret, func(START));
}

TEST(tail_functions_of_the_table_and_what_they_share)
{
	for (int anywhere = 0; anywhere < 2; anywhere++) {
		struct code_span r[PARTS];

		make(anywhere, HANDLERS);
		CHECK_EQ(parts(r), 3);
		CHECK_EQ(r[0].start, func(START));
		CHECK_EQ(r[0].end, func(OTHER));
		CHECK_EQ(r[1].start, func(FIRST));
		CHECK_EQ(r[1].end, func(MORE));
		CHECK_EQ(r[2].start, func(COMMON));
		CHECK_EQ(r[2].end, func(FUNCS));
		/* no loop is so large */
		CHECK_EQ(parts_of(image.im.b, image.im.n, r, func(LOOP) + TAIL_LOOP_MAX + 1), 0);
	}
}

TEST(tail_tables_of_other_things_are_none)
{
	struct code_span r[PARTS];
	uint64_t *w;

	make(false, 63);	/* so few different ones */
	CHECK_EQ(parts(r), 0);
	make(false, 64);
	CHECK_EQ(parts(r), 3);
	w = (uint64_t *)(image.im.b + image.table_at);
	for (int i = 0; i < TABLE; i++) {
		uint64_t keep = w[i];

		w[i] = keep + 1;	/* into a function */
		CHECK_EQ(parts(r), 0);
		w[i] = 0;
		CHECK_EQ(parts(r), 0);
		w[i] = keep;
	}
	CHECK_EQ(parts(r), 3);
	image_ehdr(&image.im)->e_machine = EM_AARCH64;
	CHECK_EQ(parts(r), 0);
}

TEST(tail_no_more_than_there_is_room_for)
{
	struct code_span r[1] = { { 0, 0 } };
	const struct code_span loop = { TEXT + IMAGE_DATA, TEXT + IMAGE_DATA + SIZE };
	struct elf_file f;
	int fd;

	make(true, HANDLERS);
	fd = image_file(&image.im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(tail_parts(&f, &loop, r, 1), 1);
	CHECK_EQ(r[0].start, func(START));
	CHECK_EQ(r[0].end, func(OTHER));
	elf_file_close(&f);
	close(fd);
}

/* --- hostile ------------------------------------------------------------------------ */

static void survive(size_t len)
{
	struct code_span r[PARTS] = { { 0, 0 } };
	uint32_t n = parts_of(image.im.b, len, r, func(START));

	CHECK(n <= PARTS);
	for (uint32_t i = 0; i < n; i++)
		CHECK(r[i].start < r[i].end);
}

TEST(tail_truncated)
{
	make(true, HANDLERS);
	for (size_t len = 0; len < image.im.n; len += 5)
		survive(len);
}

TEST(tail_flipped)
{
	make(true, HANDLERS);
	for (size_t bit = 0; bit < 8 * image.im.n; bit += 7) {
		image.im.b[bit / 8] ^= 1 << bit % 8;
		survive(image.im.n);
		image.im.b[bit / 8] ^= 1 << bit % 8;
	}
}
