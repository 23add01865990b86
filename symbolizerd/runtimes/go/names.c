// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/bisect.h"
#include "common/vector.h"
#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/go/find.h"
#include "symbolizerd/runtimes/go/rows.h"

/* A place in a function, as its tables have it. */
struct go_place {
	uint64_t start;		/* it ends where the next one starts */
	int32_t inlined, file, line;	/* -1: none */
};

/* Kept from one function to the next; begins as zeroes. */
struct go_lines {
	struct pclntab_window window;
	VECTOR(struct go_place) places;
	VECTOR(uint64_t) scopes;	/* their keys, as lines_scope() numbers them */
};

/* --- places -------------------------------------------------------------------- */

/* Walk a table on to pc.  The value there, -1 if there is none. */
static int32_t go_lines_value_at(struct pclntab_walk *w, bool *more, uint64_t pc)
{
	while (*more && w->stop <= pc)
		*more = pclntab_step(w);
	if (!*more)
		return -1;
	return w->value;
}

/* The three tables as one: a place begins wherever one of them changes. */
static bool go_lines_merge(struct go_lines *g, const struct pclntab *t,
			   const struct pclntab_func *fn)
{
	const uint32_t tables[3] = {
		pclntab_pcdata(t, fn, PCDATA_INLTREE), fn->pcfile, fn->pcln,
	};
	struct pclntab_walk w[3];
	bool more[3] = { true, true, true };
	uint64_t pc = fn->entry;

	g->places.n = 0;
	for (int i = 0; i < 3; i++)
		pclntab_walk(t, fn, tables[i], &w[i]);
	while (pc < fn->end) {
		struct go_place p = { .start = pc };
		uint64_t next = fn->end;

		p.inlined = go_lines_value_at(&w[0], &more[0], pc);
		p.file = go_lines_value_at(&w[1], &more[1], pc);
		p.line = go_lines_value_at(&w[2], &more[2], pc);
		for (int i = 0; i < 3; i++) {
			if (more[i] && w[i].stop < next)
				next = w[i].stop;
		}
		if (!vector_push(&g->places, p))
			return false;
		pc = next;
	}
	return true;
}

static const struct go_place *go_lines_place_at(const struct go_lines *g,
						uint64_t pc)
{
	uint32_t n = bisect(mid, g->places.n, g->places.v[mid].start <= pc);

	if (!n)
		return NULL;
	return &g->places.v[n - 1];
}

/* Offset of a name without type arguments, as of lines_string(). */
static uint32_t go_lines_name(struct lines_builder *b, const char *name)
{
	static const char dots[] = "[...]";
	const char *from = strchr(name, '['), *to = strrchr(name, ']');
	char print[PCLNTAB_NAME_MAX + sizeof(dots)];
	size_t len;

	if (!from || !to || to < from)
		return lines_string(b, name, strlen(name));
	len = from - name;
	memcpy(print, name, len);
	strcpy(print + len, dots);
	strcat(print + len, to + 1);
	return lines_string(b, print, strlen(print));
}

/* --- scopes ---------------------------------------------------------------------- */

/* A scope is an inlined call (or none) and a file. */
static uint64_t go_lines_key_of(const struct go_place *p)
{
	return (uint64_t)(uint32_t)p->inlined << 32 | (uint32_t)p->file;
}

/* The function whose lines are made. */
struct go_lines_of {
	struct go_lines *g;
	const struct pclntab *t;
	const struct pclntab_func *fn;
	struct lines_builder *b;
};

static uint32_t go_lines_line(const struct go_place *p)
{
	return p->line > 0 ? p->line : 0;
}

static uint32_t go_lines_function(const struct go_lines_of *a, const struct go_place *p,
				  const char *name, uint32_t first_line)
{
	const char *file = pclntab_file(a->t, a->fn->unit, p->file);

	if (!file)
		file = "";
	return lines_function(a->b, go_lines_name(a->b, name),
			      lines_string(a->b, file, strlen(file)), first_line);
}

/* Search the scopes made so far; from the last, since places repeat. */
static uint32_t go_lines_find_scope(const struct go_lines *g, uint64_t key)
{
	for (uint32_t i = g->scopes.n; i-- > 0;) {
		if (g->scopes.v[i] == key)
			return i;
	}
	return LINES_NONE;
}

static uint32_t go_lines_new_scope(const struct go_lines_of *a, uint64_t key,
				   uint32_t function, uint32_t in,
				   uint32_t line)
{
	uint32_t i = lines_scope(a->b, function, in, line);

	if (i == LINES_NONE || !vector_push(&a->g->scopes, key))
		return LINES_NONE;
	return i;
}

/* The scope of a place; the scopes that it is inlined into are made first. */
static uint32_t go_lines_scope(const struct go_lines_of *a, const struct go_place *p,
			       uint32_t depth)
{
	uint64_t key = go_lines_key_of(p);
	uint32_t have = go_lines_find_scope(a->g, key), in;
	const struct go_place *parent;
	struct pclntab_inlined call;

	if (have != LINES_NONE)
		return have;
	if (p->inlined < 0)
		return go_lines_new_scope(
			a, key,
			go_lines_function(a, p, a->fn->name, a->fn->start_line),
			LINES_NONE, 0);
	if (depth == SYMBOL_DEPTH_MAX ||
	    !pclntab_inlined(a->t, a->fn, p->inlined, &a->g->window, &call))
		return LINES_NONE;
	parent = go_lines_place_at(a->g, a->fn->entry + call.parent_pc);
	if (!parent)
		return LINES_NONE;
	in = go_lines_scope(a, parent, depth + 1);
	if (in == LINES_NONE)
		return in;
	return go_lines_new_scope(
		a, key, go_lines_function(a, p, call.name, call.first_line), in,
		go_lines_line(parent));
}

/* Give the lines of a function to the builder, from its entry on: their place
 * there, or SYMBOL_NO_LINES. */
static uint32_t go_lines_add(struct go_lines *g, const struct pclntab *t,
			     const struct pclntab_func *fn, struct lines_builder *b)
{
	struct go_lines_of a = { g, t, fn, b };
	uint64_t from = fn->entry;	/* not given to the builder yet */

	lines_begin(b);
	g->scopes.n = 0;
	if (!go_lines_merge(g, t, fn)) {
		b->failed = true;
		return SYMBOL_NO_LINES;
	}
	for (uint32_t i = 0; i < g->places.n; i++) {
		struct go_place *p = &g->places.v[i];
		uint64_t end = i + 1 < g->places.n ? p[1].start : fn->end;
		uint32_t scope;

		/* padding: it belongs to the place after it */
		if (p->file < 0 || p->line < 0)
			continue;
		if (!t->gofunc && t->magic != PCLNTAB_116)
			p->inlined = -1;
		scope = go_lines_scope(&a, p, 0);
		if (scope == LINES_NONE)
			return SYMBOL_NO_LINES;
		lines_row(b, end - from, scope, go_lines_line(p));
		from = end;
	}
	return lines_end(b);
}

static void go_lines_free(struct go_lines *g)
{
	elf_bytes_free(&g->window.b);
	free(g->places.v);
	free(g->scopes.v);
	*g = (struct go_lines){ 0 };
}

/* --- the source of names -------------------------------------------------------- */

struct go_names {
	struct pclntab table;
	struct go_lines lines;
};

static int go_names_open(const struct elf_file *f, struct source_names *ret)
{
	struct go_names *g = calloc(1, sizeof(*g));
	int r;

	ret->state = g;
	if (!g)
		return JOB_NO_MEMORY;
	r = go_find(&g->table, f);
	if (r)
		return r;
	ret->n = g->table.n;
	ret->names = (const char *)g->table.names.data;
	return JOB_OK;
}

static bool go_names_function(const struct source_names *s, uint32_t i,
			      struct source_function *ret)
{
	const struct go_names *g = s->state;
	struct pclntab_func fn;

	if (!pclntab_func(&g->table, i, &fn) || !fn.name[0])
		return false;
	*ret = (struct source_function){
		.start = fn.entry,
		.end = fn.end,
		.name = fn.name,
		.before = go_is_trampoline(&fn),
	};
	return true;
}

static uint32_t go_names_lines(struct source_names *s, uint32_t i,
			       struct lines_builder *b)
{
	struct go_names *g = s->state;
	struct pclntab_func fn;

	if (!pclntab_func(&g->table, i, &fn) || go_is_trampoline(&fn))
		return SYMBOL_NO_LINES;
	return go_lines_add(&g->lines, &g->table, &fn, b);
}

static void go_names_close(struct source_names *s)
{
	struct go_names *g = s->state;

	if (!g)
		return;
	go_lines_free(&g->lines);
	pclntab_close(&g->table);
	free(g);
	*s = (struct source_names){ 0 };
}

const struct symbol_source go_symbols = {
	.open = go_names_open,
	.function = go_names_function,
	.name = go_lines_name,
	.lines = go_names_lines,
	.close = go_names_close,
};
