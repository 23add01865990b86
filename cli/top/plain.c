// SPDX-License-Identifier: Apache-2.0
#include "cli/top/plain.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/top/text.h"
#include "common/clock.h"
#include "common/json.h"
#include "profile/profile.h"

#define NAME_MAX_CELLS	200

/* r NULL: the heading.  Returns the cells that it takes. */
static size_t plain_cell(const struct top_state *st, const struct top_row *r,
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
static size_t plain_width(const struct top_state *st, enum top_col c,
			  uint32_t n)
{
	char text[TOP_TEXT_MAX];
	size_t width = plain_cell(st, NULL, c, text, sizeof(text));

	for (uint32_t i = 0; i < n; i++) {
		size_t w =
			plain_cell(st, &st->table.rows[i], c, text, sizeof(text));

		if (w > width)
			width = w;
	}
	return width;
}

static void plain_put_row(const struct top_state *st, const struct top_row *r,
			  const size_t *widths, FILE *to)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	char text[TOP_TEXT_MAX];
	int gap = 0;	/* blanks before the next cell that is not empty */

	for (int i = 0; i < l->n; i++) {
		size_t used = plain_cell(st, r, l->cols[i], text, sizeof(text));
		int pad = (int)(widths[i] - used);
		bool number = top_is_number(l->cols[i]);

		if (number)
			gap += pad;
		if (*text) {
			fprintf(to, "%*s%s", gap, "", text);
			gap = 0;
		}
		if (!number)
			gap += pad;
		gap += 2;
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
	const char *ending = "s";
	struct tm tm;

	if (t->events == 1)
		ending = "";
	if (localtime_r(&s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	top_busy(t, head->cpus, busy, sizeof(busy));
	fprintf(to,
		"trifold top - %s %s, %s: %llu sample%s in %.1f s at %u Hz, "
		"lost %llu, %s\n\n",
		head->host, when, l->title, (unsigned long long)t->events,
		ending, t->seconds, t->frequency,
		(unsigned long long)head->lost, busy);
	if (n > t->n)
		n = t->n;
	for (int i = 0; i < l->n; i++)
		widths[i] = plain_width(st, l->cols[i], n);
	plain_put_row(st, NULL, widths, to);
	for (uint32_t i = 0; i < n; i++)
		plain_put_row(st, &t->rows[i], widths, to);
	if (fflush(to) || ferror(to))
		return -EIO;
	return 0;
}

/* --- JSON ------------------------------------------------------------------- */

static void plain_json_str(struct json *j, const char *key, struct top_str s)
{
	json_chars(j, key, s.s, s.len);
}

static void plain_json_seconds(struct json *j, const char *key, double s)
{
	json_millionths(j, key, (uint64_t)(s * 1e6 + 0.5));
}

static void plain_json_row(struct json *j, enum top_view view,
			   const struct top_row *r)
{
	char buf[TOP_NO_NAME_MAX];

	json_open(j, NULL, '{');
	if (view == TOP_CONTAINERS)
		plain_json_str(j, "container", r->name);
	else
		plain_json_str(j, "name", top_row_name(r, buf));
	if (top_of_functions(view)) {
		plain_json_str(j, "file", r->file);
		json_text(j, "kind", frame_kind_info(r->kind)->name);
		plain_json_str(j, "source", r->source);
		json_num(j, "line", r->line);
		json_bool(j, "inlined", r->marks & PROFILE_INLINED);
		json_num(j, "self", r->self);
	} else if (view != TOP_CONTAINERS) {
		json_num(j, "pid", r->pid);
	}
	if (view == TOP_PROCESSES)
		plain_json_str(j, "container", r->container);
	if (view == TOP_THREADS) {
		json_num(j, "tid", r->tid);
		plain_json_str(j, "process", top_row_process(r));
	}
	json_num(j, "samples", r->total);
	plain_json_seconds(j, "cpu_seconds", r->cpu_s);
	json_close(j, '}');
}

int top_json(const struct top_state *st, const struct top_head *head, uint32_t n,
	     FILE *to)
{
	const struct top_table *t = &st->table;
	enum top_view view = top_level(st)->view;
	struct buffer out = { 0 };
	struct json j = { .out = &out };
	int r;

	json_open(&j, NULL, '{');
	json_text(&j, "host", head->host);
	json_num(&j, "time_ms", head->now / NSEC_PER_MSEC);
	json_text(&j, "view", top_layout(view)->title);
	plain_json_seconds(&j, "seconds", t->seconds);
	json_num(&j, "frequency", t->frequency);
	json_num(&j, "cpus", head->cpus);
	json_num(&j, "samples", t->events);
	json_num(&j, "lost", head->lost);
	plain_json_seconds(&j, "cpu_seconds", t->cpu_s);
	json_num(&j, "rows_in_all", t->n);
	json_open(&j, "rows", '[');
	for (uint32_t i = 0; i < n && i < t->n; i++)
		plain_json_row(&j, view, &t->rows[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	r = json_finish(&j, to);
	if (r)
		return r;
	if (fflush(to))
		return -EIO;
	return 0;
}
