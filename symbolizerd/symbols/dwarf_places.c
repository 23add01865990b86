// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/dwarf_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bisect.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/message_hub.h"
#include "symbolizerd/symbols/demangle.h"
#include "symbolizerd/symbols/dwarf_functions.h"
#include "symbolizerd/symbols/dwarf_image.h"
#include "symbolizerd/symbols/dwarf_inlined.h"
#include "symbolizerd/symbols/split_units.h"

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

/* The piece of code that was asked for last. */
struct dwarf_piece {
	Dwarf_Die unit, function;
	uint64_t low;		/* where the unit's code begins that it is in */
	bool known, has_function;	/* .known: a unit has it */
	struct dwarf_inlined inlined;
	VECTOR(uint64_t) at;
};

struct dwarf_spot {
	const char *file;	/* "": unknown */
	uint32_t line;
};

/* What an entry of a function or a call says itself. */
struct dwarf_said {
	const void *die;	/* where it is; NULL: none */
	struct symbol_place place;	/* without a line; the file and line of the declaration */
	struct dwarf_spot call;	/* of an inlined call */
};

#define DWARF_SAID	512	/* recent ones */

struct dwarf_places {
	struct dwarf_image main, alt, package;
	VECTOR(struct dwarf_image) dwos;
	dwarf_open_fn open_split;
	void *open_arg;
	bool asked;		/* for the package, once */
	struct dwarf_units units;
	struct dwarf_functions functions;
	struct split_units split;
	struct dwarf_piece piece;
	struct dwarf_said said[DWARF_SAID];
	const char *row_file, *row_path;	/* of the last row */
	const void *row_unit;
	Dwarf_CU *skeleton;	/* of the current unit: its line table has the files */
	uint32_t steps;
	VECTOR(struct dwarf_made) made;
	struct hash_table by_parts;
	bool dead;		/* libdw had no memory: it must not be used again */
};

/* libdw has no other way to fail without memory: it jumps here. */
static _Thread_local jmp_buf dwarf_no_memory;

__attribute__((noreturn)) static void dwarf_oom(void)
{
	longjmp(dwarf_no_memory, 1);
}

/* --- units -------------------------------------------------------------------- */

/* s becomes the part of it that is in the other one. */
static void dwarf_span_cut(struct dwarf_span *s, uint64_t low, uint64_t high)
{
	if (low > s->low)
		s->low = low;
	if (high < s->high)
		s->high = high;
}

/* By .debug_aranges. */
static bool dwarf_units_arange(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret,
			       uint64_t *low, struct dwarf_span *s)
{
	Dwarf_Word len;
	Dwarf_Arange *a;
	Dwarf_Off die;
	size_t n;

	if (!u->begun && dwarf_getaranges(u->dbg, &u->aranges, &n))
		u->aranges = NULL;
	u->begun = true;
	if (!u->aranges)
		return false;
	a = dwarf_getarange_addr(u->aranges, vaddr);
	if (!a || dwarf_getarangeinfo(a, low, &len, &die) || !dwarf_offdie(u->dbg, die, ret))
		return false;
	dwarf_span_cut(s, *low, *low + len);
	return true;
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

/* The unit's entry, and where that part of its code begins that has the address.  s, in
 * which it is, becomes the part of it that belongs to this unit, or to none. */
static bool dwarf_units_find(struct dwarf_units *u, uint64_t vaddr, Dwarf_Die *ret, uint64_t *low,
			     struct dwarf_span *s)
{
	const struct dwarf_range *r;

	if (dwarf_units_arange(u, vaddr, ret, low, s))
		return true;
	if (!u->read)
		dwarf_units_read(u);
	r = dwarf_ranges_narrow(&u->ranges, vaddr, s);
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

static int dwarf_places_image(struct dwarf_image *m, int fd)
{
	int r = dwarf_image_open(m, fd, false);

	if (m->dbg)
		dwarf_new_oom_handler(m->dbg, dwarf_oom);
	return r;
}

int dwarf_places_open(int fd, int alt_fd, struct dwarf_places **ret)
{
	struct dwarf_places *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return JOB_NO_MEMORY;
	r = dwarf_places_image(&d->main, fd);
	/* without it, the parts that were moved there have no names */
	if (!r && d->main.dbg && alt_fd >= 0 && !dwarf_places_image(&d->alt, alt_fd) &&
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
	dwarf_inlined_fini(&d->piece.inlined);
	free(d->piece.at.v);
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

/* Of a row's file: mostly that of the row before. */
static const char *dwarf_row_path(struct dwarf_places *d, Dwarf_Die *unit, const char *file)
{
	if (file == d->row_file && unit->addr == d->row_unit)
		return d->row_path;
	d->row_file = file;
	d->row_unit = unit->addr;
	d->row_path = dwarf_path(d, unit, file);
	return d->row_path;
}

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
	s.file = dwarf_row_path(d, unit, dwarf_linesrc(row, NULL, NULL));
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

static const struct dwarf_said *dwarf_say(struct dwarf_places *d, Dwarf_Die *die)
{
	struct dwarf_said *s = &d->said[((uintptr_t)die->addr >> 3) % DWARF_SAID];
	Dwarf_Attribute a;

	if (s->die == die->addr)
		return s;
	*s = (struct dwarf_said){ .die = die->addr };
	s->place.file = dwarf_file(d, dwarf_attr_integrate(die, DW_AT_decl_file, &a));
	s->place.first_line = dwarf_number(die, DW_AT_decl_line);
	dwarf_name(d, die, &s->place);
	s->call = dwarf_call(d, die);
	return s;
}

/* A function at a spot. */
static struct symbol_place dwarf_place(const struct dwarf_said *said, const struct dwarf_spot *s)
{
	struct symbol_place p = said->place;

	p.line = s->line;
	if (s->file[0] && strcmp(said->place.file, s->file)) {
		p.file = s->file;
		p.first_line = 0;
	}
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

/* What is known where this chain of functions is at a spot. */
static uint32_t dwarf_places_make(struct dwarf_places *d, struct dwarf_spot s, Dwarf_Die *chain,
				  uint32_t n, struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	uint32_t m = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct dwarf_said *said = dwarf_say(d, &chain[n - 1 - i]);

		ret[m] = dwarf_place(said, &s);
		/* the name of an inlined function may be in a file that is missing */
		if (ret[m].name[0] || i + 1 == n)
			m++;
		if (i + 1 < n)
			s = said->call;
	}
	if (m || (!s.line && !s.file[0]))
		return m;
	ret[0] = (struct symbol_place){ .name = "", .file = s.file, .line = s.line };
	return 1;
}

static uint32_t dwarf_places_find(struct dwarf_places *d, uint64_t vaddr,
				  struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	struct dwarf_span all = { 0, UINT64_MAX };
	Dwarf_Die chain[SYMBOL_DEPTH_MAX], unit;
	struct dwarf_spot s;
	uint64_t low;
	uint32_t n;

	if (!dwarf_units_find(&d->units, vaddr, &unit, &low, &all))
		return 0;
	s = dwarf_row(d, &unit, low, vaddr);
	n = dwarf_chain(d, &unit, vaddr, chain);
	return dwarf_places_make(d, s, chain, n, ret);
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
	return dwarf_places_find(d, vaddr, ret);
}

/* --- pieces of code --------------------------------------------------------------- */

static bool dwarf_piece_add(struct dwarf_places *d, const struct dwarf_span *s, uint64_t vaddr)
{
	struct dwarf_piece *p = &d->piece;

	if (vaddr <= s->low || vaddr >= s->high ||
	    (p->at.n && p->at.v[p->at.n - 1] == vaddr))
		return true;
	return vector_push(&p->at, vaddr);
}

static uint64_t dwarf_line_address(Dwarf_Lines *lines, size_t i)
{
	Dwarf_Addr at = 0;

	(void)dwarf_lineaddr(dwarf_onesrcline(lines, i), &at);
	return at;
}

/* Where rows of the line table begin: they are in order. */
static bool dwarf_piece_rows(struct dwarf_places *d, const struct dwarf_span *s)
{
	Dwarf_Lines *lines;
	uint64_t at;
	size_t n;

	if (dwarf_getsrclines(&d->piece.unit, &lines, &n))
		return true;
	if (n > UINT32_MAX)
		return false;
	for (size_t i = bisect(mid, (uint32_t)n, dwarf_line_address(lines, mid) <= s->low);
	     i < n && (at = dwarf_line_address(lines, i)) < s->high; i++) {
		if (!d->steps || !dwarf_piece_add(d, s, at))
			return false;
		d->steps--;
	}
	return true;
}

static bool dwarf_piece_calls(struct dwarf_places *d, const struct dwarf_span *s)
{
	const struct dwarf_inlined *t = &d->piece.inlined;

	for (uint32_t i = 0; i < t->ranges.n; i++) {
		if (!dwarf_piece_add(d, s, t->ranges.v[i].low) ||
		    !dwarf_piece_add(d, s, t->ranges.v[i].high))
			return false;
	}
	return true;
}

/* The function with the address, or none, and what is inlined there. */
static bool dwarf_piece_function(struct dwarf_places *d, uint64_t vaddr, struct dwarf_span *s)
{
	struct dwarf_piece *p = &d->piece;
	struct split_unit *u = split_units_get(&d->split, &p->unit);
	struct dwarf_functions *f = &d->functions;
	Dwarf_Die *unit = &p->unit;

	d->skeleton = NULL;
	if (u) {
		f = &u->functions;
		unit = &u->die;
		d->skeleton = p->unit.cu;
	}
	p->inlined.entries.n = 0;
	p->inlined.ranges.n = 0;
	p->has_function = dwarf_functions_narrow(f, unit, vaddr, s, &p->function);
	return !p->has_function || dwarf_inlined_read(&p->inlined, f, &p->function);
}

static int dwarf_address_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	if (x == y)
		return 0;
	return x < y ? -1 : 1;
}

/* Each address once, in order; those of the part with vaddr, of parts of max of them each. */
static void dwarf_piece_choose(struct dwarf_piece *p, uint64_t vaddr, uint32_t max,
			       struct dwarf_code *ret)
{
	uint32_t n = 0, first = 0, behind;

	qsort(p->at.v, p->at.n, sizeof(*p->at.v), dwarf_address_order);
	for (uint32_t i = 0; i < p->at.n; i++) {
		if (!n || p->at.v[i] != p->at.v[n - 1])
			p->at.v[n++] = p->at.v[i];
	}
	behind = bisect(mid, n, p->at.v[mid] <= vaddr);
	if (behind)
		first = (behind - 1) / max * max;
	ret->at = p->at.v + first;
	ret->n = n - first;
	ret->span.low = ret->at[0];
	if (ret->n > max) {
		ret->n = max;
		ret->span.high = ret->at[max];
	}
}

static bool dwarf_piece_find(struct dwarf_places *d, uint64_t vaddr, uint32_t max,
			     struct dwarf_code *ret)
{
	struct dwarf_piece *p = &d->piece;
	struct dwarf_span *s = &ret->span;

	p->at.n = 0;
	p->known = dwarf_units_find(&d->units, vaddr, &p->unit, &p->low, s);
	if (p->known && !dwarf_piece_function(d, vaddr, s))
		return false;
	if (!vector_push(&p->at, s->low))
		return false;
	if (p->known && (!dwarf_piece_rows(d, s) || !dwarf_piece_calls(d, s)))
		return false;
	dwarf_piece_choose(p, vaddr, max, ret);
	return true;
}

bool dwarf_places_around(struct dwarf_places *d, uint64_t vaddr, uint32_t max,
			 struct dwarf_code *ret)
{
	if (!d->main.dbg || d->dead)
		return false;
	if (setjmp(dwarf_no_memory)) {
		d->dead = true;
		return false;
	}
	return dwarf_piece_find(d, vaddr, max, ret);
}

static uint32_t dwarf_piece_at(struct dwarf_places *d, uint64_t vaddr,
			       struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	Dwarf_Die chain[SYMBOL_DEPTH_MAX];
	struct dwarf_piece *p = &d->piece;
	struct dwarf_spot s;
	uint32_t n = 0;

	if (!p->known)
		return 0;
	s = dwarf_row(d, &p->unit, p->low, vaddr);
	if (p->has_function) {
		chain[0] = p->function;
		n = 1 + dwarf_inlined_at(&p->inlined, vaddr, chain + 1, SYMBOL_DEPTH_MAX - 1);
	}
	return dwarf_places_make(d, s, chain, n, ret);
}

uint32_t dwarf_places_within(struct dwarf_places *d, uint64_t vaddr,
			     struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	if (d->dead)
		return 0;
	if (setjmp(dwarf_no_memory)) {
		d->dead = true;
		return 0;
	}
	return dwarf_piece_at(d, vaddr, ret);
}
