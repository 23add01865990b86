// SPDX-License-Identifier: Apache-2.0
/* Functions, lines and inlined calls from DWARF that compilers wrote; and damaged. */
#include "symbolizerd/symbols/dwarf_places.h"
#include "tests/unit/dwarf_sample.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ipc/message_hub.h"

static struct dwarf_sample s;

static uint32_t at_fd(int fd, int alt, uint64_t vaddr, struct dwarf_places **d,
		      struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	CHECK_EQ(dwarf_places_open(fd, alt, d), JOB_OK);
	return dwarf_places_at(*d, vaddr, ret);
}

static void check_place(const struct symbol_place *p, const char *name, uint32_t first,
			uint32_t line)
{
	char file[160];

	snprintf(file, sizeof(file), "%s/sample.c", s.dir);
	CHECK_STR(p->name, name);
	CHECK_STR(p->file, file);
	CHECK_EQ(p->first_line, first);
	CHECK_EQ(p->line, line);
}

static void check_here(const char *path, int alt)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK_EQ(at_fd(fd, alt, s.here, &d, at), 3);
	CHECK(dwarf_places_any(d));
	check_place(&at[0], "innermost", SAMPLE_INNERMOST, SAMPLE_HERE);
	check_place(&at[1], "middle", 10, SAMPLE_MIDDLE);
	check_place(&at[2], "outer", 14, SAMPLE_OUTER);
	CHECK_EQ(dwarf_places_at(d, s.here + (1 << 20), at), 0);
	CHECK_EQ(dwarf_places_at(d, 0, at), 0);
	dwarf_places_close(d);
	close(fd);
}

TEST(compilers_options_and_versions_say_the_same)
{
	static const char *const with[] = {
		"cc -O0 -g", "cc -O2 -g -gdwarf-4", "cc -O2 -g -gdwarf-5", "cc -O3 -g -gz",
		"cc -O2 -g -fdebug-types-section -gdwarf-4", "cc -Os -g -gz=zlib-gnu -gdwarf-4",
		"cc -O2 -g -flto", "clang -O0 -g", "clang -O2 -g -gdwarf-4",
		"clang -O2 -g -gdwarf-5", "clang -O3 -g -gz", "clang -Os -g -gdwarf-2",
	};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		if (dwarf_sample_make(&s, with[i])) {
			check_here(s.path, -1);
			n++;
		} else {
			printf("# not here: %s\n", with[i]);
		}
		dwarf_sample_remove(&s);
	}
	CHECK(n >= 6);
}

TEST(a_debug_file_says_what_its_program_would)
{
	char command[512], path[160];

	CHECK(dwarf_sample_make(&s, "cc -O2 -g"));
	snprintf(path, sizeof(path), "%s/debug", s.dir);
	snprintf(command, sizeof(command), "objcopy --only-keep-debug %s %s", s.path, path);
	CHECK(dwarf_sample_run(command));
	check_here(path, -1);
	dwarf_sample_remove(&s);
}

/* Two copies, so that there is something to be moved. */
TEST(an_alternate_file_of_dwz_is_used)
{
	char command[512], path[160];
	int alt;

	CHECK(dwarf_sample_make(&s, "cc -O2 -g -gdwarf-4"));
	snprintf(command, sizeof(command), "cd %s && cp sample other && "
		 "dwz -m alternate sample other 2>/dev/null && test -s alternate", s.dir);
	if (!dwarf_sample_run(command)) {
		printf("# no dwz here, or nothing to do for it\n");
		dwarf_sample_remove(&s);
		exit(TEST_SKIP);
	}
	snprintf(path, sizeof(path), "%s/alternate", s.dir);
	alt = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(alt >= 0);
	check_here(s.path, alt);
	close(alt);
	dwarf_sample_remove(&s);
}

TEST(without_dwarf_nothing_is_known)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	int fd;

	CHECK(dwarf_sample_make(&s, "cc -O2 -g0"));
	fd = open(s.path, O_RDONLY | O_CLOEXEC);
	CHECK_EQ(at_fd(fd, -1, s.here, &d, at), 0);
	CHECK(!dwarf_places_any(d));
	dwarf_places_close(d);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_EQ(dwarf_places_open(fd, -1, &d), JOB_NOT_ELF);
	close(fd);
	dwarf_sample_remove(&s);
}

/* --- damage ------------------------------------------------------------------- */

static uint8_t image[65536];
static size_t image_len;

static void load(const char *compiler)
{
	FILE *f;

	CHECK(dwarf_sample_make(&s, compiler));
	f = fopen(s.path, "r");
	CHECK(f);
	image_len = fread(image, 1, sizeof(image), f);
	CHECK(image_len > 1000 && image_len < sizeof(image));
	fclose(f);
	dwarf_sample_remove(&s);
}

static Elf64_Shdr *section(const char *name)
{
	Elf64_Ehdr *e = (void *)image;
	Elf64_Shdr *shdrs = (void *)(image + e->e_shoff);
	const char *names = (const char *)image + shdrs[e->e_shstrndx].sh_offset;

	for (unsigned int i = 1; i < e->e_shnum; i++) {
		if (!strcmp(names + shdrs[i].sh_name, name))
			return &shdrs[i];
	}
	return NULL;
}

/* Macros that would be 4 TiB, if they were uncompressed. */
TEST(what_is_not_read_is_not_uncompressed)
{
	int fd = memfd_create("macros", MFD_CLOEXEC);
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	Elf64_Shdr *macros;
	Elf64_Chdr head;

	load("cc -O2 -g3 -gz -gdwarf-5");
	macros = section(".debug_macro");
	CHECK(macros && macros->sh_flags & SHF_COMPRESSED);
	memcpy(&head, image + macros->sh_offset, sizeof(head));
	head.ch_size = 1ULL << 42;
	memcpy(image + macros->sh_offset, &head, sizeof(head));
	CHECK(fd >= 0 && write(fd, image, image_len) == (ssize_t)image_len);
	CHECK_EQ(at_fd(fd, -1, s.here, &d, at), 3);
	check_place(&at[0], "innermost", SAMPLE_INNERMOST, SAMPLE_HERE);
	dwarf_places_close(d);
	close(fd);
}

/* What a worker does with it; its strings are read to their ends. */
static void visit(const uint8_t *bytes, size_t len)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	struct dwarf_places *d;

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	if (!dwarf_places_open(fd, -1, &d)) {
		for (uint64_t vaddr = s.here - 24; vaddr < s.here + 24; vaddr += 6) {
			uint32_t n = dwarf_places_at(d, vaddr, at);

			CHECK(n <= SYMBOL_DEPTH_MAX);
			for (uint32_t i = 0; i < n; i++)
				CHECK(strlen(at[i].name) <= DWARF_NAME_MAX &&
				      strlen(at[i].file) <= 2 * DWARF_NAME_MAX + 1);
		}
		dwarf_places_close(d);
	}
	close(fd);
}

/* Damage i of `what`: false when there are no more. */
typedef bool (*damage_fn)(uint8_t *bytes, const Elf64_Shdr *what, uint64_t i);

static bool flip(uint8_t *bytes, const Elf64_Shdr *what, uint64_t i)
{
	if (i / 2 >= what->sh_size)
		return false;
	bytes[what->sh_offset + i / 2] ^= i % 2 ? 0xff : 1u << i / 2 % 8;
	return true;
}

static bool cut(uint8_t *bytes, const Elf64_Shdr *what, uint64_t i)
{
	Elf64_Shdr *shdrs = (void *)(bytes + ((Elf64_Ehdr *)(void *)bytes)->e_shoff);
	uint64_t which = (uint64_t)(what - (Elf64_Shdr *)(void *)(image + ((Elf64_Ehdr *)(void *)image)->e_shoff));

	if (i >= what->sh_size)
		return false;
	shdrs[which].sh_size = i;
	return true;
}

#define CPU_S	20	/* of all damages of a section; a worker has 30 for one visit */

/* Each damage in turn, in a process that continues after one that ends it: libdw may
 * die, but not take long. */
static void damage_section(const Elf64_Shdr *what, damage_fn fn, unsigned int *deaths)
{
	uint64_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static uint8_t bytes[sizeof(image)];
	int status = 1;

	CHECK(at != MAP_FAILED);
	while (status) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_S, CPU_S });
			memcpy(bytes, image, image_len);
			while (fn(bytes, what, (*at)++)) {
				visit(bytes, image_len);
				memcpy(bytes, image, image_len);
			}
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		*deaths += status != 0;
		CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL);
		CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGXCPU);
	}
	munmap(at, 4096);
}

static unsigned int damage_all(const char *compiler, damage_fn fn)
{
	const Elf64_Shdr *shdrs;
	unsigned int deaths = 0;
	Elf64_Ehdr *e = (void *)image;
	const char *names;

	load(compiler);
	shdrs = (const void *)(image + e->e_shoff);
	names = (const char *)image + shdrs[e->e_shstrndx].sh_offset;
	for (unsigned int i = 1; i < e->e_shnum; i++) {
		if (!strncmp(names + shdrs[i].sh_name, ".debug_", 7))
			damage_section(&shdrs[i], fn, &deaths);
	}
	printf("# %u deaths of libdw\n", deaths);
	return deaths;
}

TEST(flipped_bits_end_a_worker_at_most)
{
	damage_all("cc -O2 -g", flip);
}

TEST(sections_that_end_early_end_a_worker_at_most)
{
	damage_all("cc -O2 -g -gdwarf-4", cut);
}

TEST(compressed_sections_that_are_damaged_end_a_worker_at_most)
{
	damage_all("cc -O2 -g -gz", flip);
}
