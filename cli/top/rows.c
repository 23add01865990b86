// SPDX-License-Identifier: Apache-2.0
#include "cli/top/rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/text.h"
#include "profile/busy.h"
#include "profile/profile.h"

#define CONTAINER_CELLS	12
#define MARKED_CELLS	24	/* a name with fewer cells has no marks */
#define MATCH_MAX	4096	/* bytes of a name that a filter looks at */

/* --- columns ----------------------------------------------------------------- */

static const struct top_layout layouts[] = {
	[TOP_FUNCTIONS] = { "functions", "FUNCTION",
		{ COL_SELF, COL_TOTAL, COL_NAME, COL_MODULE, COL_SOURCE }, 5,
		COL_SELF, 4 },
	[TOP_PROCESSES] = { "processes", "PROCESS",
		{ COL_CPU, COL_PID, COL_NAME, COL_CONTAINER }, 4, COL_CPU, 0 },
	[TOP_CONTAINERS] = { "containers", "CONTAINER",
		{ COL_CPU, COL_TOTAL, COL_NAME }, 3, COL_CPU, 0 },
	[TOP_THREADS] = { "threads", "THREAD",
		{ COL_CPU, COL_PID, COL_TID, COL_NAME, COL_PROCESS }, 5,
		COL_CPU, 0 },
	[TOP_LINES] = { "lines", "FUNCTION",
		{ COL_SELF, COL_TOTAL, COL_NAME, COL_SOURCE, COL_MODULE }, 5,
		COL_SELF, 4 },
	[TOP_AROUND] = { "callers and callees", "FUNCTION",
		{ COL_ROLE, COL_SELF, COL_TOTAL, COL_NAME, COL_MODULE,
		  COL_SOURCE }, 6, COL_ROLE, 5 },
};

const struct top_layout *top_layout(enum top_view v)
{
	return &layouts[v];
}

enum top_view top_view_named(const char *name)
{
	int v = 0;

	while (v < TOP__VIEWS && strcmp(layouts[v].title, name))
		v++;
	return (enum top_view)v;
}

const char *top_heading(const struct top_layout *l, enum top_col c)
{
	static const char *const names[COL__MAX] = {
		"SELF%", "TOTAL%", "CPU%", "", "PID", "TID", "", "MODULE",
		"PROCESS", "CONTAINER", "SOURCE",
	};

	if (c == COL_NAME)
		return l->name;
	return names[c];
}

int top_width(enum top_col c)
{
	static const int widths[COL__MAX] = {
		6, 6, 7, 6, 8, 8, 0, 24, 16, CONTAINER_CELLS, 24,
	};

	return widths[c];
}

bool top_is_number(enum top_col c)
{
	return c <= COL_CPU || c == COL_PID || c == COL_TID;
}

/* --- cells ---------------------------------------------------------------- */

static struct top_str top_rows_literal(const char *s)
{
	return (struct top_str){ s, strlen(s) };
}

static struct top_str top_rows_no_symbol(struct top_str file,
					 char buf[TOP_NO_NAME_MAX])
{
	int n = (int)(file.len < NAME_MAX ? file.len : NAME_MAX);

	if (!n)
		return top_rows_literal(PROFILE_UNKNOWN_FILE);
	snprintf(buf, TOP_NO_NAME_MAX, "%.*s" PROFILE_NO_SYMBOL, n, file.s);
	return top_rows_literal(buf);
}

struct top_str top_row_name(const struct top_row *r, char buf[TOP_NO_NAME_MAX])
{
	const char *shown;

	if (r->name.len)
		return r->name;
	if (r->pid)
		return top_rows_literal(r->tid ? PROFILE_UNKNOWN_THREAD :
						 PROFILE_UNKNOWN_PROCESS);
	if (!r->kind)
		return top_rows_literal("[host]");
	shown = frame_kind_info(r->kind)->shown;
	if (shown[0])
		return top_rows_literal(shown);
	return top_rows_no_symbol(top_base(r->file), buf);
}

struct top_str top_row_process(const struct top_row *r)
{
	if (r->file.len)
		return r->file;
	return top_rows_literal(PROFILE_UNKNOWN_PROCESS);
}

static struct top_str rows_module(const struct top_row *r)
{
	if (frame_kind_class(r->kind) == FRAMES_KERNEL)
		return top_rows_literal("kernel");
	return top_base(r->file);
}

static struct top_str top_rows_source(const struct top_row *r,
				      char buf[TOP_NO_NAME_MAX])
{
	struct top_str s = top_base(r->source);

	if (!s.len || !r->line)
		return s;
	snprintf(buf, TOP_NO_NAME_MAX, "%.*s:%u",
		 (int)(s.len < NAME_MAX ? s.len : NAME_MAX), s.s, r->line);
	return top_rows_literal(buf);
}

static double top_rows_share(const struct top_table *t, uint64_t n)
{
	if (t->events)
		return 100.0 * (double)n / (double)t->events;
	return 0;
}

static double rows_cpu(const struct top_table *t, const struct top_row *r)
{
	if (t->seconds > 0)
		return 100.0 * r->cpu_s / t->seconds;
	return 0;
}

void top_busy(const struct top_table *t, uint64_t cpus, char *out, size_t size)
{
	struct busy busy = busy_of(t->busy_s, (double)cpus * t->seconds);
	double used = 0;

	if (t->seconds > 0)
		used = busy.used_s / t->seconds;
	if (cpus)
		snprintf(out, size, "%.2f of %" PRIu64 " CPU%s busy (%.0f %%)",
			 used, cpus, cpus == 1 ? "" : "s", 100 * busy.share);
	else
		snprintf(out, size, "%.2f CPUs busy", used);
}

static struct top_str top_rows_text_of(const struct top_row *r, enum top_col c,
				       char buf[TOP_NO_NAME_MAX])
{
	static const char *const roles[] = { "called", "itself", "calls" };

	switch (c) {
	case COL_NAME:
		return top_row_name(r, buf);
	case COL_MODULE:
		return rows_module(r);
	case COL_PROCESS:
		return top_row_process(r);
	case COL_ROLE:
		return top_rows_literal(roles[r->role]);
	case COL_SOURCE:
		return top_rows_source(r, buf);
	default:
		return r->container;
	}
}

/* A name and its marks. */
static void top_rows_name_cell(const struct top_row *r, bool utf8,
			       size_t cells, char *out, size_t size)
{
	const char *mark = profile_marks_text(r->marks);
	char buf[TOP_NO_NAME_MAX];
	size_t len = strlen(mark);

	if (cells < MARKED_CELLS)
		len = 0;
	top_text(top_row_name(r, buf), utf8, cells - len, out, size - len);
	if (len)
		strcat(out, mark);
}

void top_cell(const struct top_table *t, const struct top_row *r,
	      enum top_col c, bool utf8, size_t cells, char *out, size_t size)
{
	char buf[TOP_NO_NAME_MAX];
	struct top_str s;

	switch (c) {
	case COL_SELF:
		snprintf(out, size, "%.1f", top_rows_share(t, r->self));
		break;
	case COL_TOTAL:
		snprintf(out, size, "%.1f", top_rows_share(t, r->total));
		break;
	case COL_CPU:
		snprintf(out, size, "%.1f", rows_cpu(t, r));
		break;
	case COL_PID:
	case COL_TID:
		snprintf(out, size, "%u", c == COL_PID ? r->pid : r->tid);
		break;
	case COL_NAME:
		top_rows_name_cell(r, utf8, cells, out, size);
		break;
	default:
		s = top_rows_text_of(r, c, buf);
		if (c == COL_CONTAINER && s.len > CONTAINER_CELLS)
			s.len = CONTAINER_CELLS;
		top_text(s, utf8, cells, out, size);
	}
}

/* --- filter --------------------------------------------------------------------- */

void top_filter_clear(struct top_filter *f)
{
	if (f->is_regex)
		regfree(&f->regex);
	f->is_regex = false;
	f->text[0] = '\0';
}

const char *top_filter_set(struct top_filter *f, const char *text, char *err,
			   size_t size)
{
	struct top_filter new = { .text = "" };
	size_t len = strlen(text);
	int r;

	if (len >= sizeof(new.text))
		return "too long";
	memcpy(new.text, text, len + 1);
	if (len > 1 && text[0] == '/') {
		/* the last slash may follow */
		char pattern[TOP_FILTER_MAX];

		memcpy(pattern, text + 1, len);
		if (pattern[len - 2] == '/')
			pattern[len - 2] = '\0';
		new.is_regex = pattern[0] != '\0';
		if (new.is_regex)
			r =
				regcomp(&new.regex, pattern,
					REG_EXTENDED | REG_ICASE | REG_NOSUB);
		else
			r = 0;
		if (r) {
			regerror(r, &new.regex, err, size);
			return err;
		}
	}
	top_filter_clear(f);
	*f = new;
	return NULL;
}

static bool rows_text_matches(const struct top_filter *f, struct top_str s)
{
	char buf[MATCH_MAX];

	if (s.len >= sizeof(buf))
		s.len = sizeof(buf) - 1;
	memcpy(buf, s.s, s.len);
	buf[s.len] = '\0';
	if (f->is_regex)
		return regexec(&f->regex, buf, 0, NULL, 0) == 0;
	return strcasestr(buf, f->text) != NULL;
}

static bool rows_number_matches(const struct top_filter *f, uint32_t n)
{
	char buf[16];

	snprintf(buf, sizeof(buf), "%u", n);
	return n && rows_text_matches(f, top_rows_literal(buf));
}

static bool rows_matches(const struct top_filter *f, const struct top_row *r)
{
	char buf[TOP_NO_NAME_MAX];

	return rows_text_matches(f, top_row_name(r, buf)) ||
	       rows_text_matches(f, rows_module(r)) ||
	       (r->source.len &&
		rows_text_matches(f, top_rows_source(r, buf))) ||
	       (r->container.len && rows_text_matches(f, r->container)) ||
	       rows_number_matches(f, r->pid) || rows_number_matches(f, r->tid);
}

void top_filter_rows(struct top_table *t, const struct top_filter *f)
{
	uint32_t n = 0;

	if (!f->text[0] || !strcmp(f->text, "/") || !strcmp(f->text, "//"))
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (rows_matches(f, &t->rows[i]))
			t->rows[n++] = t->rows[i];
	}
	t->n = n;
}

/* --- sorting ---------------------------------------------------------------------- */

struct top_order {
	enum top_col by;
	bool reverse;
};

static int rows_compare_numbers(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int rows_compare_texts(struct top_str a, struct top_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = 0;

	if (n)
		r = memcmp(a.s, b.s, n);
	if (r)
		return r;
	return (a.len > b.len) - (a.len < b.len);
}

static int rows_compare_by(const struct top_row *a, const struct top_row *b,
			   enum top_col by)
{
	char at[TOP_NO_NAME_MAX], bt[TOP_NO_NAME_MAX];

	switch (by) {
	case COL_SELF:
		return rows_compare_numbers(a->self, b->self);
	case COL_TOTAL:
		return rows_compare_numbers(a->total, b->total);
	case COL_CPU:
		return (a->cpu_s < b->cpu_s) - (a->cpu_s > b->cpu_s);
	case COL_PID:
		return rows_compare_numbers(b->pid, a->pid);
	case COL_TID:
		return rows_compare_numbers(b->tid, a->tid);
	case COL_ROLE:
		return (a->role > b->role) - (a->role < b->role);
	default:
		return rows_compare_texts(top_rows_text_of(a, by, at),
					  top_rows_text_of(b, by, bt));
	}
}

static int top_rows_compare(const void *pa, const void *pb, void *arg)
{
	const struct top_row *a = pa, *b = pb;
	const struct top_order *o = arg;
	int r = rows_compare_by(a, b, o->by);

	if (r)
		return o->reverse ? -r : r;
	r = rows_compare_numbers(a->total, b->total);
	if (!r)
		r = rows_compare_by(a, b, COL_NAME);
	if (!r)
		r = rows_compare_texts(a->file, b->file);
	if (!r)
		r = rows_compare_numbers(b->pid, a->pid);
	if (r)
		return r;
	return rows_compare_numbers(b->tid, a->tid);
}

void top_sort(struct top_table *t, enum top_col by, bool reverse)
{
	struct top_order o = { by, reverse };

	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), top_rows_compare, &o);
}
