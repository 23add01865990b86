// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/names.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/go/find.h"
#include "symbolizerd/runtimes/go/lines.h"
#include "symbolizerd/runtimes/go/rows.h"

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
