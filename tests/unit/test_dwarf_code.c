// SPDX-License-Identifier: Apache-2.0
/* Pieces of code say of each address in them what is said of it alone; also damaged ones. */
#include "symbolizerd/symbols/dwarf_places.h"
#include "tests/unit/dwarf_sample.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "ipc/message_hub.h"
#include "symbolizerd/symbols/line_codes.h"

static struct dwarf_sample s;

/* --- the same as alone ------------------------------------------------------------ */

struct seen {
	uint64_t addresses, pieces, segments, inlined, nothing;
	uint32_t longest;	/* bytes of a piece */
};

static void same(const struct symbol_place *a, const struct symbol_place *b, uint64_t vaddr)
{
	if (!strcmp(a->name, b->name) && !strcmp(a->file, b->file) && a->line == b->line &&
	    a->first_line == b->first_line && !a->system == !b->system &&
	    (!a->system || !strcmp(a->system, b->system)))
		return;
	printf("# at %jx: %s %s:%u (%u), alone: %s %s:%u (%u)\n", (uintmax_t)vaddr, a->name,
	       a->file, a->line, a->first_line, b->name, b->file, b->line, b->first_line);
	CHECK(false);
}

/* Each address of the piece around vaddr. */
static void check_piece(struct dwarf_places *d, struct dwarf_places *alone, uint64_t vaddr,
			const struct dwarf_code *c, struct seen *seen)
{
	struct symbol_place a[SYMBOL_DEPTH_MAX], b[SYMBOL_DEPTH_MAX];
	uint32_t n = 0, next = 0;

	CHECK(c->span.low <= vaddr && vaddr < c->span.high);
	CHECK(c->n && c->at[0] == c->span.low);
	seen->pieces++;
	seen->segments += c->n;
	if (c->span.high - c->span.low > seen->longest)
		seen->longest = (uint32_t)(c->span.high - c->span.low);
	for (uint64_t at = c->span.low; at < c->span.high; at++) {
		if (next < c->n && c->at[next] == at) {
			n = dwarf_places_within(d, at, a);
			next++;
		}
		seen->addresses++;
		seen->inlined += n > 1;
		seen->nothing += !n;
		CHECK_EQ(dwarf_places_at(alone, at, b), n);
		for (uint32_t i = 0; i < n; i++)
			same(&a[i], &b[i], at);
	}
	CHECK_EQ(next, c->n);
}

/* A .dwo file, where the compiler said. */
static int open_split(void *arg, const char *name, const char *dir)
{
	char path[256];

	(void)arg;
	if (!name)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* All pieces from low to high: one ends where the next begins, and from its last byte it is
 * the same. */
static struct seen check_file(const char *path, uint64_t low, uint64_t high, uint32_t max)
{
	struct dwarf_places *d, *alone;
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	struct seen seen = { 0 };
	struct dwarf_code c;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK_EQ(dwarf_places_open(fd, -1, &d), JOB_OK);
	CHECK_EQ(dwarf_places_open(fd, -1, &alone), JOB_OK);
	dwarf_places_split(d, open_split, NULL);
	dwarf_places_split(alone, open_split, NULL);
	/* functions within functions are known to both */
	(void)dwarf_places_at(alone, low, at);
	for (uint64_t vaddr = low; vaddr < high;) {
		uint64_t begin;

		c.span = (struct dwarf_span){ low, high };
		CHECK(dwarf_places_around(d, vaddr, max, &c));
		CHECK(c.n <= max);
		begin = c.span.low;
		CHECK(begin == vaddr);
		check_piece(d, alone, vaddr, &c, &seen);
		vaddr = c.span.high;
		c.span = (struct dwarf_span){ low, high };
		CHECK(dwarf_places_around(d, vaddr - 1, max, &c));
		CHECK(c.span.low == begin && c.span.high == vaddr);
	}
	dwarf_places_close(d);
	dwarf_places_close(alone);
	close(fd);
	return seen;
}

/* Where its code is. */
static void code_of(const char *path, uint64_t *low, uint64_t *high)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Shdr *text;
	struct elf_file f;

	CHECK_EQ(elf_file_open(&f, fd), 0);
	text = elf_file_find(&f, ".text");
	CHECK(text != NULL);
	*low = text->sh_addr;
	*high = text->sh_addr + text->sh_size;
	elf_file_close(&f);
	close(fd);
}

static void check_sample(const char *compiler, uint32_t max)
{
	uint64_t low, high;
	struct seen seen;

	if (!dwarf_sample_make(&s, compiler)) {
		printf("# not here: %s\n", compiler);
		dwarf_sample_remove(&s);
		return;
	}
	code_of(s.path, &low, &high);
	seen = check_file(s.path, low - 16, high + 16, max);
	printf("# %s: %ju pieces, %ju segments, %ju bytes, %ju of inlined calls\n", compiler,
	       (uintmax_t)seen.pieces, (uintmax_t)seen.segments, (uintmax_t)seen.addresses,
	       (uintmax_t)seen.inlined);
	CHECK(seen.inlined && seen.pieces > 3 && seen.nothing >= 16);
	dwarf_sample_remove(&s);
}

TEST(each_address_has_what_it_has_alone)
{
	static const char *const with[] = {
		"cc -O0 -g", "cc -O2 -g -gdwarf-4", "cc -O2 -g -gdwarf-5", "cc -O3 -g -gz",
		"cc -O2 -g -ffunction-sections", "clang -O0 -g", "clang -O2 -g -gdwarf-4",
		"clang -O2 -g -gdwarf-5", "clang -Os -g -gdwarf-2", "cc -O2 -g -gsplit-dwarf",
	};

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		check_sample(with[i], LINE_CODE_SEGMENTS);
}

TEST(so_it_does_in_a_part_of_a_function)
{
	for (uint32_t max = 1; max < 8; max++)
		check_sample("cc -O2 -g", max);
}

/* Blocks, cold parts, functions within functions, exceptions, templates. */
static const char *const larger_sources[][3] = {
	{ "c", "cc -O2 -g -shared -fPIC -xc",
	  "#include <stdlib.h>\n"
	  "static inline int sq(int x) { int r; { int y = x; { static int n; n++; r = y * y + n; } }"
	  " return r; }\n"
	  "int nest(int n) { __auto_type k = n; int in(int x) { if (x > k) { int z = sq(x);"
	  " abort(); return z; } return sq(x) + k; }\n int (*volatile f)(int) = in;\n"
	  " return f(n) + sq(n) + sq(n + 1); }\n"
	  "__attribute__((cold)) void no(int x) { if (sq(x)) exit(x); }\n"
	  "int all(int *v, int n) { int s = 0;\n for (int i = 0; i < n; i++) {\n"
	  "  if (__builtin_expect(v[i] < 0, 0)) { no(v[i]); }\n  s += sq(v[i]); }\n"
	  " for (int i = 0; i < n; i++) { int q = sq(i); { int w = sq(q); s ^= w; } }\n"
	  " return s; }\n" },
	{ "cc", "c++ -O2 -g -shared -fPIC -xc++",
	  "#include <map>\n#include <string>\n#include <vector>\n#include <algorithm>\n"
	  "int words(const std::vector<std::string> &v) {\n"
	  " std::map<std::string, int> m;\n for (const auto &s : v) m[s]++;\n"
	  " std::vector<int> n; for (auto &p : m) n.push_back(p.second);\n"
	  " std::sort(n.begin(), n.end(), [](int a, int b) { return a > b; });\n"
	  " return n.empty() ? 0 : n[0]; }\n"
	  "int safe(const std::vector<std::string> &v) { try { return words(v); }\n"
	  " catch (const std::exception &e) { return -(int)std::string(e.what()).size(); } }\n" },
};

TEST(so_it_does_in_larger_programs)
{
	static const char *const options[] = { "", "-gdwarf-4", "-O1", "-O3 -gz", "-Os" };
	char command[1024], path[128];
	uint64_t low, high, inlined = 0;
	struct seen seen;
	FILE *f;

	snprintf(s.dir, sizeof(s.dir), "/tmp/dwarf_code.XXXXXX");
	CHECK(mkdtemp(s.dir));
	for (size_t i = 0; i < 2 * sizeof(options) / sizeof(options[0]); i++) {
		const char *const *source = larger_sources[i % 2];

		snprintf(path, sizeof(path), "%s/source.%s", s.dir, source[0]);
		f = fopen(path, "w");
		CHECK(f && fputs(source[2], f) >= 0 && !fclose(f));
		snprintf(command, sizeof(command), "cd %s && %s %s -o object %s 2>/dev/null", s.dir,
			 source[1], options[i / 2], path);
		if (!dwarf_sample_run(command)) {
			printf("# not here: %s\n", command);
			continue;
		}
		snprintf(path, sizeof(path), "%s/object", s.dir);
		code_of(path, &low, &high);
		seen = check_file(path, low, high, LINE_CODE_SEGMENTS);
		printf("# %s %s: %ju pieces, %ju segments, %ju bytes, %ju of inlined calls\n",
		       source[1], options[i / 2], (uintmax_t)seen.pieces, (uintmax_t)seen.segments,
		       (uintmax_t)seen.addresses, (uintmax_t)seen.inlined);
		CHECK(seen.pieces > 4);
		inlined += seen.inlined;
	}
	CHECK(inlined);
	dwarf_sample_remove(&s);
}

/* --- damage ------------------------------------------------------------------- */

static uint8_t image[65536], bytes[65536];
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

/* What a worker does with it: a piece is around its address, and in what was given. */
static void visit(void)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	struct dwarf_places *d;
	struct dwarf_code c;

	CHECK(fd >= 0 && write(fd, bytes, image_len) == (ssize_t)image_len);
	if (dwarf_places_open(fd, -1, &d)) {
		close(fd);
		return;
	}
	for (uint64_t vaddr = s.here - 24; vaddr < s.here + 24; vaddr += 12) {
		c.span = (struct dwarf_span){ vaddr - 200, vaddr + 200 };
		if (!dwarf_places_around(d, vaddr, 50, &c))
			continue;
		CHECK(c.n && c.n <= 50 && c.at[0] == c.span.low);
		CHECK(c.span.low <= vaddr && vaddr < c.span.high);
		CHECK(c.span.low >= vaddr - 200 && c.span.high <= vaddr + 200);
		for (uint32_t i = 0; i < c.n; i++) {
			CHECK(c.at[i] < c.span.high && (!i || c.at[i] > c.at[i - 1]));
			CHECK(dwarf_places_within(d, c.at[i], at) <= SYMBOL_DEPTH_MAX);
		}
	}
	dwarf_places_close(d);
	close(fd);
}

#define CPU_S	20

/* Each flipped byte of a section in turn, in a process that goes on after one that libdw
 * ends. */
static void damage(const Elf64_Shdr *what, uint32_t *deaths)
{
	uint64_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 1;

	CHECK(at != MAP_FAILED);
	while (status) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_S, CPU_S });
			while (*at < 2 * what->sh_size) {
				uint64_t i = (*at)++;

				memcpy(bytes, image, image_len);
				bytes[what->sh_offset + i / 2] ^= i % 2 ? 0xff : 1u << i / 2 % 8;
				visit();
			}
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		*deaths += status != 0;
		/* not by a check, nor for want of time */
		CHECK(!WIFEXITED(status) || !WEXITSTATUS(status));
		CHECK(!WIFSIGNALED(status) || WTERMSIG(status) != SIGXCPU);
	}
	munmap(at, 4096);
}

TEST(flipped_bits_end_a_worker_at_most)
{
	static const char *const names[] = { "info", "abbrev", "line", "ranges", "rnglists", "aranges" };
	const Elf64_Ehdr *e = (const void *)image;
	const Elf64_Shdr *shdrs;
	uint32_t deaths = 0;
	const char *strings;

	load("cc -O2 -g");
	shdrs = (const void *)(image + e->e_shoff);
	strings = (const char *)image + shdrs[e->e_shstrndx].sh_offset;
	for (unsigned int i = 1; i < e->e_shnum; i++) {
		const char *name = strings + shdrs[i].sh_name;

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			if (!strncmp(name, ".debug_", 7) && !strcmp(name + 7, names[k]))
				damage(&shdrs[i], &deaths);
		}
	}
	printf("# %u deaths of libdw\n", deaths);
}
