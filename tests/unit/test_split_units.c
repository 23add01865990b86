// SPDX-License-Identifier: Apache-2.0
/* Split DWARF: .dwo files and packages that compilers wrote; indexes and lists that are
 * made here; and damage. */
#include "symbolizerd/symbols/split_units.h"
#include "symbolizerd/symbols/dwarf_places.h"
#include "tests/unit/dwarf_sample.h"

#include <dwarf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ipc/message_hub.h"

static struct dwarf_sample s;

/* --- what compilers write -------------------------------------------------------- */

/* What there is. */
struct at_hand {
	int package;		/* -1: none; given away once */
	bool dwos;
};

static unsigned int packages, dwos;	/* asked for */

static int open_split(void *arg, const char *name, const char *dir)
{
	struct at_hand *h = arg;
	char path[512];
	int fd = h->package;

	if (!name) {
		h->package = -1;
		packages++;
		return fd;
	}
	dwos++;
	CHECK(dir);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return h->dwos ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static struct dwarf_places *open_sample(struct at_hand *h)
{
	int fd = open(s.path, O_RDONLY | O_CLOEXEC);
	struct dwarf_places *d;

	CHECK(fd >= 0);
	CHECK_EQ(dwarf_places_open(fd, -1, &d), JOB_OK);
	close(fd);
	dwarf_places_split(d, open_split, h);
	packages = dwos = 0;
	return d;
}

static void check_here(struct dwarf_places *d)
{
	static const char *const names[] = { "innermost", "middle", "outer" };
	static const uint32_t lines[] = { SAMPLE_HERE, SAMPLE_MIDDLE, SAMPLE_OUTER };
	static const uint32_t first[] = { SAMPLE_INNERMOST, 10, 14 };
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	char file[160];

	snprintf(file, sizeof(file), "%s/sample.c", s.dir);
	CHECK_EQ(dwarf_places_at(d, s.here, at), 3);
	for (int i = 0; i < 3; i++) {
		CHECK_STR(at[i].name, names[i]);
		CHECK_STR(at[i].file, file);
		CHECK_EQ(at[i].line, lines[i]);
		CHECK_EQ(at[i].first_line, first[i]);
	}
	CHECK_EQ(dwarf_places_at(d, s.here, at), 3);
}

static void check_dwo(void)
{
	struct at_hand h = { .package = -1, .dwos = true };
	struct dwarf_places *d = open_sample(&h);

	check_here(d);
	CHECK(packages == 1 && dwos == 1);
	dwarf_places_close(d);
}

/* False: the tool cannot make one. */
static bool make_package(const char *tool, char path[160])
{
	char command[512];

	snprintf(path, 160, "%s/%s.dwp", s.dir, tool);
	snprintf(command, sizeof(command), "cd %s && timeout 10 %s -e sample -o %s >/dev/null 2>&1",
		 s.dir, tool, path);
	return dwarf_sample_run(command) && !access(path, R_OK);
}

static bool check_package(const char *tool)
{
	struct at_hand h = { .dwos = true };
	struct dwarf_places *d;
	char path[160];

	if (!make_package(tool, path))
		return false;
	h.package = open(path, O_RDONLY | O_CLOEXEC);
	d = open_sample(&h);
	check_here(d);
	CHECK(packages == 1 && dwos == 0);
	dwarf_places_close(d);
	return true;
}

TEST(compilers_options_and_versions_say_the_same)
{
	static const char *const with[] = {
		"cc -O0 -gdwarf-4", "cc -O2 -gdwarf-4", "cc -O2 -gdwarf-5", "cc -O2 -gdwarf-5 -gz",
		"cc -O2 -gdwarf-4 -gz=zlib-gnu", "cc -O2 -gdwarf-4 -fdebug-types-section",
		"cc -O2 -gdwarf-5 -ffunction-sections",
		"clang -O0 -gdwarf-5", "clang -O2 -gdwarf-4", "clang -O2 -gdwarf-5",
		"clang -O2 -gdwarf-5 -gz", "clang -O2 -gdwarf-4 -ffunction-sections",
		"clang -O2 -gdwarf-5 -fsplit-dwarf-inlining",
	};
	unsigned int n = 0, made = 0;
	char compiler[128];

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		snprintf(compiler, sizeof(compiler), "%s -gsplit-dwarf", with[i]);
		if (dwarf_sample_make(&s, compiler)) {
			check_dwo();
			/* of DWARF 5, binutils' crashes, and LLVM's never ends with gcc's */
			made += strstr(compiler, "-gdwarf-4") && check_package("dwp");
			made += !strstr(compiler, "cc -O2 -gdwarf-5") &&
				    check_package("llvm-dwp");
			n++;
		} else {
			printf("# not here: %s\n", compiler);
		}
		dwarf_sample_remove(&s);
	}
	printf("# %u programs, %u packages\n", n, made);
	CHECK(n >= 6 && made >= 4);
}

TEST(without_its_file_a_unit_has_lines_only)
{
	struct at_hand h = { .package = -1 };
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;

	CHECK(dwarf_sample_make(&s, "cc -O2 -gdwarf-5 -gsplit-dwarf"));
	d = open_sample(&h);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(dwarf_places_at(d, s.here, at), 1);
		CHECK_STR(at[0].name, "");
		CHECK_EQ(at[0].line, SAMPLE_HERE);
	}
	CHECK(packages == 1 && dwos == 1);	/* looked for once */
	dwarf_places_close(d);
	dwarf_sample_remove(&s);
}

/* A .dwo that was made again belongs to another program. */
TEST(a_unit_of_another_id_is_not_used)
{
	struct at_hand h = { .package = -1, .dwos = true };
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct dwarf_places *d;
	char command[512];

	CHECK(dwarf_sample_make(&s, "cc -O2 -gdwarf-5 -gsplit-dwarf"));
	d = open_sample(&h);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir keep && cp sample keep && echo 'int more(int x) { return x; }' "
		 ">>sample.c && cc -O2 -gdwarf-5 -gsplit-dwarf -nostdlib -static -o sample sample.c",
		 s.dir);
	CHECK(dwarf_sample_run(command));
	CHECK_EQ(dwarf_places_at(d, s.here, at), 1);
	CHECK_STR(at[0].name, "");
	CHECK_EQ(dwos, 1);
	dwarf_places_close(d);
	dwarf_sample_remove(&s);
}

/* Then .dwo files are looked for; and of a whole file nothing is. */
TEST(what_is_no_package_is_not_used)
{
	struct at_hand h;
	struct dwarf_places *d;

	CHECK(dwarf_sample_make(&s, "cc -O2 -gdwarf-5 -gsplit-dwarf"));
	for (int i = 0; i < 2; i++) {
		h = (struct at_hand){ open(i ? s.path : "/dev/null", O_RDONLY | O_CLOEXEC), true };
		d = open_sample(&h);
		check_here(d);
		CHECK(packages == 1 && dwos == 1);
		dwarf_places_close(d);
	}
	dwarf_sample_remove(&s);
	CHECK(dwarf_sample_make(&s, "cc -O2 -g"));
	d = open_sample(&h);
	check_here(d);
	CHECK(packages == 0 && dwos == 0);
	dwarf_places_close(d);
	dwarf_sample_remove(&s);
}

/* --- indexes ----------------------------------------------------------------------- */

#define ROWS	3u
#define SLOTS	4u

struct index4 {
	uint32_t version, columns, rows, slots;
	uint64_t ids[SLOTS];
	uint32_t row[SLOTS], kinds[4], offsets[ROWS][4], sizes[ROWS][4];
};

/* Their places in the table are 1, 1 (so 2, by its high bits), and 3. */
static const uint64_t index_ids[ROWS] = { 0x0000000200000001, 0x0000000000000005,
					  0x0000000700000003 };

static struct index4 make_index(uint32_t version)
{
	struct index4 x = { .version = version, .columns = 4, .rows = ROWS, .slots = SLOTS,
			    .ids = { 0, index_ids[0], index_ids[1], index_ids[2] },
			    .row = { 0, 1, 2, 3 }, .kinds = { 1, 3, 6, 8 } };

	for (uint32_t r = 0; r < ROWS; r++) {
		for (uint32_t c = 0; c < 4; c++) {
			x.offsets[r][c] = 10 * r + c;
			x.sizes[r][c] = 7 + r;
		}
	}
	return x;
}

static uint8_t section[64];

static bool find(const void *index, size_t len, uint64_t id,
		 struct split_bytes ret[SPLIT__PARTS])
{
	struct split_file f = { .index = { index, len } };
	uint32_t steps = 100;

	for (int i = 0; i < SPLIT__PARTS; i++)
		f.parts[i] = (struct split_bytes){ section, sizeof(section) };
	return split_file_find(&f, id, &steps, ret);
}

TEST(an_index_says_which_parts_a_unit_has)
{
	struct split_bytes b[SPLIT__PARTS];

	for (uint32_t version = 2; version <= 5; version += 3) {
		struct index4 x = make_index(version);

		for (uint32_t r = 0; r < ROWS; r++) {
			CHECK(find(&x, sizeof(x), index_ids[r], b));
			CHECK(b[SPLIT_INFO].at == section + 10 * r);
			CHECK_EQ(b[SPLIT_INFO].len, 7 + r);
			CHECK(b[SPLIT_ABBREV].at == section + 10 * r + 1);
			CHECK(b[SPLIT_STR_OFFSETS].at == section + 10 * r + 2);
			CHECK_EQ(b[SPLIT_STR].len, sizeof(section));
			/* of version 2 it is about macros */
			CHECK_EQ(b[SPLIT_RNGLISTS].len, version == 5 ? 7 + r : 0);
		}
		CHECK(!find(&x, sizeof(x), 0x1234, b));
	}
}

TEST(an_index_that_contradicts_itself_has_nothing)
{
	struct index4 good = make_index(5), x = good;
	struct split_bytes b[SPLIT__PARTS];

	x.version = 3;
	CHECK(!find(&x, sizeof(x), index_ids[0], b));
	x = good;
	x.slots = 3;
	CHECK(!find(&x, sizeof(x), index_ids[0], b));
	x = good;
	x.columns = 1u << 31;
	CHECK(!find(&x, sizeof(x), index_ids[0], b));
	x = good;
	x.rows = UINT32_MAX;
	CHECK(!find(&x, sizeof(x), index_ids[0], b));
	x = good;
	x.row[1] = ROWS + 1;
	CHECK(!find(&x, sizeof(x), index_ids[0], b));
	x = good;
	x.offsets[0][0] = sizeof(section);	/* outside, and over the end */
	x.offsets[0][1] = sizeof(section) - 6;
	x.sizes[0][2] = UINT32_MAX;
	CHECK(find(&x, sizeof(x), index_ids[0], b));
	CHECK(!b[SPLIT_INFO].len && !b[SPLIT_ABBREV].len && !b[SPLIT_STR_OFFSETS].len);
}

/* A table without a free slot ends the search, too; so does a limit. */
TEST(a_search_in_an_index_ends)
{
	struct index4 x = make_index(5);
	struct split_file f = { .index = { (void *)&x, sizeof(x) } };
	struct split_bytes b[SPLIT__PARTS];
	uint32_t steps = 100;

	x.ids[0] = 0x4000;
	x.row[0] = 1;
	CHECK(!split_file_find(&f, 0x9999, &steps, b));
	CHECK_EQ(steps, 100 - SLOTS);
	steps = 0;
	CHECK(!split_file_find(&f, index_ids[0], &steps, b));
}

TEST(an_index_may_end_anywhere_and_have_any_bit)
{
	struct index4 good = make_index(5);
	struct split_bytes b[SPLIT__PARTS];

	for (size_t len = 0; len <= sizeof(good); len++) {
		uint8_t *exact = malloc(len ? len : 1);

		memcpy(exact, &good, len);
		/* an empty section is none: a .dwo then */
		CHECK_EQ(find(exact, len, index_ids[1], b), len == sizeof(good));
		free(exact);
	}
	for (size_t bit = 0; bit < 8 * sizeof(good); bit++) {
		uint8_t *exact = malloc(sizeof(good));

		memcpy(exact, &good, sizeof(good));
		exact[bit / 8] ^= 1u << bit % 8;
		for (uint32_t r = 0; r < ROWS; r++) {
			if (!find(exact, sizeof(good), index_ids[r], b))
				continue;
			for (int i = 0; i < SPLIT__PARTS; i++)
				CHECK(!b[i].len || (b[i].at >= section && b[i].len <= sizeof(section) -
								  (size_t)(b[i].at - section)));
		}
		free(exact);
	}
}

/* --- lists ------------------------------------------------------------------------- */

static const uint64_t addresses[] = { 0x1000, 0x2000, 0x3000, 0x4000 };

static const uint8_t list5[] = {
	DW_RLE_startx_length, 1, 0x90, 1,	/* 2000, +90 */
	DW_RLE_offset_pair, 8, 16,		/* by the unit's base */
	DW_RLE_base_addressx, 2, DW_RLE_offset_pair, 1, 2,
	DW_RLE_startx_endx, 0, 3,
	DW_RLE_base_address, 0, 0x50, 0, 0, 0, 0, 0, 0, DW_RLE_offset_pair, 4, 5,
	DW_RLE_start_end, 0, 0x60, 0, 0, 0, 0, 0, 0, 0x80, 0x60, 0, 0, 0, 0, 0, 0,
	DW_RLE_start_length, 0, 0x70, 0, 0, 0, 0, 0, 0, 0x80, 2,
	DW_RLE_end_of_list, DW_RLE_start_length,
};
static const uint64_t ranges5[][2] = { { 0x2000, 0x2090 }, { 0x70008, 0x70010 },
	{ 0x3001, 0x3002 }, { 0x1000, 0x4000 }, { 0x5004, 0x5005 }, { 0x6000, 0x6080 },
	{ 0x7000, 0x7100 } };

static const uint64_t list4[] = { 0x10, 0x20, UINT64_MAX, 0x5000, 1, 2, 0, 0, 7, 8 };
static const uint64_t ranges4[][2] = { { 0x70010, 0x70020 }, { 0x5001, 0x5002 } };

static uint32_t steps;

/* How many ranges the list has; if they are to be as in want, until *n. */
static uint32_t walk(const void *list, size_t len, bool v5, const uint64_t (*want)[2])
{
	struct split_lists l = { .addresses = { (void *)addresses, sizeof(addresses) },
				 .base = 0x70000, .rnglists = v5, .steps = &steps };
	struct split_walk w = { .l = &l, .base = l.base };
	uint64_t low, high;
	uint32_t n = 0;

	wire_init(&w.in, list, len, false);
	for (; split_walk_next(&w, &low, &high); n++) {
		if (want) {
			CHECK_EQ(low, want[n][0]);
			CHECK_EQ(high, want[n][1]);
		}
	}
	CHECK(!split_walk_next(&w, &low, &high));
	return n;
}

TEST(lists_have_all_kinds_of_elements)
{
	steps = 100;
	CHECK_EQ(walk(list5, sizeof(list5), true, ranges5), 7);
	CHECK_EQ(steps, 90);	/* ranges, bases, end */
	CHECK_EQ(walk(list4, sizeof(list4), false, ranges4), 2);
	CHECK_EQ(steps, 86);
	steps = 2;
	CHECK_EQ(walk(list5, sizeof(list5), true, ranges5), 2);
}

static void damage_list(const void *list, size_t len, bool v5, const uint64_t (*want)[2])
{
	for (size_t n = 0; n < len; n++) {
		uint8_t *exact = malloc(n ? n : 1);

		memcpy(exact, list, n);
		steps = 100;
		walk(exact, n, v5, want);
		free(exact);
	}
	for (size_t bit = 0; bit < 8 * len; bit++) {
		uint8_t *exact = malloc(len);

		memcpy(exact, list, len);
		exact[bit / 8] ^= 1u << bit % 8;
		steps = 100;
		walk(exact, len, v5, NULL);
		free(exact);
	}
}

TEST(lists_may_end_anywhere_and_have_any_bit)
{
	damage_list(list5, sizeof(list5) - 1, true, ranges5);
	damage_list(list4, sizeof(list4), false, ranges4);
}

/* A list of bases only costs what it may. */
TEST(a_list_without_end_ends)
{
	static uint8_t bases[100000];

	for (size_t i = 0; i < sizeof(bases); i += 2)
		bases[i] = DW_RLE_base_addressx;
	steps = 1000;
	CHECK_EQ(walk(bases, sizeof(bases), true, NULL), 0);
	CHECK_EQ(steps, 0);
}

/* --- damaged files ------------------------------------------------------------------ */

static uint8_t program[65536], package[65536];
static size_t program_len, package_len;

static size_t load(const char *path, uint8_t to[65536])
{
	FILE *f = fopen(path, "r");
	size_t n;

	CHECK(f);
	n = fread(to, 1, 65536, f);
	CHECK(n > 500 && n < 65536);
	fclose(f);
	return n;
}

static int put(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	return fd;
}

/* What a worker does with it; its strings are read to their ends. */
static void visit(void)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct at_hand h = { .package = put(package, package_len) };
	int fd = put(program, program_len);
	struct dwarf_places *d;

	if (!dwarf_places_open(fd, -1, &d)) {
		dwarf_places_split(d, open_split, &h);
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
	if (h.package >= 0)
		close(h.package);
}

static uint8_t whole_program[65536], whole_package[65536];
static size_t whole_package_len;

/* Do damage i: false when there are no more. */
typedef bool (*damage_fn)(uint64_t i);

static bool flip_byte(uint8_t *bytes, size_t len, uint64_t i)
{
	if (i / 2 < len)
		bytes[i / 2] ^= i % 2 ? 0xff : 1u << i / 2 % 8;
	return i / 2 < len;
}

static bool flip_package(uint64_t i)
{
	return flip_byte(package, package_len, i);
}

static Elf64_Shdr *section_headers(uint8_t *bytes)
{
	return (void *)(bytes + ((Elf64_Ehdr *)(void *)bytes)->e_shoff);
}

/* Where the program's DWARF is. */
static bool flip_program(uint64_t i)
{
	const Elf64_Ehdr *e = (void *)program;
	const Elf64_Shdr *sh = section_headers(program);
	const char *names = (char *)program + sh[e->e_shstrndx].sh_offset;

	for (unsigned int n = 1; n < e->e_shnum; n++) {
		if (strncmp(names + sh[n].sh_name, ".debug_", 7))
			continue;
		if (flip_byte(program + sh[n].sh_offset, sh[n].sh_size, i))
			return true;
		i -= 2 * sh[n].sh_size;
	}
	return false;
}

/* Each of the package's sections with each smaller size; then the whole file. */
static bool cut_package(uint64_t i)
{
	unsigned int n_sections = ((Elf64_Ehdr *)(void *)package)->e_shnum;
	Elf64_Shdr *sh = section_headers(package);

	for (unsigned int n = 1; n < n_sections; n++) {
		if (i < sh[n].sh_size) {
			sh[n].sh_size = i;
			return true;
		}
		i -= sh[n].sh_size;
	}
	if (i >= whole_package_len)
		return false;
	package_len = i;
	return true;
}

#define CPU_S	20	/* of all damages; a worker has 30 for one visit */

static bool damage_one(damage_fn fn, uint64_t i)
{
	memcpy(program, whole_program, sizeof(program));
	memcpy(package, whole_package, sizeof(package));
	package_len = whole_package_len;
	return fn(i);
}

/* In a process that continues after one that ends it: libdw may die, but not take long. */
static void damage_all(damage_fn fn)
{
	uint64_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int deaths = 0;
	int status = 1;

	CHECK(at != MAP_FAILED);
	while (status) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_S, CPU_S });
			while (damage_one(fn, (*at)++))
				visit();
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		deaths += status != 0;
		CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL);
		CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGXCPU);
	}
	printf("# %ju damages, %u deaths of libdw\n", (uintmax_t)*at, deaths);
	CHECK(*at > 500);
	munmap(at, 4096);
}

static void damage(const char *compiler, const char *tool)
{
	char path[160];

	if (!dwarf_sample_make(&s, compiler) || !make_package(tool, path)) {
		printf("# no %s here\n", tool);
		dwarf_sample_remove(&s);
		exit(TEST_SKIP);
	}
	program_len = load(s.path, whole_program);
	whole_package_len = load(path, whole_package);
	dwarf_sample_remove(&s);
	damage_all(flip_package);
	damage_all(flip_program);
	damage_all(cut_package);
}

TEST(damage_of_dwarf_5_ends_a_worker_at_most)
{
	damage("clang -O2 -gdwarf-5 -gsplit-dwarf", "llvm-dwp");
}

TEST(damage_of_dwarf_4_ends_a_worker_at_most)
{
	damage("cc -O2 -gdwarf-4 -gsplit-dwarf", "dwp");
}
