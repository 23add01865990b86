// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/html.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/folded_read.h"
#include "common/json.h"
#include "profile/formats/html.h"

struct page {
	const struct folded_tree *t;
	const char *const *files;
};

static bool html_ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(s + len - n, end, n);
}

/* As folded.c writes them; *len becomes that of the name alone. */
static uint32_t diff_html_kind_of(const char *s, size_t *len)
{
	static const char marker[] = "[stack ends: ";

	if (html_ends_in(s, *len, "_[k]")) {
		*len -= strlen("_[k]");
		return BATCH_FRAME_KERNEL;
	}
	if (*len > sizeof(marker) && !memcmp(s, marker, sizeof(marker) - 1))
		return KIND_MARKER;
	for (uint32_t k = 0; k < BATCH_FRAME__KINDS; k++) {
		const char *shown = frame_kind_info(k)->shown;

		if (shown[0] && *len == strlen(shown) &&
		    !memcmp(s, shown, *len))
			return k;
	}
	return BATCH_FRAME_NATIVE;
}

static void diff_html_put_info(const struct page *p, struct json *j)
{
	const struct folded_tree *t = p->t;

	json_open(j, "info", '{');
	json_open(j, "files", '[');
	for (unsigned int s = 0; s < FOLDED_SIDES; s++)
		json_text(j, NULL, p->files[s]);
	json_close(j, ']');
	json_num(j, "samples", t->samples[1]);
	json_open(j, "base", '{');
	json_num(j, "samples", t->samples[0]);
	json_close(j, '}');
	json_null(j, "account");
	json_close(j, '}');
	json_bool(j, "diff", true);
}

/* Put a name into *text and say what it is; *len as kind_of() leaves it. */
static uint32_t html_note_name(const struct folded_tree *t, uint32_t name,
			       struct buffer *text, size_t *len)
{
	text->len = 0;
	folded_name(t, name, text);
	*len = text->len;
	if (*len)
		return diff_html_kind_of((char *)text->data, len);
	return BATCH_FRAME_NATIVE;
}

static void diff_html_put_label(struct json *j, uint32_t name, uint32_t module,
				uint32_t kind)
{
	json_num(j, NULL, name);
	json_num(j, NULL, module);
	json_num(j, NULL, kind);
}

/* Strings are the names, then an empty one; labels the names as functions,
 * then as processes, where there is a process of that name. */
static void diff_html_put_labels(const struct folded_tree *t,
				 const uint32_t *process, struct json *j)
{
	uint32_t n = t->names_set.n;
	struct buffer name = { 0 };
	size_t len;

	json_line(j);
	json_open(j, "strings", '[');
	for (uint32_t i = 0; i < n; i++) {
		html_note_name(t, i, &name, &len);
		json_chars(j, NULL, name.data, len);
	}
	json_text(j, NULL, "");
	json_close(j, ']');
	json_line(j);
	json_open(j, "labels", '[');
	for (uint32_t i = 0; i < n; i++)
		diff_html_put_label(j, i, n, html_note_name(t, i, &name, &len));
	for (uint32_t i = 0; i < n; i++) {
		if (process[i])
			diff_html_put_label(j, i, n, KIND_PROCESS);
	}
	json_close(j, ']');
	if (name.failed)
		j->out->failed = true;
	free(name.data);
}

static void diff_html_put_rows(const struct folded_tree *t,
			       const uint32_t *process, struct json *j)
{
	uint32_t below = 1, depth = 0, i = 0;

	json_line(j);
	json_open(j, "rows", '[');
	while ((i = folded_next(t, i, &depth))) {
		const struct folded_node *node = &t->nodes[i];
		uint32_t label = node->name;

		if (depth == 1)
			label = process[node->name];
		json_num(j, NULL, label);
		json_num(j, NULL, below - depth);
		json_num(j, NULL, node->self[1]);
		json_num(j, NULL, node->self[0]);
		below = depth + 1;
	}
	json_close(j, ']');
}

static int html_put_data(const void *arg, struct buffer *out)
{
	const struct page *p = arg;
	const struct folded_tree *t = p->t;
	uint32_t n = t->names_set.n, next = n, depth = 0, i = 0;
	struct json j = { .out = out };
	uint32_t *process;	/* the label of a process of this name, or 0 */

	process = calloc(n + 1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	while ((i = folded_next(t, i, &depth))) {
		if (depth == 1)
			process[t->nodes[i].name] = 1;
	}
	for (i = 0; i < n; i++) {
		if (process[i])
			process[i] = next++;
	}
	json_open(&j, NULL, '{');
	diff_html_put_info(p, &j);
	diff_html_put_labels(t, process, &j);
	diff_html_put_rows(t, process, &j);
	json_close(&j, '}');
	free(process);
	if (out->failed)
		return -ENOMEM;
	return 0;
}

int diff_encode_html(const struct folded_tree *t, const char *const files[2],
		     struct buffer *out)
{
	const struct page p = { t, files };

	return html_page(html_put_data, &p, out);
}
