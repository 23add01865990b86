// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "profile/formats/html_times.h"

/* made of viewer/page/ by viewer/page.mk */
extern const unsigned char page_html[];
extern const unsigned long page_html_len;

static const char marker[] = "@DATA@";

static void html_put_account(struct json *j, const struct profile_account *a)
{
	if (!a->known) {
		json_null(j, "account");
		return;
	}
	json_open(j, "account", '{');
	json_num(j, "taken", a->taken);
	json_num(j, "delivered", a->delivered);
	json_num(j, "own", a->own);
	json_num(j, "lost", a->lost);
	json_int(j, "difference", a->difference);
	json_num(j, "covered_ns", a->covered_ns);
	json_num(j, "missed_ns", a->missed_ns);
	json_chars(j, "reasons", a->reasons,
		   strnlen(a->reasons, sizeof(a->reasons)));
	json_close(j, '}');
}

static void html_put_base(struct json *j, const struct html_base *base)
{
	json_open(j, "base", '{');
	json_num(j, "start_ms", base->start_ns / NSEC_PER_MSEC);
	json_num(j, "duration_ms",
		 (base->end_ns - base->start_ns) / NSEC_PER_MSEC);
	json_num(j, "samples", base->samples);
	json_close(j, '}');
}

static void html_put_info(struct json *j, const struct batch *b,
			  const struct profile_info *info,
			  const struct html_base *base)
{
	uint64_t start = b->hdr->start_ns, end = b->hdr->end_ns, samples = 0;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++)
		samples += b->samples[i].n;
	if (!samples && info->account.start_ns) {
		/* an empty batch has no time, the account has */
		start = info->account.start_ns;
		end = info->account.end_ns;
		if (end < start)
			end = start;
	}
	json_open(j, "info", '{');
	json_text(j, "host", info->host);
	json_text(j, "kernel", info->kernel);
	json_text(j, "machine", info->machine);
	json_text(j, "command", info->command);
	json_num(j, "start_ms", start / NSEC_PER_MSEC);
	json_num(j, "duration_ms", (end - start) / NSEC_PER_MSEC);
	json_num(j, "frequency", b->hdr->frequency);
	json_num(j, "cpus", info->cpus);
	json_num(j, "samples", samples);
	if (base)
		html_put_base(j, base);
	html_put_account(j, &info->account);
	json_close(j, '}');
}

/* The text beside a name: for processes, their number. */
static void html_put_module(struct json *j, const struct tree *t,
			    const struct tree_label *l)
{
	char text[32];

	if (l->kind != KIND_PROCESS) {
		json_chars(j, NULL, t->text + l->module, l->module_len);
		return;
	}
	if (l->pids == 1)
		snprintf(text, sizeof(text), "pid %u", l->pid);
	else
		snprintf(text, sizeof(text), "%u processes", l->pids);
	json_text(j, NULL, text);
}

/* Has label i, if it is no process, the module of the label before? */
static bool html_same_module(const struct tree *t, uint32_t i)
{
	const struct tree_label *l = &t->labels[i], *p = l - 1;

	return i && l->kind == p->kind && l->kind != KIND_PROCESS &&
	       l->module_len == p->module_len &&
	       !memcmp(t->text + l->module, t->text + p->module,
		       l->module_len);
}

/*
 * The strings are the name of each label followed by its module; a label with the module
 * of the label before, the common case, shares that string.  modules[i]: the string of
 * label i's module.
 */
static void html_put_labels(struct json *j, const struct tree *t)
{
	uint32_t *modules = calloc(t->n_labels + 1, sizeof(*modules));
	uint32_t n = 0;

	if (!modules) {
		j->out->failed = true;
		return;
	}
	json_line(j);
	json_open(j, "strings", '[');
	for (uint32_t i = 0; i < t->n_labels; i++) {
		const struct tree_label *l = &t->labels[i];

		json_chars(j, NULL, t->text + l->name, l->name_len);
		n++;
		if (html_same_module(t, i)) {
			modules[i] = modules[i - 1];
			continue;
		}
		html_put_module(j, t, l);
		modules[i] = n++;
	}
	json_close(j, ']');
	json_line(j);
	json_open(j, "labels", '[');
	n = 0;
	for (uint32_t i = 0; i < t->n_labels; i++) {
		json_num(j, NULL, n);
		json_num(j, NULL, modules[i]);
		json_num(j, NULL, t->labels[i].kind);
		n++;
		if (modules[i] == n)
			n++;
	}
	json_close(j, ']');
	free(modules);
}

/* The whole names of labels with a shortened one: number, name, and so on. */
static void html_put_full(struct json *j, const struct tree *t)
{
	json_line(j);
	json_open(j, "full", '[');
	for (uint32_t i = 0; i < t->n_labels; i++) {
		const struct tree_label *l = &t->labels[i];

		if (!l->full_len)
			continue;
		json_num(j, NULL, i);
		json_chars(j, NULL, t->text + l->full, l->full_len);
	}
	json_close(j, ']');
}

/* Files and lines of labels; files are in the order of their first use. */
static void html_put_sources(struct json *j, const struct batch *b,
			     const struct tree *t)
{
	uint32_t *number = calloc(batch_n(b, BATCH_STRINGS) + 1,
				  sizeof(*number));
	uint32_t n = 0;
	const char *s;
	size_t len;

	if (!number) {
		j->out->failed = true;
		return;
	}
	json_line(j);
	json_open(j, "files", '[');
	for (uint32_t i = 0; i < t->n_labels; i++) {
		uint32_t file = t->labels[i].file;

		if (!file || number[file])
			continue;
		s = batch_str(b, file, &len);
		json_chars(j, NULL, s, len);
		number[file] = ++n;
	}
	json_close(j, ']');
	json_open(j, "lines", '[');
	for (uint32_t i = 0; i < t->n_labels; i++) {
		const struct tree_label *l = &t->labels[i];

		if (!l->file)
			continue;
		json_num(j, NULL, i);
		json_num(j, NULL, number[l->file] - 1);
		json_num(j, NULL, l->line);
	}
	json_close(j, ']');
	free(number);
}

static void html_put_marks(struct json *j, const struct tree *t)
{
	uint32_t before = 0;

	json_line(j);
	json_open(j, "marks", '[');
	for (uint32_t i = 0; i < t->n_rows; i++) {
		if (!t->rows[i].marks)
			continue;
		json_num(j, NULL, i - before);
		json_num(j, NULL, t->rows[i].marks);
		before = i;
	}
	json_close(j, ']');
}

static void html_put_rows(struct json *j, const struct tree *t, bool diff)
{
	uint32_t below = 0;	/* the depth of a child of the row before */

	json_line(j);
	json_open(j, "rows", '[');
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct tree_row *row = &t->rows[i];

		json_num(j, NULL, row->label);
		json_num(j, NULL, below - row->depth);
		json_num(j, NULL, row->self);
		if (diff)
			json_num(j, NULL, row->base);
		below = row->depth + 1;
	}
	json_close(j, ']');
}

/* --- lines ------------------------------------------------------------------- */

/* The label whose lines a row has: its own if samples end in it, or that of its caller.
 * path: the labels of the row and its callers, by depth.  NULL: none with a source. */
static const struct tree_label *html_source_of(const struct tree *t,
					       const struct tree_row *row, bool callers,
					       const uint32_t *path)
{
	const struct tree_label *l = NULL;

	if (callers && row->depth)
		l = &t->labels[path[row->depth - 1]];
	else if (!callers && row->self)
		l = &t->labels[row->label];
	if (!l || !l->file)
		return NULL;
	return l;
}

/* html_source_of() each row; malloc'ed, or NULL. */
static const struct tree_label **html_sources(const struct tree *t, bool callers)
{
	const struct tree_label **of = calloc((size_t)t->n_rows + 1, sizeof(*of));
	uint32_t *path = calloc((size_t)t->levels + 1, sizeof(*path));

	if (!of || !path) {
		free(of);
		free(path);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct tree_row *row = &t->rows[i];

		path[row->depth] = row->label;
		of[i] = html_source_of(t, row, callers, path);
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

static void html_put_lines(struct json *j, const struct tree *t)
{
	html_put_some(j, t, false, "own", "own_more");
	html_put_some(j, t, true, "from", "from_more");
}

/* --- the page ---------------------------------------------------------------- */

int html_data(const struct batch *b, const struct profile_info *info,
	      const struct tree_how *how, const struct html_base *base,
	      enum html_with with, struct buffer *out)
{
	struct json j = { .out = out };
	struct tree_how placed = *how;
	struct tree t;
	int r;

	placed.places = with != HTML_COUNTS;
	placed.by_line = !how->reversed;
	r = tree_build_as(&t, b, &placed);
	if (r)
		return r;
	json_open(&j, NULL, '{');
	html_put_info(&j, b, info, base);
	if (base)
		json_bool(&j, "diff", true);
	html_put_labels(&j, &t);
	html_put_full(&j, &t);
	html_put_sources(&j, b, &t);
	html_put_marks(&j, &t);
	html_put_rows(&j, &t, base);
	if (placed.by_line)
		html_put_lines(&j, &t);
	if (with == HTML_TIMES)
		r = html_put_times(&j, b, &t);
	else if (with == HTML_FIRST)
		r = html_put_first(&j, b, &t);
	json_close(&j, '}');
	tree_fini(&t);
	return r || out->failed ? -ENOMEM : 0;
}

int html_page(int (*put)(const void *arg, struct buffer *out), const void *arg,
	      struct buffer *out)
{
	const unsigned char *place;
	int r;

	place = memmem(page_html, page_html_len, marker, strlen(marker));
	if (!place)
		return -EINVAL;
	buffer_add(out, page_html, (size_t)(place - page_html));
	r = put(arg, out);
	if (r)
		return r;
	place += strlen(marker);
	buffer_add(out, place, (size_t)(page_html + page_html_len - place));
	return out->failed ? -ENOMEM : 0;
}

struct recording {
	const struct batch *b;
	const struct profile_info *info;
};

static int html_put_recording(const void *arg, struct buffer *out)
{
	const struct recording *r = arg;

	return html_data(r->b, r->info, &(struct tree_how){ .reversed = false },
			 NULL, HTML_TIMES, out);
}

int html_encode(const struct batch *b, const struct profile_info *info,
		struct buffer *out)
{
	return html_page(html_put_recording, &(struct recording){ b, info }, out);
}
