// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/diff.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/config/sudo_caller.h"
#include "cli/convert/convert.h"
#include "cli/convert/folded_read.h"
#include "cli/diff/html.h"
#include "cli/diff/rows.h"
#include "common/json.h"
#include "common/log.h"
#include "common/read_all.h"
#include "profile/formats/formats.h"
#include "profile/outfile.h"

/* --- in ---------------------------------------------------------------- */

enum { BY_FUNCTION, BY_LINE };	/* options.by */

struct diff {
	const struct options *opt;
	struct foreign in[FOLDED_SIDES];
	struct folded_tree tree;
	int out;			/* of --output; -1: none */
};

/* Of standard input and of pipes without a name only the bytes tell. */
static bool diff_is_folded(const char *path)
{
	uint32_t format = format_of(path);

	return format != FORMAT_NONE && format != format_named("otlp");
}

static int diff_take(struct diff *d, unsigned int side)
{
	const bool by_line = d->opt->by == BY_LINE;
	const char *name = d->in[side].name;
	struct buffer bytes = { 0 };
	struct folded_mistake m;
	int r = convert_to_folded(&d->in[side], d->opt, by_line, &bytes);

	if (r)
		return -1;
	r = folded_read(&d->tree, side, (char *)bytes.data, bytes.len, &m);
	free(bytes.data);
	if (r > 0)
		log_err("%s:%u: %s", name, m.line, m.what);
	else if (r < 0)
		log_err("%s: %s", name, strerror(-r));
	if (!r && by_line && !d->tree.lines[side]) {
		log_err("%s has no lines: record an .otlp file, or folded "
			"stacks with --lines", name);
		return -1;
	}
	if (r)
		return -1;
	return 0;
}

/* --- out --------------------------------------------------------------- */

/* The text of a name, or of a missing one; valid until the next call. */
static const char *diff_name_text(const struct folded_tree *t, uint32_t name,
				  struct buffer *buf)
{
	buf->len = 0;
	folded_name(t, name, buf);
	if (!buf->len && !buf->failed)
		return "[no name]";
	buffer_add(buf, "", 1);
	if (buf->failed)
		return "[no memory]";
	return (const char *)buf->data;
}

static void diff_print_table(const struct diff *d, const struct diff_row *rows, uint32_t n,
			     uint32_t shown)
{
	const struct folded_tree *t = &d->tree;
	const char *heading = "function", *what = "functions";
	struct buffer buf = { 0 };

	if (d->opt->by == BY_LINE) {
		heading = "function (line)";
		what = "lines";
	}
	for (unsigned int s = 0; s < FOLDED_SIDES; s++)
		printf("%c  %s: %llu samples\n", "AB"[s], d->in[s].name,
		       (unsigned long long)t->samples[s]);
	printf("\n  self A   self B   points  total A  total B   points  %s\n",
	       heading);
	for (uint32_t i = 0; i < shown; i++) {
		const struct diff_row *r = &rows[i];

		printf("%7.2f%% %7.2f%% %+8.2f %7.2f%% %7.2f%% %+8.2f  %s\n",
		       diff_share(t, r->self, 0), diff_share(t, r->self, 1),
		       diff_points(t, r->self), diff_share(t, r->total, 0),
		       diff_share(t, r->total, 1), diff_points(t, r->total),
		       diff_name_text(t, r->name, &buf));
	}
	if (shown < n)
		printf("\n%u of %u %s; --limit shows more\n", shown, n, what);
	free(buf.data);
}

static void diff_add_pair(struct json *j, const char *key, const uint64_t *v)
{
	json_open(j, key, '[');
	json_num(j, NULL, v[0]);
	json_num(j, NULL, v[1]);
	json_close(j, ']');
}

static int diff_print_json(const struct options *o, const struct folded_tree *t,
			   const struct diff_row *rows, uint32_t n, uint32_t shown)
{
	const char *in_all = "functions_in_all", *what = "functions";
	struct buffer out = { 0 }, buf = { 0 };
	struct json j = { .out = &out };
	int r;

	if (o->by == BY_LINE) {
		in_all = "lines_in_all";
		what = "lines";
	}
	json_open(&j, NULL, '{');
	json_open(&j, "files", '[');
	json_text(&j, NULL, o->files[0]);
	json_text(&j, NULL, o->files[1]);
	json_close(&j, ']');
	diff_add_pair(&j, "samples", t->samples);
	json_num(&j, in_all, n);
	json_open(&j, what, '[');
	for (uint32_t i = 0; i < shown; i++) {
		json_open(&j, NULL, '{');
		json_text(&j, "name", diff_name_text(t, rows[i].name, &buf));
		diff_add_pair(&j, "self", rows[i].self);
		diff_add_pair(&j, "total", rows[i].total);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	free(buf.data);
	r = json_finish(&j, stdout);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	return r;
}

static bool diff_is_page(const struct options *o)
{
	return format_of(o->output) == format_named("html");
}

static int diff_write_file(const struct diff *d)
{
	struct buffer out = { 0 };
	const char *names[FOLDED_SIDES];
	int r;

	for (unsigned int s = 0; s < FOLDED_SIDES; s++) {
		names[s] = d->opt->files[s];
		if (foreign_is_standard(names[s]))
			names[s] = d->in[s].name;
	}
	if (diff_is_page(d->opt))
		r = diff_encode_html(&d->tree, names, &out);
	else
		r = folded_encode_pairs(&d->tree, &out);
	if (!r)
		r = write_all(d->out, out.data, out.len);
	if (r)
		log_err("cannot write: %s", strerror(-r));
	free(out.data);
	return r;
}

static int diff_show(const struct diff *d)
{
	const struct options *o = d->opt;
	uint32_t limit, n = 0, shown;
	struct diff_row *rows = diff_rows(&d->tree, o->by_total, &n);
	int r = 0;

	if (o->limit)
		limit = o->limit;
	else
		limit = DIFF_LIMIT;
	if (!rows) {
		log_err("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (n < limit)
		shown = n;
	else
		shown = limit;
	if (o->json)
		r = diff_print_json(o, &d->tree, rows, n, shown);
	else
		diff_print_table(d, rows, n, shown);
	if (!r && (fflush(stdout) || ferror(stdout))) {
		log_err("cannot write: %m");
		r = -EIO;
	}
	free(rows);
	return r;
}

/* --- in the child of foreign.h ---------------------------------------- */

/* Exit statuses.  DIFF_NOT_SHOWN: the file of --output is whole. */
enum { DIFF_DONE, DIFF_FAILED, DIFF_NOT_SHOWN };

static int diff_work(void *arg)
{
	static char room[1 << 16];	/* glibc's own asks whether it is a terminal */
	struct diff *d = arg;
	int r = folded_init(&d->tree);

	setvbuf(stdout, room, _IOFBF, sizeof(room));
	d->tree.functions = d->opt->by == BY_FUNCTION;
	for (unsigned int s = 0; s < FOLDED_SIDES && !r; s++)
		r = diff_take(d, s);
	if (!r)
		r = folded_sort(&d->tree);
	if (!r && d->out >= 0)
		r = diff_write_file(d);
	if (r)
		return DIFF_FAILED;
	if ((d->opt->json || d->out < 0) && diff_show(d))
		return DIFF_NOT_SHOWN;
	return DIFF_DONE;
}

/* --- the command ------------------------------------------------------- */

static int diff_compare(struct diff *d)
{
	const int keep[] = { d->in[0].fd, d->in[1].fd, d->out };

	return foreign_run(diff_work, d, keep, 3);
}

/* Who reads standard output may have had enough of it: the file is there. */
static bool diff_wrote(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGPIPE;
	return WEXITSTATUS(status) != DIFF_FAILED;
}

static int diff_to_file(struct diff *d)
{
	struct outfile f;
	int status, r = outfile_open(&f, d->opt->output, !diff_is_page(d->opt));

	if (r)
		return r;
	d->out = f.fd;
	status = diff_compare(d);
	if (status < 0 || !diff_wrote(status)) {
		outfile_abandon(&f);
		return -EIO;
	}
	r = outfile_commit(&f);
	if (!r)
		r = status;
	return r;
}

/* Whatever is opened is opened as the user who called sudo. */
static int diff_files(struct diff *d)
{
	int r = sudo_caller_become();

	if (!r)
		r = foreign_open(&d->in[0], d->opt->files[0]);
	if (r)
		return r;
	r = foreign_open(&d->in[1], d->opt->files[1]);
	if (!r && d->opt->output)
		r = diff_to_file(d);
	else if (!r)
		r = diff_compare(d);
	foreign_close(&d->in[0]);
	foreign_close(&d->in[1]);
	return r;
}

int diff_run(const struct options *o)
{
	struct diff d = { .opt = o, .out = -1 };

	if (!o->files[1]) {
		log_err("diff needs two recordings, A and B; see `trifold diff "
			"--help`");
		return EXIT_USAGE;
	}
	if (o->output && format_of(o->output) != format_named("folded") &&
	    format_of(o->output) != format_named("html") &&
	    !outfile_is_standard(o->output)) {
		log_err("diff writes .html and .folded only");
		return EXIT_USAGE;
	}
	if (o->output && outfile_is_standard(o->output) && o->json) {
		log_err("--json and --output %s would both write to standard output", o->output);
		return EXIT_USAGE;
	}
	if (foreign_is_standard(o->files[0]) && foreign_is_standard(o->files[1])) {
		log_err("standard input can be one of the two recordings only");
		return EXIT_USAGE;
	}
	if (options_given(o, "names") && diff_is_folded(o->files[0]) &&
	    diff_is_folded(o->files[1])) {
		log_err("--names is for .otlp files: folded stacks have one name "
			"of each function");
		return EXIT_USAGE;
	}
	if (diff_files(&d))
		return 1;
	return 0;
}
