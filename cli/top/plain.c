// SPDX-License-Identifier: Apache-2.0
#include "cli/top/plain.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/top/text.h"
#include "common/clock.h"

#define NAME_MAX_CELLS	200

/* r NULL: the heading.  Returns the cells that it takes. */
static size_t cell(const struct top_state *st, const struct top_row *r,
		   enum top_col c, char *out, size_t size)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	char text[TOP_TEXT_MAX];
	struct top_str s = { text, 0 };

	if (r)
		top_cell(&st->table, r, c, st->utf8, NAME_MAX_CELLS, text,
			 sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", top_heading(l, c));
	s.len = strlen(text);
	return top_text(s, true, TOP_CELLS_MAX, out, size);
}

/* The widest of a column. */
static size_t width_of(const struct top_state *st, enum top_col c, uint32_t n)
{
	char text[TOP_TEXT_MAX];
	size_t width = cell(st, NULL, c, text, sizeof(text));

	for (uint32_t i = 0; i < n; i++) {
		size_t w = cell(st, &st->table.rows[i], c, text, sizeof(text));

		width = w > width ? w : width;
	}
	return width;
}

static void put_row(const struct top_state *st, const struct top_row *r,
		    const size_t *widths, FILE *to)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	char text[TOP_TEXT_MAX];
	int gap = 0;	/* blanks before what comes next, if anything does */

	for (int i = 0; i < l->n; i++) {
		size_t used = cell(st, r, l->cols[i], text, sizeof(text));
		int pad = (int)(widths[i] - used);
		bool number = top_is_number(l->cols[i]);

		gap += number ? pad : 0;
		if (*text) {
			fprintf(to, "%*s%s", gap, "", text);
			gap = 0;
		}
		gap += (number ? 0 : pad) + 2;
	}
	fputc('\n', to);
}

int top_plain(const struct top_state *st, const struct top_head *head, uint32_t n,
	      FILE *to)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	const struct top_table *t = &st->table;
	time_t s = (time_t)(head->now / NSEC_PER_SEC);
	size_t widths[TOP_COLS_MAX];
	char when[32] = "", busy[64];
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	top_busy(t, head->cpus, busy, sizeof(busy));
	fprintf(to,
		"trifold top - %s %s, %s: %llu sample%s in %.1f s at %u Hz, "
		"lost %llu, %s\n\n",
		head->host, when, l->title, (unsigned long long)t->events,
		t->events == 1 ? "" : "s", t->seconds, t->frequency,
		(unsigned long long)head->lost, busy);
	if (n > t->n)
		n = t->n;
	for (int i = 0; i < l->n; i++)
		widths[i] = width_of(st, l->cols[i], n);
	put_row(st, NULL, widths, to);
	for (uint32_t i = 0; i < n; i++)
		put_row(st, &t->rows[i], widths, to);
	return fflush(to) || ferror(to) ? -EIO : 0;
}
