// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Of standard input and of pipes without a name only the bytes tell. */
static bool diff_is_folded(const char *path)
{
	uint32_t format = format_of(path);

	return format != FORMAT_NONE && format != format_named("otlp");
}

/* The folded stacks of a file, to be read; or -1, said.  An OTLP request is read by
 * another process. */
static int diff_open(const struct options *o, const char *path,
		     const char *name)
{
	int fd;

	if (diff_is_folded(path)) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			log_err("%s: %m", name);
		return fd;
	}
	fd = memfd_create("folded", MFD_CLOEXEC);
	if (fd < 0)
		log_err("memfd_create: %m");
	else if (convert_to_folded(path, o, o->by == BY_LINE, fd) ||
		 lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int diff_take(struct folded_tree *t, const struct options *o,
		     unsigned int side)
{
	const char *path = o->files[side];
	struct folded_mistake m;
	struct buffer bytes = { 0 };
	char name[256];
	int fd, r;

	log_quote(path, strlen(path), name, sizeof(name));
	fd = diff_open(o, path, name);
	if (fd < 0)
		return -1;
	r = read_all(fd, FOLDED_BYTES_MAX, &bytes);
	close(fd);
	if (!r)
		r = folded_read(t, side, (char *)bytes.data, bytes.len, &m);
	free(bytes.data);
	if (r > 0)
		log_err("%s:%u: %s", name, m.line, m.what);
	else if (r < 0)
		log_err("%s: %s", name, strerror(-r));
	if (!r && o->by == BY_LINE && !t->lines[side]) {
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

static void diff_print_table(const struct options *o,
			     const struct folded_tree *t,
			     const struct diff_row *rows, uint32_t n, uint32_t shown)
{
	const char *heading = "function", *what = "functions";
	struct buffer buf = { 0 };
	char name[256];

	if (o->by == BY_LINE) {
		heading = "function (line)";
		what = "lines";
	}
	for (unsigned int s = 0; s < FOLDED_SIDES; s++)
		printf("%c  %s: %llu samples\n", "AB"[s],
		       log_quote(o->files[s], strlen(o->files[s]), name,
				 sizeof(name)),
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

static int diff_write_file(const struct options *o, const struct folded_tree *t)
{
	const bool html = format_of(o->output) == format_named("html");
	struct buffer out = { 0 };
	struct outfile f;
	int r;

	if (html)
		r = diff_encode_html(t, o->files, &out);
	else
		r = folded_encode_pairs(t, &out);
	if (r)
		log_err("%s", strerror(-r));
	else
		r = outfile_open(&f, o->output, !html);
	if (r) {
		free(out.data);
		return r;
	}
	r = write_all(f.fd, out.data, out.len);
	free(out.data);
	if (r) {
		log_err("%s: %s", o->output, strerror(-r));
		outfile_abandon(&f);
		return r;
	}
	return outfile_commit(&f);
}

static int diff_show(const struct options *o, const struct folded_tree *t)
{
	uint32_t limit, n = 0, shown;
	struct diff_row *rows = diff_rows(t, o->by_total, &n);
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
		r = diff_print_json(o, t, rows, n, shown);
	else
		diff_print_table(o, t, rows, n, shown);
	if (!r && (fflush(stdout) || ferror(stdout))) {
		log_err("cannot write: %m");
		r = -EIO;
	}
	free(rows);
	return r;
}

int diff_run(const struct options *o)
{
	struct folded_tree t;
	int r;

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
	if (!strcmp(o->files[0], "-") && !strcmp(o->files[1], "-")) {
		log_err("standard input can be one of the two recordings only");
		return EXIT_USAGE;
	}
	if (options_given(o, "names") && diff_is_folded(o->files[0]) &&
	    diff_is_folded(o->files[1])) {
		log_err("--names is for .otlp files: folded stacks have one name "
			"of each function");
		return EXIT_USAGE;
	}
	r = folded_init(&t);
	t.functions = o->by == BY_FUNCTION;
	for (unsigned int s = 0; s < FOLDED_SIDES && !r; s++)
		r = diff_take(&t, o, s);
	if (!r)
		r = folded_sort(&t);
	if (!r && o->output)
		r = diff_write_file(o, &t);
	if (!r && (o->json || !o->output))
		r = diff_show(o, &t);
	folded_fini(&t);
	return r != 0;
}
