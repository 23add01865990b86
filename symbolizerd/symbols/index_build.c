// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/index_build.h"

#include <stdlib.h>
#include <string.h>

#include "common/bisect.h"
#include "ipc/message_hub.h"
#include "ipc/short_name.h"
#include "symbolizerd/symbols/demangle.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/lines_build.h"
#include "symbolizerd/symbols/plt.h"
#include "symbolizerd/symbols/ranges.h"

#define BLOCK		(4096 * sizeof(Elf64_Sym))

enum { SOURCE, STATIC, DYNAMIC, STUBS, TABLES }; /* a runtime, .symtab, .dynsym, plt.h */

/* Of several names at one address, the one with the lowest rank is taken. */
#define RANK_TABLE	64	/* times its number */
#define RANK_OBJECT	32
#define RANK_UNSIZED	16
#define RANK_OLD	8	/* a version that nothing new is linked to */
#define RANK_RESERVED	4
#define RANK_LOCAL	2
#define RANK_WEAK	1
#define PLT_SUFFIX	"@plt"
#define NO_SOURCE	UINT32_MAX
#define NO_NAME		(UINT32_MAX - 1)

struct raw {			/* a function of a table */
	uint64_t start;		/* file offset */
	uint32_t size;
	uint32_t name;		/* offset in the strings of its table */
	uint32_t len;
	uint32_t rank : 8;	/* RANK_* */
	uint32_t room : 24;	/* its largest size, if the size is unknown */
	uint32_t number;	/* of the function in a source, NO_SOURCE, or
				 * NO_NAME: a range, with pages in .name */
	uint32_t lines;		/* SYMBOL_NO_LINES, or where they are */
};

struct raws {
	VECTOR(struct raw) list;
	struct elf_bytes strings[TABLES];   /* of SOURCE: borrowed */
	const struct symbol_source *source; /* NULL: none */
	struct source_names own;	    /* of the source */
};

static const char *index_build_name_of(const struct raws *all,
				       const struct raw *r)
{
	return (const char *)all->strings[r->rank / RANK_TABLE].data + r->name;
}

static int index_build_push(struct raws *all, const struct raw *r)
{
	return vector_push(&all->list, *r) ? JOB_OK : JOB_NO_MEMORY;
}

/* An object in an executable section: GHC's functions are such. */
static bool index_build_is_object(const struct elf_file *f, const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_size &&
	       s->st_shndx < f->n_shdrs &&
	       f->shdrs[s->st_shndx].sh_flags & SHF_EXECINSTR;
}

static bool index_build_is_function(const struct elf_file *f, const Elf64_Sym *s)
{
	switch (ELF64_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return s->st_shndx != SHN_UNDEF;
	case STT_NOTYPE:	/* assembler, such as _start; not a constant */
		return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
		       ELF64_ST_BIND(s->st_info) == STB_GLOBAL;
	default:
		return index_build_is_object(f, s);
	}
}

/* Largest size of a symbol without one: to the end of its section, if that is known. */
static uint32_t index_build_room(const struct elf_file *f, const Elf64_Sym *s)
{
	const Elf64_Shdr *sec;
	uint64_t in;

	if (s->st_shndx >= f->n_shdrs)
		return SYMBOL_UNSIZED_MAX;
	sec = &f->shdrs[s->st_shndx];
	in = s->st_value - sec->sh_addr;
	if (in >= sec->sh_size || sec->sh_size - in >= SYMBOL_UNSIZED_MAX)
		return SYMBOL_UNSIZED_MAX;
	return sec->sh_size - in;
}

/* C reserves such names for its implementations (7.1.3), which have others for the same
 * function.  Not those of the vDSO, which differ from libc's; _Z, _R, _D are mangled
 * names. */
static bool index_build_reserved(const char *name, size_t len)
{
	if (len < 2 || name[0] != '_' || strchr("ZRD", name[1]))
		return false;
	if (len > 7 && !memcmp(name, "__vdso_", 7))
		return false;
	return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
}

/* The rank of a symbol in its table.  *len: of its name; a version ("f@@V", or an old
 * "f@V") is cut off unless the name is mangled. */
static uint32_t index_build_rank(const Elf64_Sym *s, const char *name, uint32_t *len)
{
	unsigned char bind = ELF64_ST_BIND(s->st_info);
	uint32_t plain = (uint32_t)short_name_unversioned(name, *len);
	uint32_t rank = 0;

	if (!s->st_size)
		rank += RANK_UNSIZED;
	if (ELF64_ST_TYPE(s->st_info) == STT_OBJECT)
		rank += RANK_OBJECT;
	if (index_build_reserved(name, *len))
		rank += RANK_RESERVED;
	if (bind == STB_LOCAL)
		rank += RANK_LOCAL;
	if (bind == STB_WEAK)
		rank += RANK_WEAK;
	if (plain != *len && name[plain + 1] != '@')
		rank += RANK_OLD;
	if (name[0] != '_' || !strchr("ZRD", name[1]))
		*len = plain;
	return rank;
}

static int index_build_take(const struct elf_file *f, struct raws *all,
			    int table, const Elf64_Sym *s)
{
	const struct elf_bytes *strs = &all->strings[table];
	struct raw r = {
		.name = s->st_name,
		.number = NO_SOURCE,
		.lines = SYMBOL_NO_LINES,
	};
	uint64_t left;

	if (!index_build_is_function(f, s) || s->st_name >= strs->len ||
	    !elf_file_offset(f, s->st_value, true, &r.start, &left))
		return JOB_OK;
	if (left > UINT32_MAX)
		left = UINT32_MAX;
	r.len = strnlen((const char *)strs->data + s->st_name, SYMBOL_NAME_MAX);
	if (!r.len)
		return JOB_OK;
	r.size = (uint32_t)(s->st_size < left ? s->st_size : left);
	r.room = index_build_room(f, s);
	r.rank = RANK_TABLE * table +
		 index_build_rank(s, (const char *)strs->data + s->st_name, &r.len);
	return index_build_push(all, &r);
}

/* The symbols in len bytes at off of `in` (f, or its debug file), a block at a time. */
static int index_build_take_all(const struct elf_file *f, const struct elf_file *in,
				struct raws *all, int table, uint64_t off, uint64_t len)
{
	int r = JOB_OK;

	if (len / sizeof(Elf64_Sym) > SYMBOLS_MAX)
		return JOB_TOO_LARGE;
	len -= len % sizeof(Elf64_Sym);
	while (!r && len) {
		size_t part = len < BLOCK ? len : BLOCK;
		struct elf_bytes b;

		r = elf_file_read(in, off, part, &b);
		if (r)
			return r;
		for (size_t i = 0; !r && i < part; i += sizeof(Elf64_Sym)) {
			Elf64_Sym s;

			memcpy(&s, b.data + i, sizeof(s));
			r = index_build_take(f, all, table, &s);
		}
		elf_bytes_free(&b);
		off += part;
		len -= part;
	}
	return r;
}

/* --- order ------------------------------------------------------------------ */

static int index_build_compare(const void *x, const void *y, void *ctx)
{
	const struct raw *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(index_build_name_of(ctx, a), index_build_name_of(ctx, b),
		      a->len);
}

/* Leave the best name of each address. */
static void index_build_best(struct raws *all)
{
	uint32_t to = 0;

	if (all->list.n)
		qsort_r(all->list.v, all->list.n, sizeof(*all->list.v),
			index_build_compare, all);
	for (uint32_t i = 0; i < all->list.n; i++) {
		if (!to || all->list.v[to - 1].start != all->list.v[i].start)
			all->list.v[to++] = all->list.v[i];
		else if (!all->list.v[to - 1].size)
			all->list.v[to - 1].size = all->list.v[i].size;
	}
	all->list.n = to;
}

static uint64_t index_build_end(const struct raw *r)
{
	return r->start + r->size;
}

#define LAST(raws)	(&(raws)->list.v[(raws)->list.n - 1])

/* A piece of function r from *from on, at most to `to`.  A piece after an inner function
 * has r's name, but no lines. */
static int index_build_piece(struct raws *out, const struct raw *r, uint64_t *from,
			     uint64_t to)
{
	struct raw piece = *r;

	if (to > index_build_end(r))
		to = index_build_end(r);
	if (to <= *from || (*from != r->start && r->number != NO_SOURCE))
		return JOB_OK;
	piece.start = *from;
	piece.size = (uint32_t)(to - *from);
	*from = to;
	return index_build_push(out, &piece);
}

/*
 * Cut functions so that none is inside of another: one that begins within another
 * counts up to its end, then the outer one goes on.  open: the stack of outer ones,
 * empty.
 */
static int index_build_cut(const struct raws *all, struct raws *open, struct raws *out)
{
	uint64_t at = 0;
	int r = JOB_OK;

	for (uint32_t i = 0; !r && i <= all->list.n; i++) {
		struct raw *next = NULL;
		uint64_t start = UINT64_MAX;

		if (i < all->list.n) {
			next = &all->list.v[i];
			start = next->start;
		}
		while (!r && open->list.n && index_build_end(LAST(open)) <= start) {
			r = index_build_piece(out, LAST(open), &at, start);
			open->list.n--;
		}
		if (!r && open->list.n && next)
			r = index_build_piece(out, LAST(open), &at, start);
		if (r || !next)
			break;
		if (!next->size) {	/* up to the next, at most its room */
			next->size = next->room;
			if (i + 1 < all->list.n && next->size > next[1].start - start)
				next->size = (uint32_t)(next[1].start - start);
		}
		r = index_build_push(open, next);
		at = start;
	}
	return r;
}

static int index_build_settle(struct raws *all)
{
	struct raws open = { 0 }, out = { 0 };
	int r;

	index_build_best(all);
	r = index_build_cut(all, &open, &out);
	free(open.list.v);
	free(all->list.v);
	all->list = out.list;
	return r;
}

/* Of the first n, which are in order: the first that begins at or after off. */
static uint32_t index_build_first(const struct raws *all, uint32_t n, uint64_t off)
{
	return bisect(mid, n, all->list.v[mid].start < off);
}

/* --- stubs ---------------------------------------------------------------------- */

static const char entry_names[] = "_start\0main";
#define START_NAME	0
#define MAIN_NAME	7

struct index_stubs {
	const struct elf_file *f;
	struct raws *all;
	struct elf_bytes symbols;	/* .dynsym; empty: there is none */
	VECTOR(char) names;
};

/* Name [vaddr, vaddr + size): name, of len bytes, and "@plt" if it is a stub. */
static int index_stubs_put(struct index_stubs *x, const char *name, size_t len, bool stub,
			   uint64_t vaddr, uint64_t size)
{
	struct raw r = {
		.name = x->names.n, .number = NO_SOURCE, .lines = SYMBOL_NO_LINES,
		.rank = RANK_TABLE * STUBS,
	};
	uint64_t left;

	if (!stub)
		r.rank += RANK_OBJECT;
	if (len > SYMBOL_NAME_MAX - sizeof(PLT_SUFFIX))
		len = SYMBOL_NAME_MAX - sizeof(PLT_SUFFIX);
	if (!len || x->names.n + len + sizeof(PLT_SUFFIX) > PLT_NAMES_MAX ||
	    !elf_file_offset(x->f, vaddr, true, &r.start, &left))
		return JOB_OK;
	if (!vector_reserve(&x->names, len + sizeof(PLT_SUFFIX)))
		return JOB_NO_MEMORY;
	memcpy(x->names.v + r.name, name, len);
	strcpy(x->names.v + r.name + len, stub ? PLT_SUFFIX : "");
	r.len = (uint32_t)strlen(x->names.v + r.name);
	r.size = (uint32_t)(size < left ? size : left);
	x->names.n += r.len + 1;
	return index_build_push(x->all, &r);
}

/* The stub of an IFUNC gets the name of the resolver, of the first n, which are in
 * order. */
static int index_stubs_chosen(struct index_stubs *x, const struct plt_stub *s, uint32_t n)
{
	uint64_t off;
	uint32_t i;

	if (!elf_file_offset(x->f, s->resolver, true, &off, NULL))
		return JOB_OK;
	i = index_build_first(x->all, n, off);
	if (i == n || x->all->list.v[i].start != off)
		return JOB_OK;
	return index_stubs_put(x, index_build_name_of(x->all, &x->all->list.v[i]),
			       x->all->list.v[i].len, true, s->vaddr, s->size);
}

static int index_stubs_called(struct index_stubs *x, const struct plt_stub *s)
{
	const struct elf_bytes *strs = &x->all->strings[DYNAMIC];
	Elf64_Sym sym;
	const char *name;

	if (s->symbol >= x->symbols.len / sizeof(sym))
		return JOB_OK;
	memcpy(&sym, x->symbols.data + s->symbol * sizeof(sym), sizeof(sym));
	if (sym.st_name >= strs->len)
		return JOB_OK;
	name = (const char *)strs->data + sym.st_name;
	return index_stubs_put(x, name, strnlen(name, SYMBOL_NAME_MAX), true, s->vaddr,
			       s->size);
}

static int index_stubs_all(struct index_stubs *x, const struct plt *p)
{
	uint32_t n = x->all->list.n;
	int r = JOB_OK;

	for (uint32_t i = 0; !r && i < p->stubs.n; i++) {
		const struct plt_stub *s = &p->stubs.v[i];

		if (s->symbol != PLT_NO_SYMBOL)
			r = index_stubs_called(x, s);
		else if (s->resolver)
			r = index_stubs_chosen(x, s, n);
	}
	for (uint32_t i = 0; !r && i < p->n_sections; i++)
		r = index_stubs_put(x, p->names[i], strlen(p->names[i]), false,
				    p->sections[i]->sh_addr, p->sections[i]->sh_size);
	return r;
}

/* The stubs that relocations name; others have no name. */
static int index_build_from_stubs(const struct elf_file *f, struct raws *all)
{
	const Elf64_Shdr *sym = elf_file_find(f, ".dynsym");
	struct index_stubs x = { .f = f, .all = all };
	struct plt p;
	int r = plt_read(f, &p);

	if (r != JOB_NO_MEMORY)
		r = JOB_OK;
	if (!r && p.stubs.n && sym && sym->sh_size / sizeof(Elf64_Sym) <= SYMBOLS_MAX &&
	    elf_file_section(f, sym, &x.symbols) == JOB_NO_MEMORY)
		r = JOB_NO_MEMORY;
	for (uint32_t i = 0; !r && i < p.stubs.n; i++) {
		if (p.stubs.v[i].resolver) {
			index_build_best(all);
			break;
		}
	}
	if (!r && !vector_reserve(&x.names, sizeof(entry_names)))
		r = JOB_NO_MEMORY;
	if (!r) {
		memcpy(x.names.v, entry_names, sizeof(entry_names));
		x.names.n = sizeof(entry_names);
		r = index_stubs_all(&x, &p);
	}
	all->strings[STUBS].data = (uint8_t *)x.names.v;
	all->strings[STUBS].len = x.names.n;
	elf_bytes_free(&x.symbols);
	plt_free(&p);
	return r;
}

/* --- functions without names -------------------------------------------------- */

/* Index of the symbol at a file offset, or of the next one. */
static uint32_t index_build_at(const struct raws *all, uint32_t n, uint64_t off)
{
	return bisect(mid, n, index_build_end(&all->list.v[mid]) <= off);
}

/* The range as a symbol, cut where one of the first n begins.  False: it begins within
 * one of them, or its address cannot be in an index. */
static bool index_build_range(const struct elf_file *f, const struct raws *all,
			      uint32_t n, const struct code_range *range,
			      struct raw *ret)
{
	const uint64_t page = 1 << SYMBOL_PAGE;
	uint64_t left, distance;
	uint32_t next;

	*ret = (struct raw){
		.size = range->size, .number = NO_NAME,
		.lines = SYMBOL_NO_LINES,
	};
	if (!elf_file_offset(f, range->vaddr, true, &ret->start, &left))
		return false;
	distance = range->vaddr - ret->start;
	if (range->vaddr < ret->start || distance % page ||
	    distance / page >= SYMBOL_RANGE)
		return false;
	ret->name = (uint32_t)(distance / page);
	next = index_build_at(all, n, ret->start);
	if (next < n && all->list.v[next].start <= ret->start)
		return false;
	if (next < n && left > all->list.v[next].start - ret->start)
		left = all->list.v[next].start - ret->start;
	ret->size = ret->size < left ? ret->size : (uint32_t)left;
	return true;
}

/* _start and main are known without a symbol. */
static void index_build_entry(struct raw *raw, uint32_t name)
{
	raw->number = NO_SOURCE;
	raw->rank = RANK_TABLE * STUBS;
	raw->name = name;
	raw->len = (uint32_t)strlen(&entry_names[name]);
}

static int index_build_by_start(const void *x, const void *y)
{
	const struct raw *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return 0;
}

/* Ranges may have any order, and overlap: each is cut where the next one starts. */
static int index_build_add_ranges(const struct elf_file *f, struct raws *all)
{
	uint32_t n_ranges, n = all->list.n, to = 0;
	struct code_range *ranges;
	struct raw raw, *v;
	int r = ranges_read(f, &ranges, &n_ranges);

	for (uint32_t i = 0; !r && i < n_ranges; i++) {
		if (!index_build_range(f, all, n, &ranges[i], &raw))
			continue;
		if (ranges[i].known == RANGE_START)
			index_build_entry(&raw, START_NAME);
		else if (ranges[i].known == RANGE_MAIN)
			index_build_entry(&raw, MAIN_NAME);
		r = index_build_push(all, &raw);
	}
	free(ranges);
	if (r || all->list.n == n)
		return r;
	v = all->list.v;
	qsort(v, all->list.n, sizeof(*v), index_build_by_start);
	for (uint32_t i = 0; i < all->list.n; i++) {
		if (to && v[to - 1].start == v[i].start)
			continue;
		if (to && v[to - 1].size > v[i].start - v[to - 1].start)
			v[to - 1].size = (uint32_t)(v[i].start - v[to - 1].start);
		v[to++] = v[i];
	}
	all->list.n = to;
	return JOB_OK;
}

/* --- laying out ---------------------------------------------------------------- */

static void index_build_add_lines(struct raws *all, struct lines_builder *b)
{
	for (uint32_t i = 0; i < all->list.n && !b->failed && !b->full; i++) {
		struct raw *raw = &all->list.v[i];

		if (raw->number < NO_NAME)
			raw->lines = all->source->lines(&all->own, raw->number,
							b);
	}
	if (b->full)
		b->lines.n = b->functions.n = 0;
}

static void index_build_put_symbols(const struct raws *all, struct lines_builder *b,
				    const uint32_t *names, struct symbols_hdr *h)
{
	struct symbol *s = (struct symbol *)(h + 1);
	struct symbol_function *f = (void *)(s + all->list.n);
	char *p = (char *)(f + b->functions.n);

	for (uint32_t i = 0; i < all->list.n; i++)
		s[i] = (struct symbol){ all->list.v[i].start, all->list.v[i].size,
					names[i] };
	if (b->functions.n)
		memcpy(f, b->functions.v, b->functions.n * sizeof(*f));
	for (uint32_t i = 0; b->lines.n && i < all->list.n; i++, p += 4)
		memcpy(p, &all->list.v[i].lines, 4);
	if (b->lines.n)
		memcpy(p, b->lines.v, b->lines.n);
	memcpy(p + b->lines.n, b->names.v, b->names.n);
}

/* How many bytes demangling may add. */
static size_t index_build_room_left(const struct raws *all)
{
	uint64_t need = 0;

	for (uint32_t i = 0; i < all->list.n; i++)
		need += sizeof(struct symbol) + 4 + all->list.v[i].len + 1;
	if (need >= SYMBOLS_BYTES_MAX)
		return 0;
	need = (SYMBOLS_BYTES_MAX - need) / 2;
	return need < SYMBOLS_DEMANGLED_MAX ? need : SYMBOLS_DEMANGLED_MAX;
}

/* .name of struct symbol.  *room: bytes that demangling may still add. */
static uint32_t index_build_name(struct lines_builder *b, const char *raw,
				 size_t len, size_t *room)
{
	char text[DEMANGLED_MAX + 1 + SYMBOL_NAME_MAX + 1];
	size_t n = 0;
	uint32_t at;

	if (*room > DEMANGLED_MAX)
		n = demangle(raw, len, text);
	if (!n)
		return lines_string(b, raw, len);
	*room -= n + 1;
	memcpy(text + n + 1, raw, len);
	at = lines_string(b, text, n + 1 + len);
	if (b->failed)
		return at;
	return at | SYMBOL_MANGLED;
}

/* Where the name is, as .name of struct symbol. */
static uint32_t index_build_name_at(struct raws *all, struct lines_builder *b,
				    const struct raw *raw, size_t *room)
{
	if (raw->number == NO_NAME)
		return SYMBOL_RANGE | raw->name;
	if (raw->number == NO_SOURCE)
		return index_build_name(b, index_build_name_of(all, raw), raw->len, room);
	return all->source->name(b, index_build_name_of(all, raw));
}

/* Lay out the index: JOB_OK and malloc'ed bytes, or a verdict. */
static int index_build_encode(struct raws *all, struct lines_builder *b, void **ret,
			      size_t *len)
{
	uint32_t *names = calloc(all->list.n + 1, sizeof(*names));
	size_t room = index_build_room_left(all);
	struct symbols_hdr *h = NULL;
	int r = JOB_NO_MEMORY;

	if (!names)
		return JOB_NO_MEMORY;
	for (uint32_t i = 0; i < all->list.n; i++)
		names[i] = index_build_name_at(all, b, &all->list.v[i], &room);
	index_build_add_lines(all, b);
	*len = sizeof(*h) + all->list.n * sizeof(struct symbol) +
	       b->functions.n * sizeof(struct symbol_function) +
	       b->lines.n + b->names.n;
	if (b->lines.n)
		*len += 4 * (size_t)all->list.n;
	if (b->failed)
		r = JOB_NO_MEMORY;
	else if (*len > SYMBOLS_BYTES_MAX)
		r = JOB_TOO_LARGE;
	else
		h = calloc(1, *len);
	if (h) {
		*h = (struct symbols_hdr){
			SYMBOLS_MAGIC, all->list.n, b->functions.n, b->lines.n,
			b->names.n, 0,
		};
		index_build_put_symbols(all, b, names, h);
		*ret = h;
		r = JOB_OK;
	}
	free(names);
	return r;
}

/* --- where the tables are ------------------------------------------------------ */

static int index_build_from_sections(const struct elf_file *f, const struct elf_file *in,
				     struct raws *all, int table)
{
	static const char *const names[TABLES][2] = {
		[STATIC] = { ".symtab", ".strtab" },
		[DYNAMIC] = { ".dynsym", ".dynstr" },
	};
	const Elf64_Shdr *sym = elf_file_find(in, names[table][0]);
	const Elf64_Shdr *str = elf_file_find(in, names[table][1]);
	int r;

	if (!sym || !str || (sym->sh_flags & SHF_COMPRESSED))
		return JOB_OK;
	r = elf_file_section(in, str, &all->strings[table]);
	if (r)
		return r;
	return index_build_take_all(f, in, all, table, sym->sh_offset, sym->sh_size);
}

/* Where symbols and strings are, by PT_DYNAMIC. */
static void index_build_read_dynamic(const struct elf_file *f, uint64_t *symtab,
				     uint64_t *strtab, uint64_t *strsz)
{
	const Elf64_Phdr *p = elf_file_segment(f, PT_DYNAMIC);
	struct elf_bytes d;

	if (!p || p->p_filesz >= DYNAMIC_MAX ||
	    elf_file_read(f, p->p_offset, p->p_filesz, &d))
		return;
	for (size_t i = 0; i + sizeof(Elf64_Dyn) <= d.len;
	     i += sizeof(Elf64_Dyn)) {
		Elf64_Dyn dyn;

		memcpy(&dyn, d.data + i, sizeof(dyn));
		if (dyn.d_tag == DT_SYMTAB)
			*symtab = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRTAB)
			*strtab = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRSZ)
			*strsz = dyn.d_un.d_val;
	}
	elf_bytes_free(&d);
}

/* DT_SYMTAB has no length: all linkers put DT_STRTAB after it. */
static int index_build_from_dynamic(const struct elf_file *f, struct raws *all)
{
	uint64_t symtab = 0, strtab = 0, strsz = 0, at, left;
	int r;

	index_build_read_dynamic(f, &symtab, &strtab, &strsz);
	if (!strsz || strtab <= symtab ||
	    !elf_file_offset(f, strtab, false, &at, &left))
		return JOB_OK;
	if (strsz > left)
		strsz = left;
	r = elf_file_read(f, at, strsz, &all->strings[DYNAMIC]);
	if (r || !elf_file_offset(f, symtab, false, &at, &left))
		return r;
	if (left > strtab - symtab)
		left = strtab - symtab;
	return index_build_take_all(f, f, all, DYNAMIC, at, left);
}

/* The functions of an open source. */
static int index_build_from_source(const struct elf_file *f, struct raws *all)
{
	int r = JOB_OK;

	all->strings[SOURCE].data = (uint8_t *)all->own.names;
	for (uint32_t i = 0; !r && i < all->own.n; i++) {
		struct raw raw = { .number = i, .lines = SYMBOL_NO_LINES };
		struct source_function fn;

		if (!all->source->function(&all->own, i, &fn) ||
		    fn.end - fn.start >= UINT32_MAX ||
		    !elf_file_offset(f, fn.start, true, &raw.start, NULL))
			continue;
		raw.size = fn.end - fn.start;
		if (fn.before <= raw.start) {
			raw.start -= fn.before;
			raw.size += fn.before;
		}
		raw.name = fn.name - all->own.names;
		raw.len = strlen(fn.name);
		r = index_build_push(all, &raw);
	}
	return r;
}

/* The first source that has functions.  A table that contradicts itself has none. */
static int index_build_from_sources(const struct elf_file *f, symbol_sources_fn sources,
				    struct raws *all)
{
	for (size_t i = 0; sources; i++) {
		int r;

		all->source = sources(i);
		if (!all->source)
			break;
		r = all->source->open(f, &all->own);
		if (!r && all->own.n)
			return index_build_from_source(f, all);
		all->source->close(&all->own);
		if (r == JOB_NO_MEMORY)
			return r;
	}
	return JOB_OK;
}

int symbols_build(const struct elf_file *f, symbol_sources_fn sources,
		  void **ret, size_t *len)
{
	struct lines_builder *b = lines_builder_new();
	struct raws all = { 0 };
	int r = JOB_NO_MEMORY;

	if (b)
		r = index_build_from_sources(f, sources, &all);
	if (!r)
		r = index_build_from_sections(f, f, &all, STATIC);
	if (!r && !all.strings[STATIC].data && f->debug)
		r = index_build_from_sections(f, f->debug, &all, STATIC);
	if (!r)
		r = index_build_from_sections(f, f, &all, DYNAMIC);
	if (!r && !all.strings[DYNAMIC].data)
		r = index_build_from_dynamic(f, &all);
	if (!r)
		r = index_build_from_stubs(f, &all);
	if (!r)
		r = index_build_settle(&all);
	if (!r && !all.own.n && !all.strings[STATIC].data)
		r = index_build_add_ranges(f, &all);
	if (!r)
		r = index_build_encode(&all, b, ret, len);
	free(all.list.v);
	elf_bytes_free(&all.strings[STATIC]);
	elf_bytes_free(&all.strings[DYNAMIC]);
	elf_bytes_free(&all.strings[STUBS]);
	if (all.source)
		all.source->close(&all.own);
	lines_builder_free(b);
	return r;
}
