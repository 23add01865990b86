// SPDX-License-Identifier: Apache-2.0
/*
 * A core file in place of a process: what is in it, and what happens to one that lies.
 * Of real ones: tests/live/test_snapshot.py.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizerd/snapshot/core.h"
#include "tests/unit/harness.h"

#define NOTES	1024
#define STACK	0x7ffc00000000ULL
#define CODE	0x400000ULL

/* Two mappings, of which the stack's first 64 bytes are there; a thread; NT_FILE. */
struct image {
	Elf64_Ehdr e;
	Elf64_Phdr p[3];
	uint8_t notes[NOTES];
	uint8_t memory[64];
};

static size_t note(uint8_t *to, uint32_t type, const void *desc, uint32_t len)
{
	uint32_t head[] = { 5, len, type };

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), "CORE\0\0\0", 8);
	memcpy(to + sizeof(head) + 8, desc, len);
	return sizeof(head) + 8 + (len + 3) / 4 * 4;
}

/* page: of NT_FILE, as Linux or gdb counts */
static void make(struct image *i, uint16_t machine, uint64_t page)
{
	uint8_t status[112 + 34 * 8 + 8] = { 0 }, files[256] = { 0 };
	uint64_t words[] = { 1, page, CODE, CODE + 0x1000, 0x3000 / page };
	uint32_t pid = 77, len = machine == EM_AARCH64 ? sizeof(status) : 112 + 27 * 8 + 8;
	uint64_t tp = 0x1234;
	size_t n;

	*i = (struct image){
		.e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		       .e_type = ET_CORE, .e_machine = machine, .e_version = 1,
		       .e_phoff = offsetof(struct image, p), .e_phnum = 3,
		       .e_phentsize = sizeof(Elf64_Phdr) },
		.p = { { .p_type = PT_NOTE, .p_offset = offsetof(struct image, notes) },
		       { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = CODE,
			 .p_memsz = 0x1000 },
		       { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = STACK,
			 .p_memsz = 0x1000, .p_filesz = 64,
			 .p_offset = offsetof(struct image, memory) } },
	};
	memcpy(status + 32, &pid, sizeof(pid));
	for (uint64_t k = 0; k < (len - 112) / 8; k++)
		memcpy(status + 112 + 8 * k, &(uint64_t){ 1000 + k }, 8);
	n = note(i->notes, NT_PRSTATUS, status, len);
	if (machine == EM_AARCH64)
		n += note(i->notes + n, 0x401, &tp, sizeof(tp));
	memcpy(files, words, sizeof(words));
	strcpy((char *)files + sizeof(words), "/usr/bin/program");
	n += note(i->notes + n, NT_FILE, files, sizeof(words) + 17);
	i->p[0].p_filesz = n;
	memcpy(i->memory, "what lies on the stack", 22);
}

static int open_image(const void *image, size_t len, struct core *c, struct snapshot *s)
{
	int fd = memfd_create("core", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, image, len) == (ssize_t)len);
	*s = (struct snapshot){ 0 };
	return core_open(c, fd, s);
}

static void close_image(struct core *c, struct snapshot *s)
{
	close(c->fd);
	core_fini(c);
	snapshot_fini(s);
}

TEST(core_of_either_machine_is_read)
{
	static const struct {
		uint16_t machine;
		uint32_t pc, sp;
		uint64_t page, want_pc, want_sp, tp;
	} cases[] = {
		{ EM_X86_64, 15, 16, 4096, 1016, 1019, 1021 },
		{ EM_X86_64, 15, 16, 1, 1016, 1019, 1021 },
		{ EM_AARCH64, 32, 31, 4096, 1032, 1031, 0x1234 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct image image;
		struct snapshot s;
		struct core c;
		char got[22];

		make(&image, cases[i].machine, cases[i].page);
		CHECK_EQ(open_image(&image, sizeof(image), &c, &s), 0);
		CHECK_EQ(s.threads.n, 1);
		CHECK_EQ(s.threads.v[0].tid, 77);
		CHECK_EQ(s.threads.v[0].regs[cases[i].pc], cases[i].want_pc);
		CHECK_EQ(s.threads.v[0].regs[cases[i].sp], cases[i].want_sp);
		CHECK_EQ(s.threads.v[0].tp, cases[i].tp);
		CHECK_EQ(s.maps.n, 2);
		CHECK(s.maps.v[0].exec && s.maps.v[0].file == 0);
		CHECK_EQ(s.maps.v[0].off, 0x3000);
		CHECK_EQ(s.maps.v[1].file, SNAPSHOT_NO_FILE);
		CHECK_STR(s.files.v[0].name, "program");
		CHECK_STR(c.paths.v[0], "/usr/bin/program");
		CHECK_EQ(core_memory(&c, STACK, got, sizeof(got)), 0);
		CHECK(!memcmp(got, "what lies on the stack", sizeof(got)));
		CHECK_EQ(core_memory(&c, STACK + 43, got, 22), -EFAULT);
		CHECK_EQ(core_memory(&c, CODE, got, 1), -EFAULT);
		close_image(&c, &s);
	}
}

/* gdb leaves out what is as in its file. */
TEST(core_without_its_code_has_it_from_the_list_of_files)
{
	struct image image;
	struct snapshot s;
	struct core c;

	make(&image, EM_X86_64, 1);
	image.p[1].p_type = PT_NULL;
	CHECK_EQ(open_image(&image, sizeof(image), &c, &s), 0);
	CHECK_EQ(s.maps.n, 2);
	CHECK(s.maps.v[0].exec && s.maps.v[0].start == CODE && s.maps.v[0].file == 0);
	close_image(&c, &s);
}

TEST(core_that_lies_is_refused_or_read)
{
	struct image image;
	int believed = 0;

	for (int arm = 0; arm < 2; arm++) {
		make(&image, arm ? EM_AARCH64 : EM_X86_64, 4096);
		for (size_t len = 0; len < offsetof(struct image, memory); len++) {
			struct snapshot s;
			struct core c;
			/* the end of the notes is room */
			bool whole = len >= offsetof(struct image, notes) +
					    image.p[0].p_filesz;

			CHECK((open_image(&image, len, &c, &s) == 0) == whole);
			close_image(&c, &s);
		}
		for (size_t bit = 0; bit < 8 * (offsetof(struct image, notes) +
						image.p[0].p_filesz); bit++) {
			struct image bad = image;
			struct snapshot s;
			struct core c;
			char got[64];

			((uint8_t *)&bad)[bit / 8] ^= 1u << bit % 8;
			believed += !open_image(&bad, sizeof(bad), &c, &s);
			core_memory(&c, STACK, got, sizeof(got));
			close_image(&c, &s);
		}
	}
	printf("# %d are believed\n", believed);
	CHECK(believed > 1000);
}

TEST(core_that_is_none)
{
	struct image image;
	struct snapshot s;
	struct core c;

	make(&image, EM_X86_64, 4096);
	image.e.e_type = ET_EXEC;
	CHECK_EQ(open_image(&image, sizeof(image), &c, &s), -ENOEXEC);
	close_image(&c, &s);
	make(&image, EM_386, 4096);
	CHECK_EQ(open_image(&image, sizeof(image), &c, &s), -ENOEXEC);
	close_image(&c, &s);
	make(&image, EM_X86_64, 4096);
	image.p[0].p_type = PT_NULL;		/* no thread */
	CHECK_EQ(open_image(&image, sizeof(image), &c, &s), -ENOEXEC);
	close_image(&c, &s);
	make(&image, EM_X86_64, 4096);
	image.p[2].p_vaddr = CODE;		/* one upon the other */
	CHECK_EQ(open_image(&image, sizeof(image), &c, &s), -ENOEXEC);
	close_image(&c, &s);
}
