// SPDX-License-Identifier: Apache-2.0
/* Files with and without section headers, compressed, broken, shrinking. */
#include "tests/unit/elf_image.h"
#include "tests/unit/harness.h"

#include <fcntl.h>
#include <libelf.h>
#include <sys/auxv.h>

#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/elf/file_id.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/symbols/ranges.h"
#include "symbolizerd/runtimes/runtimes.h"
#include "symbolizerd/unwind/build.h"
#include "tests/unit/cfi_bytes.h"
#include "tests/unit/table_view.h"

#define TEXT	0x401000	/* virtual address of 64 bytes of text */

/* Offsets in the sample. */
static struct elf_image im;
static uint64_t text, frame, hdr;

/* Text with two functions, CFI for both, a search table, symbols, a note. */
static void sample(uint16_t machine)
{
	struct cfi_bytes cfi = { .n = 0 };
	uint32_t h[3 + 4] = { 0x3b031b01, 0, 2 };
	const char strings[] = "\0one\0two";
	Elf64_Sym syms[3] = { [1] = { 1, STT_FUNC, 0, 1, TEXT, 16 },
			      [2] = { 5, STT_FUNC, 0, 1, TEXT + 32, 32 } };
	const uint8_t note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";
	size_t cie, fde[2];
	uint64_t at;

	image_init(&im, machine);
	text = image_put(&im, "................................"
			 "................................", 64);
	image_segment(&im, PT_LOAD, PF_R | PF_X, text, TEXT, 64);
	cie = put_cie(&cfi);
	fde[0] = put_fde(&cfi, cie, TEXT, 16, "\x41\x0e\x10", 3);
	fde[1] = put_fde(&cfi, cie, TEXT + 32, 32, "", 0);
	put32(&cfi, 0);
	frame = image_put(&im, cfi.b, cfi.n);
	image_section(&im, ".text", SHT_PROGBITS, text, TEXT, 64);
	image_section(&im, ".eh_frame", SHT_PROGBITS, frame, CFI_VADDR, cfi.n);
	hdr = CFI_VADDR + (im.n + 15) / 16 * 16 - frame;
	h[1] = CFI_VADDR - (hdr + 4);
	for (int i = 0; i < 2; i++) {
		h[3 + 2 * i] = TEXT + 32 * i - hdr;
		h[4 + 2 * i] = CFI_VADDR + fde[i] - hdr;
	}
	at = image_put(&im, h, sizeof(h));
	image_segment(&im, PT_GNU_EH_FRAME, PF_R, at, hdr, sizeof(h));
	at = image_put(&im, syms, sizeof(syms));
	image_section(&im, ".symtab", SHT_SYMTAB, at, 0, sizeof(syms));
	at = image_put(&im, strings, sizeof(strings));
	image_section(&im, ".strtab", SHT_STRTAB, at, 0, sizeof(strings));
	at = image_put(&im, note, sizeof(note) - 1);
	image_section(&im, ".note.gnu.build-id", SHT_NOTE, at, 0,
		      sizeof(note) - 1);
	image_segment(&im, PT_LOAD, PF_R, frame, CFI_VADDR, im.n - frame);
	image_finish(&im);
}

/* All that a worker does. */
static int visit(int fd, struct table_view *table, void **data)
{
	static void *symbols;
	uint8_t id[32];
	struct runtime_found facts;
	struct elf_file f;
	size_t len;
	int r = elf_file_open(&f, fd);

	if (r)
		return r;
	*data = NULL;
	file_id(fd, f.size, id);
	CHECK(file_build_id(&f, id, sizeof(id)) <= sizeof(id));
	runtimes_find(&f, &facts);
	r = unwind_build(&f, runtimes_rows, data, &len);
	if (!r)
		CHECK(view_open(table, *data, len));
	symbols = NULL;
	if (!symbols_build(&f, runtimes_symbols, &symbols, &len)) {
		struct symbol_index idx;

		CHECK_EQ(symbols_open(symbols, len, &idx), 0);
	}
	free(symbols);
	elf_file_close(&f);
	return r;
}

static void check_tables(void)
{
	struct table_view v;
	void *data;
	int fd = image_file(&im);

	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK_EQ(view_find(&v, text - 1)->cfa, CFA_NONE);
	CHECK_EQ(view_find(&v, text)->cfa_off, 8);
	CHECK_EQ(view_find(&v, text + 1)->cfa_off, 16);
	CHECK_EQ(view_find(&v, text + 15)->cfa_off, 16);
	CHECK_EQ(view_find(&v, text + 16)->cfa, CFA_NONE);
	CHECK_EQ(view_find(&v, text + 32)->cfa_off, 8);
	CHECK_EQ(view_find(&v, text + 64)->cfa, CFA_NONE);
	free(data);
	close(fd);
}

TEST(elf_with_sections)
{
	sample(EM_X86_64);
	check_tables();
}

TEST(elf_without_section_headers)
{
	sample(EM_X86_64);
	image_ehdr(&im)->e_shoff = 0;
	image_ehdr(&im)->e_shnum = image_ehdr(&im)->e_shstrndx = 0;
	check_tables();
	/* headers that make no sense are as good as none */
	sample(EM_X86_64);
	image_ehdr(&im)->e_shoff = im.n - 3;
	check_tables();
	sample(EM_X86_64);
	image_ehdr(&im)->e_shstrndx = 77;
	check_tables();
}

/* ... or with some that are said to lie outside of it. */
TEST(elf_section_headers_beyond_the_file)
{
	const uint64_t places[] = { 0, 1, sizeof(Elf64_Shdr) - 1, 1 << 20, 1ULL << 62 };
	struct elf_file f;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint8_t *copy;

		sample(EM_X86_64);
		copy = malloc(im.n);
		/* the first one would begin before the end, then beyond it */
		image_ehdr(&im)->e_shoff = i < 3 ? im.n - places[i] : im.n + places[i];
		memcpy(copy, im.b, im.n);
		CHECK_EQ(elf_file_open_memory(&f, copy, im.n), JOB_OK);
		CHECK_EQ(f.n_shdrs, 0);
		elf_file_close(&f);
	}
}

TEST(elf_search_table_has_as_many_entries_as_it_says)
{
	const uint32_t one = 1, many = UINT32_MAX;
	struct table_view v;
	void *data;
	int fd;

	sample(EM_X86_64);
	image_ehdr(&im)->e_shoff = 0;
	memcpy(im.b + frame + (hdr - CFI_VADDR) + 8, &one, sizeof(one));
	fd = image_file(&im);
	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK_EQ(view_find(&v, text)->cfa_off, 8);
	CHECK_EQ(view_find(&v, text + 32)->cfa, CFA_NONE);
	free(data);
	close(fd);
	memcpy(im.b + frame + (hdr - CFI_VADDR) + 8, &many, sizeof(many));
	check_tables();
}

TEST(elf_with_extended_section_numbers)
{
	Elf64_Shdr *first;

	sample(EM_X86_64);
	first = (void *)(im.b + image_ehdr(&im)->e_shoff);
	first->sh_size = image_ehdr(&im)->e_shnum;
	first->sh_link = image_ehdr(&im)->e_shstrndx;
	image_ehdr(&im)->e_shnum = 0;
	image_ehdr(&im)->e_shstrndx = SHN_XINDEX;
	memset(image_ehdr(&im)->e_ident + EI_PAD, 0, 1);
	check_tables();
	first->sh_size = UINT64_MAX / 64;
	check_tables();		/* through the program headers */
}

TEST(elf_rows_end_with_their_segment)
{
	struct table_view v;
	Elf64_Phdr *p;
	void *data;
	int fd;

	sample(EM_X86_64);
	p = (void *)(im.b + sizeof(Elf64_Ehdr));
	p->p_filesz = 40;
	fd = image_file(&im);
	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK_EQ(view_find(&v, text + 39)->cfa_off, 8);
	CHECK_EQ(view_find(&v, text + 40)->cfa, CFA_NONE);
	free(data);
	/* not executable: nothing to unwind */
	p->p_flags = PF_R;
	close(fd);
	fd = image_file(&im);
	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK_EQ(v.hdr->pages, 0);
	free(data);
	close(fd);
}

TEST(elf_start_of_a_context)
{
	static const uint8_t context[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
					   0x24, 0x48, 0x85, 0xff, 0x74 };
	const Elf64_Sym syms[] = { [1] = { 1, STT_FUNC, 0, 1, TEXT, 16 } };
	struct table_view v;
	uint64_t at;
	void *data;
	int fd;

	for (int i = 0; i < 2; i++) {
		sample(EM_X86_64);	/* rows: 0 to 16, 32 to 64 */
		memcpy(im.b + text + 32, context, sizeof(context));
		at = image_put(&im, syms, sizeof(syms));
		image_section(&im, ".dynsym", SHT_DYNSYM, at, 0, sizeof(syms));
		at = image_put(&im, i ? "\0makecontext" : "\0makecontent", 13);
		image_section(&im, ".dynstr", SHT_STRTAB, at, 0, 13);
		image_finish(&im);
		fd = image_file(&im);
		CHECK_EQ(visit(fd, &v, &data), JOB_OK);
		CHECK_EQ(view_find(&v, text + 15)->cfa_off, 16);
		CHECK_EQ(view_find(&v, text + 30)->cfa, CFA_NONE);
		CHECK_EQ(view_find(&v, text + 31)->cfa, i ? CFA_END : CFA_NONE);
		CHECK_EQ(view_find(&v, text + 32)->cfa_off, 8);
		free(data);
		close(fd);
	}
}

/* A greenlet's stack ends at the function that it began with, whatever its CFI says. */
TEST(elf_start_of_a_greenlet)
{
	static const char names[2][72] = {
		"\0_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_objecu",
		"\0_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object",
	};
	struct table_view v;
	void *data;

	for (int i = 0; i < 4; i++) {
		/* of a size: only so it is known where it ends */
		const Elf64_Sym syms[] = { [1] = { 1, STT_FUNC, 0, 1, TEXT + 32, i / 2 ? 0 : 32 } };
		bool is = i == 1;
		uint64_t at;
		int fd;

		sample(EM_X86_64);	/* rows: 0 to 16, 32 to 64 */
		at = image_put(&im, syms, sizeof(syms));
		image_section(&im, ".dynsym", SHT_DYNSYM, at, 0, sizeof(syms));
		at = image_put(&im, names[i % 2], sizeof(names[0]));
		image_section(&im, ".dynstr", SHT_STRTAB, at, 0, sizeof(names[0]));
		image_finish(&im);
		fd = image_file(&im);
		CHECK_EQ(visit(fd, &v, &data), JOB_OK);
		CHECK_EQ(view_find(&v, text + 15)->cfa_off, 16);
		CHECK_EQ(view_find(&v, text + 32)->cfa, is ? CFA_END : CFA_SP);
		CHECK_EQ(view_find(&v, text + 50)->cfa, is ? CFA_END : CFA_SP);
		CHECK_EQ(view_find(&v, text + 63)->cfa, is ? CFA_END : CFA_SP);
		CHECK(view_find(&v, text + 64)->cfa != CFA_END);
		free(data);
		close(fd);
	}
}

/* .init and .fini have no CFI, but one form in each C library. */
TEST(elf_glued_sections)
{
	static const uint8_t glibc[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83,
		0xec, 8, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3 };
	static const uint8_t musl[] = { 0x50, 0x58, 0xc3 };
	struct table_view v;
	struct elf_file f;
	uint64_t init, fini;
	size_t len;
	void *data;
	int fd;

	for (size_t cut = 0; cut < 2; cut++) {
		image_init(&im, EM_X86_64);
		init = image_put(&im, glibc, sizeof(glibc));
		fini = image_put(&im, musl, sizeof(musl));
		image_segment(&im, PT_LOAD, PF_R | PF_X, init, TEXT,
			      fini + sizeof(musl) - init);
		image_section(&im, ".init", SHT_PROGBITS, init, TEXT,
			      sizeof(glibc) - cut);
		image_section(&im, ".fini", SHT_PROGBITS, fini,
			      TEXT + fini - init, sizeof(musl) - cut);
		image_finish(&im);
		fd = image_file(&im);
		CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
		CHECK_EQ(unwind_build(&f, runtimes_rows, &data, &len), JOB_OK);
		CHECK(view_open(&v, data, len));
		if (!cut) {
			CHECK_EQ(view_find(&v, init)->cfa_off, 8);
			CHECK_EQ(view_find(&v, init + 7)->cfa_off, 8);
			CHECK_EQ(view_find(&v, init + 8)->cfa_off, 16);
			CHECK_EQ(view_find(&v, init + 13)->ra_off, -8);
			CHECK_EQ(view_find(&v, init + 13)->cfa_off, 16);
			CHECK_EQ(view_find(&v, init + 14)->cfa_off, 8);
			CHECK_EQ(view_find(&v, fini)->cfa_off, 8);
			CHECK_EQ(view_find(&v, fini + 1)->cfa_off, 16);
			CHECK_EQ(view_find(&v, fini + 2)->cfa_off, 8);
		} else {	/* another end: not known */
			CHECK_EQ(view_find(&v, init)->cfa, CFA_NONE);
			CHECK_EQ(view_find(&v, fini)->cfa, CFA_NONE);
		}
		free(data);
		elf_file_close(&f);
		close(fd);
	}
}

TEST(elf_debug_frame_where_eh_frame_says_nothing)
{
	static const char code[64];
	static const char cfi[] =
		"\x14\0\0\0\xff\xff\xff\xff\x04\0\x08\0\x01\x78\x10"
		"\x0c\x07\x08\x90\x01\0\0\0\0"
		"\x14\0\0\0\0\0\0\0\0\x10\x40\0\0\0\0\0\x40\0\0\0\0\0\0";
	struct table_view v;
	Elf64_Shdr *s;
	void *data;
	uint64_t at;
	int fd;

	image_init(&im, EM_X86_64);
	text = image_put(&im, code, sizeof(code));
	image_segment(&im, PT_LOAD, PF_X, text, TEXT, 64);
	at = image_put(&im, cfi, sizeof(cfi));
	image_section(&im, ".debug_frame", SHT_PROGBITS, at, 0, sizeof(cfi));
	at = image_put(&im, "\0\0\0", 4);
	s = image_section(&im, ".eh_frame", SHT_PROGBITS, at, 0, 4);
	CHECK(s->sh_size == 4);
	image_finish(&im);
	fd = image_file(&im);
	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK_EQ(view_find(&v, text + 63)->cfa_off, 8);
	free(data);
	close(fd);
}

TEST(elf_several_segments)
{
	struct elf_file f;
	uint64_t off, left;
	int fd;

	image_init(&im, EM_X86_64);
	image_put(&im, "0123456789abcdef0123456789abcdef", 32);
	image_segment(&im, PT_LOAD, PF_R, IMAGE_DATA, 0x1000, 8);
	image_segment(&im, PT_LOAD, PF_X, IMAGE_DATA + 8, 0x3008, 8);
	image_segment(&im, PT_LOAD, PF_X, IMAGE_DATA + 16, 0x2000, 8);
	image_segment(&im, PT_LOAD, PF_X, UINT64_MAX - 4, 0x8000, 64);
	image_segment(&im, PT_LOAD, PF_X, IMAGE_DATA, UINT64_MAX - 7, 64);
	image_segment(&im, PT_LOAD, PF_X, IMAGE_DATA, 0x100000, 1 << 20);
	image_finish(&im);
	fd = image_file(&im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK(!elf_file_offset(&f, 0x1000, true, &off, NULL));
	CHECK(elf_file_offset(&f, 0x1007, false, &off, &left));
	CHECK_EQ(off, IMAGE_DATA + 7);
	CHECK_EQ(left, 1);
	CHECK(!elf_file_offset(&f, 0x1008, false, &off, NULL));
	CHECK(elf_file_offset(&f, 0x3008, true, &off, &left));
	CHECK_EQ(off, IMAGE_DATA + 8);
	CHECK_EQ(left, 8);
	CHECK(elf_file_offset(&f, 0x2001, true, &off, NULL));
	CHECK_EQ(off, IMAGE_DATA + 17);
	CHECK(!elf_file_offset(&f, 0x8010, true, &off, NULL));
	CHECK(elf_file_offset(&f, UINT64_MAX, true, &off, NULL));
	CHECK_EQ(off, IMAGE_DATA + 7);
	CHECK(!elf_file_offset(&f, 0, true, &off, NULL));
	/* no further than the file, whatever the segment says */
	CHECK(elf_file_offset(&f, 0x100000 + im.n - IMAGE_DATA - 1, true, &off,
			      NULL));
	CHECK_EQ(off, im.n - 1);
	CHECK(!elf_file_offset(&f, 0x100000 + im.n - IMAGE_DATA, true, &off,
			       NULL));
	elf_file_close(&f);
	close(fd);
}

TEST(elf_what_is_none)
{
	struct table_view v;
	void *data;
	int fd[2], zero = open("/dev/zero", O_RDONLY);

	CHECK_EQ(visit(zero, &v, &data), JOB_NOT_ELF);
	CHECK(pipe(fd) == 0);
	CHECK_EQ(visit(fd[0], &v, &data), JOB_NOT_ELF);
	CHECK_EQ(visit(open("/", O_RDONLY), &v, &data) != JOB_OK, 1);
	sample(EM_386);
	CHECK_EQ(visit(image_file(&im), &v, &data), JOB_NOT_ELF);
	sample(EM_X86_64);
	im.b[EI_CLASS] = ELFCLASS32;
	CHECK_EQ(visit(image_file(&im), &v, &data), JOB_NOT_ELF);
	sample(EM_X86_64);
	im.b[EI_DATA] = ELFDATA2MSB;
	CHECK_EQ(visit(image_file(&im), &v, &data), JOB_NOT_ELF);
	sample(EM_X86_64);
	image_ehdr(&im)->e_phentsize = 55;
	CHECK_EQ(visit(image_file(&im), &v, &data), JOB_CORRUPT);
	sample(EM_X86_64);
	image_ehdr(&im)->e_phnum = ELF_PHDRS_MAX + 1;
	CHECK_EQ(visit(image_file(&im), &v, &data), JOB_CORRUPT);
}

TEST(elf_that_shrinks_while_it_is_read)
{
	struct elf_file f;
	void *data;
	size_t len;
	int fd;

	sample(EM_X86_64);
	fd = image_file(&im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK(ftruncate(fd, frame + 8) == 0);
	CHECK_EQ(unwind_build(&f, runtimes_rows, &data, &len), JOB_CORRUPT);
	elf_file_close(&f);
	close(fd);
}

/* Numbers beyond 16 bits are in the first section header (elf(5)). */
TEST(elf_of_more_sections_than_are_read)
{
	for (uint64_t n = ELF_SECTIONS_MAX - 1; n <= ELF_SECTIONS_MAX + 1; n++) {
		const Elf64_Shdr first = { .sh_size = n };
		struct elf_file f;
		int fd;

		sample(EM_X86_64);
		image_ehdr(&im)->e_shnum = 0;
		image_ehdr(&im)->e_shstrndx = 1;
		image_ehdr(&im)->e_shoff = sizeof(im.b);
		fd = image_file(&im);
		CHECK(ftruncate(fd, (off_t)(sizeof(im.b) + n * sizeof(first))) == 0);
		CHECK(pwrite(fd, &first, sizeof(first), sizeof(im.b)) == sizeof(first));
		CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
		CHECK_EQ(f.n_shdrs, n > ELF_SECTIONS_MAX ? 0 : n);
		elf_file_close(&f);
		close(fd);
	}
}

TEST(elf_section_larger_than_may_be_read)
{
	struct elf_file f;
	struct elf_bytes b;
	int fd;

	sample(EM_X86_64);
	fd = image_file(&im);
	CHECK(ftruncate(fd, 2LL << 30) == 0);	/* a hole */
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(elf_file_read(&f, 0, (uint64_t)ELF_READ_MAX + 1, &b),
		 JOB_TOO_LARGE);
	CHECK_EQ(elf_file_read(&f, f.size, 1, &b), JOB_CORRUPT);
	CHECK_EQ(elf_file_read(&f, UINT64_MAX, 2, &b), JOB_CORRUPT);
	CHECK_EQ(elf_file_read(&f, f.size, 0, &b), JOB_OK);
	elf_bytes_free(&b);
	elf_file_close(&f);
	close(fd);
}

/* ELFCOMPRESS_ZLIB data of "aaa...": 1000 bytes */
static void compressed(uint64_t claim, size_t cut, int want)
{
	static const uint8_t z[] = { 0x78, 0x9c, 0x4b, 0x4c, 0x1c, 0x05, 0xa3,
				     0x60, 0x14, 0x0c, 0x77, 0x00, 0x00, 0xf9,
				     0xd8, 0x7a, 0xf8 };
	uint8_t data[sizeof(Elf64_Chdr) + sizeof(z)];
	Elf64_Chdr chdr = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = claim,
			    .ch_addralign = 1 };
	struct elf_bytes b = { 0 };
	struct elf_file f;
	int fd;

	memcpy(data, &chdr, sizeof(chdr));
	memcpy(data + sizeof(chdr), z, sizeof(z));
	image_init(&im, EM_X86_64);
	image_section(&im, ".debug_frame", SHT_PROGBITS,
		      image_put(&im, data, sizeof(data)), 0,
		      sizeof(data) - cut)->sh_flags = SHF_COMPRESSED;
	image_finish(&im);
	fd = image_file(&im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK_EQ(elf_file_section(&f, elf_file_find(&f, ".debug_frame"), &b),
		 want);
	if (!want) {
		CHECK_EQ(b.len, 1000);
		for (int i = 0; i < 1000; i++)
			CHECK_EQ(b.data[i], 'a');
		CHECK_EQ(b.data[1000], 0);
	}
	elf_bytes_free(&b);
	elf_file_close(&f);
	close(fd);
}

TEST(elf_compressed_section)
{
	compressed(1000, 0, JOB_OK);
	compressed(1001, 0, JOB_CORRUPT);
	compressed(999, 0, JOB_CORRUPT);
	compressed((uint64_t)ELF_READ_MAX + 1, 0, JOB_TOO_LARGE);
	compressed(UINT64_MAX, 0, JOB_TOO_LARGE);
	/* work that is out of proportion to the file is not begun */
	compressed(ELF_INFLATE_FREE, 0, JOB_CORRUPT);
	compressed(ELF_INFLATE_FREE + 1, 0, JOB_TOO_LARGE);
	for (size_t cut = 5; cut < sizeof(Elf64_Chdr) + 17; cut++)
		compressed(1000, cut, JOB_CORRUPT);
}

/* Known by its name, and from the nop in front of it on. */
TEST(elf_aarch64_trampoline_without_cfi)
{
	static const char strings[] = "\0__kernel_rt_sigreturn\0f";
	const Elf64_Sym syms[] = { [1] = { 1, STT_FUNC, 0, 1, TEXT + 16, 8 },
				   [2] = { 24, STT_FUNC, 0, 1, TEXT + 40, 8 } };
	const uint16_t machines[] = { EM_AARCH64, EM_X86_64 };

	for (int i = 0; i < 2; i++) {
		struct table_view v;
		void *data;
		uint64_t at;
		int fd;

		image_init(&im, machines[i]);
		text = image_put(&im, im.b, 64);
		image_segment(&im, PT_LOAD, PF_R | PF_X, text, TEXT, 64);
		at = image_put(&im, syms, sizeof(syms));
		image_section(&im, ".dynsym", SHT_DYNSYM, at, 0, sizeof(syms));
		at = image_put(&im, strings, sizeof(strings));
		image_section(&im, ".dynstr", SHT_STRTAB, at, 0,
			      sizeof(strings));
		image_finish(&im);
		fd = image_file(&im);
		CHECK_EQ(visit(fd, &v, &data), JOB_OK);
		for (uint64_t k = 0; k < 64; k++)
			CHECK_EQ(view_find(&v, text + k)->cfa,
				 !i && k >= 12 && k < 24 ? CFA_SIGNAL : CFA_NONE);
		free(data);
		close(fd);
	}
}

TEST(elf_vdso)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *e = vdso;
	struct table_view v;
	void *data;
	int fd;

	if (!vdso) {
		printf("# no vDSO here\n");
		exit(TEST_SKIP);
	}
	fd = file_of(vdso, e->e_shoff + e->e_shnum * sizeof(Elf64_Shdr));
	CHECK_EQ(visit(fd, &v, &data), JOB_OK);
	CHECK(v.hdr->n_rows > 2);
	free(data);
	close(fd);
}

/* --- hostile files ------------------------------------------------------------- */

static void visit_bytes(const void *bytes, size_t len)
{
	struct table_view v;
	void *data = NULL;
	int fd = file_of(bytes, len);

	if (!visit(fd, &v, &data))
		free(data);
	close(fd);
}

TEST(elf_any_truncation)
{
	sample(EM_X86_64);
	for (size_t len = 0; len < im.n; len++)
		visit_bytes(im.b, len);
}

TEST(elf_any_flipped_bit)
{
	for (int sections = 0; sections < 2; sections++) {
		sample(EM_X86_64);
		if (!sections)
			image_ehdr(&im)->e_shoff = 0;
		for (size_t bit = 0; bit < 8 * im.n; bit++) {
			/* unused bytes */
			if (!im.b[bit / 8] && bit / 8 > 250 && bit / 8 < 512)
				continue;
			im.b[bit / 8] ^= 1 << bit % 8;
			visit_bytes(im.b, im.n);
			im.b[bit / 8] ^= 1 << bit % 8;
		}
	}
}

/* A table that says more functions than one file may have: all of one FDE. */
TEST(elf_ranges_are_bounded)
{
	const uint32_t pairs = RANGES_MAX + 2, fde = 12 + 8 * pairs, len = fde + 64;
	uint32_t *words = calloc(1, len), n;
	Elf64_Phdr phdrs[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = TEXT, .p_filesz = len,
		  .p_memsz = len },
		{ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = TEXT,
		  .p_filesz = fde, .p_memsz = fde },
	};
	struct elf_file f = { .fd = -1, .mem = (uint8_t *)words, .size = len,
			      .phdrs = phdrs, .n_phdrs = 2 };
	struct code_range *ranges;

	words[0] = 0x3b031b01;
	words[1] = fde - 4;
	words[2] = pairs;
	for (uint32_t i = 0; i < pairs; i++)
		words[3 + 2 * i + 1] = fde;
	words[fde / 4 + 2] = -(fde + 8);
	words[fde / 4 + 3] = 16;
	CHECK_EQ(ranges_read(&f, &ranges, &n), JOB_OK);
	CHECK_EQ(n, RANGES_MAX);
	CHECK(ranges[n - 1].vaddr == TEXT && ranges[n - 1].size == 16);
	free(ranges);
	free(words);
}
