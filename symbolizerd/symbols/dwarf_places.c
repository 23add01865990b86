// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/message_hub.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/demangle.h"
#include "symbolizerd/symbols/dwarf_functions.h"
#include "symbolizerd/symbols/split_units.h"

/* An ELF file, mapped, and its DWARF. */
struct dwarf_image {
	void *map;		/* NULL: none */
	size_t len;
	Elf *elf;
	Dwarf *dbg;		/* unless it is split DWARF */
	struct split_file split;	/* if it is */
};

/* A string made of one or two others, which are not moved. */
struct dwarf_made {
	const char *a, *b;
	char *s;
};

/*
 * Which unit has an address: .debug_aranges says it, for the units that it has; for the
 * others (clang writes none) the ranges of each unit are read, once.
 */
struct dwarf_units {
	Dwarf *dbg;		/* borrowed, as is the next */
	uint32_t *steps;	/* left */
	Dwarf_Aranges *aranges;
	struct dwarf_ranges ranges;
	bool begun, read;
};

struct dwarf_places {
	struct dwarf_image main, alt, package;
	VECTOR(struct dwarf_image) dwos;
	dwarf_open_fn open_split;
	void *open_arg;
	bool asked;		/* for the package, once */
	struct dwarf_units units;
	struct dwarf_functions functions;
	struct split_units split;
	Dwarf_CU *skeleton;	/* of the current unit: its line table has the files */
	uint32_t steps;
	VECTOR(struct dwarf_made) made;
	struct hash_table by_parts;
	bool dead;		/* libdw had no memory: it must not be used again */
};

/* --- files -------------------------------------------------------------------- */

/* libdw has no other way to fail without memory: it jumps here. */
static _Thread_local jmp_buf dwarf_no_memory;

__attribute__((noreturn)) static void dwarf_oom(void)
{
	longjmp(dwarf_no_memory, 1);
}

/* What begins a compressed section: of the older form a .zdebug. */
union dwarf_compressed {
	Elf64_Chdr chdr;
	struct {
		char zlib[4];		/* "ZLIB" */
		uint64_t size;		/* big endian */
	} __attribute__((packed)) old;
};

/* Uncompressed bytes of a section; 0: it is not compressed. */
static int dwarf_inflated(const struct elf_file *f, const Elf64_Shdr *s, uint64_t *ret)
{
	bool old = s->sh_name < f->names_len && !strncmp(f->names + s->sh_name, ".zdebug", 7);
	union dwarf_compressed head;
	struct elf_bytes b;
	int r;

	*ret = 0;
	if (s->sh_type == SHT_NOBITS || !(old || s->sh_flags & SHF_COMPRESSED))
		return JOB_OK;
	r = elf_file_read(f, s->sh_offset, old ? sizeof(head.old) : sizeof(head.chdr), &b);
	if (r)
		return r;
	memcpy(&head, b.data, b.len);
	elf_bytes_free(&b);
	*ret = head.chdr.ch_size;
	if (old)
		*ret = be64toh(head.old.size);
	if (*ret > ELF_INFLATE_FREE && *ret / ELF_INFLATE_RATIO > s->sh_size)
		return JOB_TOO_LARGE;
	return JOB_OK;
}

/* DWARF sections that are read.  Variables, macros and tables of names are not: libdw would
 * uncompress them, too. */
static const char *const dwarf_read[] = {
	"info", "types", "abbrev", "line", "line_str", "str", "str_offsets", "addr", "aranges",
	"ranges", "rnglists",
};

static bool dwarf_hidden(const struct elf_file *f, const Elf64_Shdr *s)
{
	const char *name = s->sh_name < f->names_len ? f->names + s->sh_name : "";

	if (!strncmp(name, ".debug_", 7))
		name += 7;
	else if (!strncmp(name, ".zdebug_", 8))
		name += 8;
	else
		return false;
	for (size_t i = 0; i < sizeof(dwarf_read) / sizeof(dwarf_read[0]); i++) {
		if (!strcmp(name, dwarf_read[i]))
			return false;
	}
	return true;
}

/* What is not read has no bytes, for us and for libdw. */
static void dwarf_hide(struct elf_file *f)
{
	for (uint32_t i = 0; i < f->n_shdrs; i++) {
		if (dwarf_hidden(f, &f->shdrs[i]))
			f->shdrs[i].sh_type = SHT_NOBITS;
	}
}

/* Does it have DWARF (*any), and is that small enough? */
static int dwarf_image_check(const struct elf_file *f, bool split, bool *any)
{
	uint64_t sum = 0, n;
	int r;

	*any = elf_file_find(f, split ? ".debug_info.dwo" : ".debug_info") ||
	       elf_file_find(f, split ? ".zdebug_info.dwo" : ".zdebug_info");
	for (uint32_t i = 0; *any && i < f->n_shdrs; i++) {
		r = dwarf_inflated(f, &f->shdrs[i], &n);
		if (r)
			return r;
		if (n > DWARF_INFLATED_MAX - sum)
			return JOB_TOO_LARGE;
		sum += n;
	}
	return JOB_OK;
}

/* libelf writes into the headers of sections that it uncompresses. */
static int dwarf_headers_writable(const struct dwarf_image *m, const struct elf_file *f)
{
	uint64_t begin = f->ehdr.e_shoff & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint64_t end = f->ehdr.e_shoff + f->n_shdrs * sizeof(Elf64_Shdr);

	return mprotect((char *)m->map + begin, end - begin, PROT_READ | PROT_WRITE);
}

/* In the mapped headers each section has the type that it has in f. */
static void dwarf_headers_typed(const struct dwarf_image *m, const struct elf_file *f)
{
	char *at = (char *)m->map + f->ehdr.e_shoff + offsetof(Elf64_Shdr, sh_type);

	for (uint32_t i = 0; i < f->n_shdrs; i++)
		memcpy(at + i * sizeof(Elf64_Shdr), &f->shdrs[i].sh_type,
		       sizeof(f->shdrs[i].sh_type));
}

static int dwarf_image_map(struct dwarf_image *m, const struct elf_file *f, bool split)
{
	m->map = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return JOB_TOO_LARGE;
	}
	m->len = f->size;
	/* no read-ahead, which would read all of a large file for the headers of its
	 * units */
	madvise(m->map, m->len, MADV_RANDOM);
	if (dwarf_headers_writable(m, f))
		return JOB_NO_MEMORY;
	dwarf_headers_typed(m, f);
	elf_version(EV_CURRENT);
	m->elf = elf_memory(m->map, m->len);
	if (!m->elf)
		return JOB_CORRUPT;
	if (split) {
		split_file_init(&m->split, m->elf);
		return JOB_OK;
	}
	m->dbg = dwarf_begin_elf(m->elf, DWARF_C_READ, NULL);
	if (!m->dbg)
		return JOB_CORRUPT;
	dwarf_new_oom_handler(m->dbg, dwarf_oom);
	return JOB_OK;
}

/* split: a .dwo file or a package. */
static int dwarf_image_open(struct dwarf_image *m, int fd, bool split)
{
	struct elf_file f;
	bool any = false;
	int r = elf_file_open(&f, fd);

	if (!r && !split)
		dwarf_hide(&f);
	if (!r)
		r = dwarf_image_check(&f, split, &any);
	if (!r && any)
		r = dwarf_image_map(m, &f, split);
	elf_file_close(&f);
	return r;
}

static void dwarf_image_close(struct dwarf_image *m)
{
	if (m->dbg)
		dwarf_end(m->dbg);
	if (m->elf)
		elf_end(m->elf);
	if (m->map)
		munmap(m->map, m->len);
}

/* --- units -------------------------------------------------------------------- */

/* By .debug_aranges. */
static bool dwarf_units_arange(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret,
			       uint64_t *low)
{
	Dwarf_Arange *a;
	Dwarf_Off die;
	size_t n;

	if (!u->begun && dwarf_getaranges(u->dbg, &u->aranges, &n))
		u->aranges = NULL;
	u->begun = true;
	if (!u->aranges)
		return false;
	a = dwarf_getarange_addr(u->aranges, vaddr);
	return a && !dwarf_getarangeinfo(a, low, NULL, &die) &&
	       dwarf_offdie(u->dbg, die, ret);
}

static void dwarf_units_read(struct dwarf_units *u)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	u->read = true;
	while (*u->steps && !dwarf_get_units(u->dbg, cu, &cu, NULL, &type, &die, NULL)) {
		--*u->steps;
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    !dwarf_ranges_add(&u->ranges, &die, NULL, u->steps))
			return;
	}
}

/* The unit's entry, and where that part of its code begins that has the address. */
static bool dwarf_units_find(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret, uint64_t *low)
{
	const struct dwarf_range *r;

	if (dwarf_units_arange(u, vaddr, ret, low))
		return true;
	if (!u->read)
		dwarf_units_read(u);
	r = dwarf_ranges_find(&u->ranges, vaddr);
	if (!r)
		return false;
	*low = r->low;
	return dwarf_offdie(u->dbg, r->die, ret);
}

static void dwarf_units_fini(struct dwarf_units *u)
{
	free(u->ranges.list.v);
	*u = (struct dwarf_units){ 0 };
}

/* --- split DWARF ---------------------------------------------------------------- */

/* Open what fn has returned; the descriptor is closed. */
static void dwarf_split_take(struct dwarf_image *m, int fd)
{
	if (fd < 0)
		return;
	dwarf_image_open(m, fd, true);
	close(fd);
}

static const char *dwarf_own_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr(die, name, &a));
}

/* The .dwo file of a compilation. */
static struct dwarf_image *dwarf_split_dwo(struct dwarf_places *d, Dwarf_Die *skeleton)
{
	const char *name = dwarf_own_string(skeleton, DW_AT_dwo_name);
	struct dwarf_image m = { 0 };

	if (!name)
		name = dwarf_own_string(skeleton, DW_AT_GNU_dwo_name);
	if (name)
		dwarf_split_take(&m, d->open_split(d->open_arg, name,
						   dwarf_own_string(skeleton, DW_AT_comp_dir)));
	if (m.elf && vector_push(&d->dwos, m))
		return &d->dwos.v[d->dwos.n - 1];
	dwarf_image_close(&m);
	return NULL;
}

static const struct split_file *dwarf_split_find(void *arg, Dwarf_Die *skeleton)
{
	struct dwarf_places *d = arg;
	struct dwarf_image *m = &d->package;

	if (!d->asked)
		dwarf_split_take(m, d->open_split(d->open_arg, NULL, NULL));
	d->asked = true;
	if (!m->elf)
		m = dwarf_split_dwo(d, skeleton);
	if (!m)
		return NULL;
	return &m->split;
}

void dwarf_places_split(struct dwarf_places *d, dwarf_open_fn fn, void *arg)
{
	d->open_split = fn;
	d->open_arg = arg;
	d->split.find = dwarf_split_find;
}

int dwarf_places_open(int fd, int alt_fd, struct dwarf_places **ret)
{
	struct dwarf_places *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return JOB_NO_MEMORY;
	r = dwarf_image_open(&d->main, fd, false);
	/* without it, the parts that were moved there have no names */
	if (!r && d->main.dbg && alt_fd >= 0 && !dwarf_image_open(&d->alt, alt_fd, false) &&
	    d->alt.dbg)
		dwarf_setalt(d->main.dbg, d->alt.dbg);
	if (r) {
		dwarf_places_close(d);
		return r;
	}
	d->steps = DWARF_STEPS_MAX;
	d->units = (struct dwarf_units){ .dbg = d->main.dbg, .steps = &d->steps };
	d->functions.steps = &d->steps;
	d->split = (struct split_units){ .main = d->main.elf, .steps = &d->steps,
					 .arg = d, .no_memory = dwarf_oom };
	*ret = d;
	return JOB_OK;
}

void dwarf_places_close(struct dwarf_places *d)
{
	dwarf_units_fini(&d->units);
	dwarf_functions_fini(&d->functions);
	split_units_fini(&d->split, d->dead);
	if (!d->dead) {
		dwarf_image_close(&d->main);
		dwarf_image_close(&d->alt);
		dwarf_image_close(&d->package);
	}
	for (uint32_t i = 0; !d->dead && i < d->dwos.n; i++)
		dwarf_image_close(&d->dwos.v[i]);
	free(d->dwos.v);
	for (uint32_t i = 0; i < d->made.n; i++)
		free(d->made.v[i].s);
	free(d->made.v);
	hash_free(&d->by_parts);
	free(d);
}

bool dwarf_places_any(const struct dwarf_places *d)
{
	return d->main.dbg != NULL;
}

/* --- strings ------------------------------------------------------------------ */

/* Makes a string of two: a copy of a, cut; a path; the demangled form of a, if it has
 * one.  Malloc'ed. */
typedef char *(*dwarf_make_fn)(const char *a, const char *b);

static char *dwarf_cut(const char *a, const char *b)
{
	(void)b;
	return strndup(a, DWARF_NAME_MAX);
}

static char *dwarf_join(const char *dir, const char *file)
{
	size_t n = strnlen(dir, DWARF_NAME_MAX), more = strnlen(file, DWARF_NAME_MAX);
	char *s = malloc(n + more + 2), *at = s;

	if (!s)
		return NULL;
	at = mempcpy(at, dir, n);
	*at++ = '/';
	at = mempcpy(at, file, more);
	*at = '\0';
	return s;
}

static char *dwarf_demangle(const char *a, const char *b)
{
	char buf[DEMANGLED_MAX + 1];
	size_t len = strnlen(a, DWARF_NAME_MAX);

	if (b && demangle(a, len, buf))
		return strdup(buf);
	return strndup(a, len);
}

/* Each string is made once: a pair (a, b) is always given to the same function. */
static const char *dwarf_make(struct dwarf_places *d, const char *a, const char *b,
			      dwarf_make_fn make)
{
	const uintptr_t key[] = { (uintptr_t)a, (uintptr_t)b };
	uint64_t hash = hash_mix(0, key, sizeof(key));
	const struct hash_slot *s = hash_find(&d->by_parts, hash);
	struct dwarf_made made = { a, b, NULL };

	while (s && (d->made.v[hash_index(s)].a != a || d->made.v[hash_index(s)].b != b))
		s = hash_next(&d->by_parts, s);
	if (s)
		return d->made.v[hash_index(s)].s;
	if (!vector_reserve(&d->made, 1) || !hash_reserve(&d->by_parts))
		return "";
	made.s = make(a, b);
	if (!made.s)
		return "";
	hash_add(&d->by_parts, hash, d->made.n);
	d->made.v[d->made.n++] = made;
	return made.s;
}

static const char *dwarf_short(struct dwarf_places *d, const char *s)
{
	if (strnlen(s, DWARF_NAME_MAX + 1) <= DWARF_NAME_MAX)
		return s;
	return dwarf_make(d, s, NULL, dwarf_cut);
}

/* A path; relative ones start at the directory where the compiler ran. */
static const char *dwarf_path(struct dwarf_places *d, Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute a;
	const char *dir = NULL;

	if (!file)
		return "";
	if (file[0] != '/')
		dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &a));
	if (dir && *dir)
		return dwarf_make(d, dir, file, dwarf_join);
	return dwarf_short(d, file);
}

static const char *dwarf_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &a));
}

static void dwarf_name(struct dwarf_places *d, Dwarf_Die *die, struct symbol_place *p)
{
	const char *linkage = dwarf_string(die, DW_AT_linkage_name), *name;
	static const char mangled[] = "";	/* marks names to be demangled */

	if (!linkage)
		linkage = dwarf_string(die, DW_AT_MIPS_linkage_name);
	if (linkage && *linkage) {
		p->system = dwarf_short(d, linkage);
		p->name = dwarf_make(d, linkage, mangled, dwarf_demangle);
		return;
	}
	name = dwarf_string(die, DW_AT_name);
	p->name = "";
	if (name)
		p->name = dwarf_short(d, name);
}

/* --- places ------------------------------------------------------------------- */

struct dwarf_spot {
	const char *file;	/* "": unknown */
	uint32_t line;
};

/* libdw sorts the rows of all sequences of a unit, and may give the last row of one that
 * ended before the address, such as a function at 0 that the linker dropped.  low:
 * where the code begins that has the address. */
static struct dwarf_spot dwarf_row(struct dwarf_places *d, Dwarf_Die *unit, uint64_t low,
				   uint64_t vaddr)
{
	struct dwarf_spot s = { "", 0 };
	Dwarf_Line *row = dwarf_getsrc_die(unit, vaddr);
	Dwarf_Addr at;
	int line;

	if (!row || dwarf_lineaddr(row, &at) || at < low)
		return s;
	if (!dwarf_lineno(row, &line) && line > 0)
		s.line = (uint32_t)line;
	s.file = dwarf_path(d, unit, dwarf_linesrc(row, NULL, NULL));
	return s;
}

static uint32_t dwarf_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;
	Dwarf_Word w = 0;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &a), &w) || w > INT32_MAX)
		return 0;
	return (uint32_t)w;
}

/* A file by its number in an attribute; before DWARF 5 the first one has number 1. */
static const char *dwarf_file(struct dwarf_places *d, Dwarf_Attribute *a)
{
	Dwarf_CU *cu = d->skeleton;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word i;
	Dwarf_Die unit;
	size_t n;

	if (dwarf_formudata(a, &i))
		return "";
	if (!cu)
		cu = a->cu;
	if (!dwarf_cu_die(cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (!i && version < 5) || dwarf_getsrcfiles(&unit, &files, &n) || i >= n)
		return "";
	return dwarf_path(d, &unit, dwarf_filesrc(files, i, NULL, NULL));
}

static struct dwarf_spot dwarf_call(struct dwarf_places *d, Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return (struct dwarf_spot){
		dwarf_file(d, dwarf_attr(die, DW_AT_call_file, &a)),
		dwarf_number(die, DW_AT_call_line),
	};
}

/* A function at a spot. */
static struct symbol_place dwarf_place(struct dwarf_places *d, Dwarf_Die *die,
				       const struct dwarf_spot *s)
{
	Dwarf_Attribute a;
	const char *file = dwarf_file(d, dwarf_attr_integrate(die, DW_AT_decl_file, &a));
	struct symbol_place p = { .file = s->file[0] ? s->file : file, .line = s->line };

	if (!strcmp(file, p.file))
		p.first_line = dwarf_number(die, DW_AT_decl_line);
	dwarf_name(d, die, &p);
	return p;
}

/* The functions at the address, the outermost first. */
static uint32_t dwarf_chain(struct dwarf_places *d, Dwarf_Die *unit, uint64_t vaddr,
			    Dwarf_Die ret[SYMBOL_DEPTH_MAX])
{
	struct split_unit *u = split_units_get(&d->split, unit);

	d->skeleton = NULL;
	if (!u)
		return dwarf_functions_at(&d->functions, unit, vaddr, ret);
	d->skeleton = unit->cu;
	return dwarf_functions_at(&u->functions, &u->die, vaddr, ret);
}

static uint32_t dwarf_places_make(struct dwarf_places *d, uint64_t vaddr,
				  struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	Dwarf_Die chain[SYMBOL_DEPTH_MAX], unit;
	struct dwarf_spot s;
	uint32_t n, m = 0;
	uint64_t low;

	if (!dwarf_units_find(&d->units, vaddr, &unit, &low))
		return 0;
	s = dwarf_row(d, &unit, low, vaddr);
	n = dwarf_chain(d, &unit, vaddr, chain);
	for (uint32_t i = 0; i < n; i++) {
		Dwarf_Die *die = &chain[n - 1 - i];

		ret[m] = dwarf_place(d, die, &s);
		/* the name of an inlined function may be in a file that is missing */
		if (ret[m].name[0] || i + 1 == n)
			m++;
		if (i + 1 < n)
			s = dwarf_call(d, die);
	}
	if (m || (!s.line && !s.file[0]))
		return m;
	ret[0] = (struct symbol_place){ .name = "", .file = s.file, .line = s.line };
	return 1;
}

uint32_t dwarf_places_at(struct dwarf_places *d, uint64_t vaddr,
			 struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	if (!d->main.dbg || d->dead)
		return 0;
	if (setjmp(dwarf_no_memory)) {
		d->dead = true;
		return 0;
	}
	return dwarf_places_make(d, vaddr, ret);
}
