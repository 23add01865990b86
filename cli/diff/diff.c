// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/diff/folded_read.h"
#include "cli/diff/html.h"
#include "cli/diff/rows.h"
#include "common/json.h"
#include "common/log.h"
#include "common/log_quote.h"
#include "common/read_all.h"
#include "profile/formats/formats.h"
#include "profile/outfile.h"

/* --- in ---------------------------------------------------------------- */

static int diff_take(struct folded_tree *t, unsigned int side, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;
	struct folded_mistake m;
	struct buffer bytes = { 0 };
	char name[256];

	log_quote(path, strlen(path), name, sizeof(name));
	if (fd < 0) {
		log_err("%s: %m", name);
		return -1;
	}
	r = read_all(fd, FOLDED_BYTES_MAX, &bytes);
	close(fd);
	if (!r)
		r = folded_read(t, side, (char *)bytes.data, bytes.len, &m);
	free(bytes.data);
	if (r > 0)
		log_err("%s:%u: %s", name, m.line, m.what);
	else if (r < 0)
		log_err("%s: %s", name, strerror(-r));
	return r ? -1 : 0;
}

/* --- out --------------------------------------------------------------- */

/* The text of a name, or what stands for none; valid until the next call. */
static const char *diff_name_text(const struct folded_tree *t, uint32_t name,
				  struct buffer *buf)
{
	buf->len = 0;
	folded_name(t, name, buf);
	if (!buf->len && !buf->failed)
		return "[no name]";
	buffer_add(buf, "", 1);
	return buf->failed ? "[no memory]" : (const char *)buf->data;
}

static void print_table(const struct options *o, const struct folded_tree *t,
			const struct diff_row *rows, uint32_t n, uint32_t shown)
{
	struct buffer buf = { 0 };
	char name[256];

	for (unsigned int s = 0; s < FOLDED_SIDES; s++)
		printf("%c  %s: %llu samples\n", "AB"[s],
		       log_quote(o->files[s], strlen(o->files[s]), name,
				 sizeof(name)),
		       (unsigned long long)t->samples[s]);
	printf("\n  self A   self B   points  total A  total B   points  function\n");
	for (uint32_t i = 0; i < shown; i++) {
		const struct diff_row *r = &rows[i];

		printf("%7.2f%% %7.2f%% %+8.2f %7.2f%% %7.2f%% %+8.2f  %s\n",
		       diff_share(t, r->self, 0), diff_share(t, r->self, 1),
		       diff_points(t, r->self), diff_share(t, r->total, 0),
		       diff_share(t, r->total, 1), diff_points(t, r->total),
		       diff_name_text(t, r->name, &buf));
	}
	if (shown < n)
		printf("\n%u of %u functions; --limit shows more\n", shown, n);
	free(buf.data);
}

static void add_pair(struct json *j, const char *key, const uint64_t *v)
{
	json_open(j, key, '[');
	json_num(j, NULL, v[0]);
	json_num(j, NULL, v[1]);
	json_close(j, ']');
}

static int print_json(const struct options *o, const struct folded_tree *t,
		      const struct diff_row *rows, uint32_t n, uint32_t shown)
{
	struct buffer out = { 0 }, buf = { 0 };
	struct json j = { .out = &out };
	int r;

	json_open(&j, NULL, '{');
	json_open(&j, "files", '[');
	json_text(&j, NULL, o->files[0]);
	json_text(&j, NULL, o->files[1]);
	json_close(&j, ']');
	add_pair(&j, "samples", t->samples);
	json_num(&j, "functions_in_all", n);
	json_open(&j, "functions", '[');
	for (uint32_t i = 0; i < shown; i++) {
		json_open(&j, NULL, '{');
		json_text(&j, "name", diff_name_text(t, rows[i].name, &buf));
		add_pair(&j, "self", rows[i].self);
		add_pair(&j, "total", rows[i].total);
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

int diff_encode_folded(const struct folded_tree *t, struct buffer *out)
{
	size_t ends[FOLDED_DEPTH_MAX + 1] = { 0 };
	struct buffer line = { 0 };
	uint32_t depth = 0, i = 0;
	int r;

	while ((i = folded_next(t, i, &depth))) {
		const struct folded_node *node = &t->nodes[i];

		line.len = ends[depth - 1];
		if (depth > 1)
			buffer_add(&line, ";", 1);
		folded_name(t, node->name, &line);
		ends[depth] = line.len;
		if (!node->self[0] && !node->self[1])
			continue;
		buffer_add(out, line.data, line.len);
		buffer_str(out, " ");
		buffer_num(out, node->self[0]);
		buffer_str(out, " ");
		buffer_num(out, node->self[1]);
		buffer_str(out, "\n");
	}
	r = line.failed || out->failed ? -ENOMEM : 0;
	free(line.data);
	return r;
}

static int diff_write_file(const struct options *o, const struct folded_tree *t)
{
	struct buffer out = { 0 };
	struct outfile f;
	int r = format_of(o->output) == format_named("html") ?
		diff_encode_html(t, o->files, &out) :
		diff_encode_folded(t, &out);

	if (r)
		log_err("%s", strerror(-r));
	else
		r = outfile_open(&f, o->output);
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
	uint32_t limit = o->limit ? o->limit : DIFF_LIMIT, n = 0, shown;
	struct diff_row *rows = diff_rows(t, o->by_total, &n);
	int r = 0;

	if (!rows) {
		log_err("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	shown = n < limit ? n : limit;
	if (o->json)
		r = print_json(o, t, rows, n, shown);
	else
		print_table(o, t, rows, n, shown);
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
	    format_of(o->output) != format_named("html")) {
		log_err("diff writes .html and .folded only");
		return EXIT_USAGE;
	}
	r = folded_init(&t);
	for (unsigned int s = 0; s < FOLDED_SIDES && !r; s++)
		r = diff_take(&t, s, o->files[s]);
	if (!r)
		r = folded_sort(&t);
	if (!r && o->output)
		r = diff_write_file(o, &t);
	if (!r && (o->json || !o->output))
		r = diff_show(o, &t);
	folded_fini(&t);
	return r ? 1 : 0;
}
