// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html_lines.h"

#include <stdlib.h>

/* Whose lines they are: of each row its own label, or that of its caller. */
static const struct tree_label **html_sources(const struct tree *t, bool callers)
{
	const struct tree_label **of = calloc((size_t)t->n_rows + 1, sizeof(*of));
	uint32_t *path = calloc((size_t)t->levels + 1, sizeof(*path));

	for (uint32_t i = 0; of && path && i < t->n_rows; i++) {
		const struct tree_row *row = &t->rows[i];
		const struct tree_label *l;

		path[row->depth] = row->label;
		if (callers ? !row->depth : !row->self)
			continue;
		l = &t->labels[callers ? path[row->depth - 1] : row->label];
		of[i] = l->file ? l : NULL;
	}
	if (!path) {
		free(of);
		of = NULL;
	}
	free(path);
	return of;
}

static void html_put_line(struct json *j, const struct tree_label *l,
			  uint32_t line)
{
	json_int(j, NULL, (int64_t)line - l->line);
}

static void html_put_some(struct json *j, const struct tree *t, bool callers,
			  const char *key, const char *more)
{
	const struct tree_lines *lines = callers ? &t->calls : &t->self;
	const struct tree_label **of = html_sources(t, callers);
	uint32_t before = 0;

	if (!of) {
		j->out->failed = true;
		return;
	}
	json_line(j);
	json_open(j, key, '[');
	for (uint32_t i = 0; i < t->n_rows; i++) {
		if (of[i])
			html_put_line(j, of[i], lines->line[i]);
	}
	json_close(j, ']');
	json_open(j, more, '[');
	for (uint32_t i = 0; i < lines->n_more; i++) {
		const struct tree_line *m = &lines->more[i];

		if (!of[m->row])
			continue;
		json_num(j, NULL, m->row - before);
		html_put_line(j, of[m->row], m->line);
		json_num(j, NULL, m->n);
		before = m->row;
	}
	json_close(j, ']');
	free(of);
}

void html_put_lines(struct json *j, const struct tree *t)
{
	html_put_some(j, t, false, "own", "own_more");
	html_put_some(j, t, true, "from", "from_more");
}
