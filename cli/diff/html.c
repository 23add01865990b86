// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/html.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff/folded_read.h"
#include "common/json.h"
#include "profile/formats/html.h"

struct page {
	const struct folded_tree *t;
	const char *const *files;
};

static bool ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && !memcmp(s + len - n, end, n);
}

/* As folded.c writes them; *len becomes that of the name alone. */
static uint32_t diff_html_kind_of(const char *s, size_t *len)
{
	static const char marker[] = "[stack ends: ";

	if (ends_in(s, *len, "_[k]")) {
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

static void diff_html_put_info(const struct page *p, struct buffer *out)
{
	const struct folded_tree *t = p->t;

	buffer_str(out, "{\"info\":{\"files\":[");
	for (unsigned int s = 0; s < FOLDED_SIDES; s++) {
		buffer_str(out, s ? "," : "");
		json_string(out, p->files[s], strlen(p->files[s]));
	}
	buffer_str(out, "],\"samples\":");
	buffer_num(out, t->samples[1]);
	buffer_str(out, ",\"base\":{\"samples\":");
	buffer_num(out, t->samples[0]);
	buffer_str(out, "},\"account\":null},\"diff\":true");
}

/* Put a name into *text and say what it is; *len as kind_of() leaves it. */
static uint32_t look_at_name(const struct folded_tree *t, uint32_t name,
			     struct buffer *text, size_t *len)
{
	text->len = 0;
	folded_name(t, name, text);
	*len = text->len;
	return *len ? diff_html_kind_of((char *)text->data, len)
		    : BATCH_FRAME_NATIVE;
}

/* Strings are the names, then none at all; labels the names as functions, then
 * as processes, of which those are missing that name none. */
static void diff_html_put_labels(const struct folded_tree *t,
				 const uint32_t *process, struct buffer *out)
{
	uint32_t n = t->names_set.n;
	struct buffer name = { 0 };
	size_t len;

	buffer_str(out, ",\n\"strings\":[");
	for (uint32_t i = 0; i < n; i++) {
		look_at_name(t, i, &name, &len);
		json_string(out, len ? (char *)name.data : "", len);
		buffer_str(out, ",");
	}
	buffer_str(out, "\"\"],\n\"labels\":[");
	for (uint32_t i = 0; i < n; i++) {
		buffer_printf(out, "%s%u,%u,%u", i ? "," : "", i, n,
			    look_at_name(t, i, &name, &len));
	}
	for (uint32_t i = 0; i < n; i++) {
		if (process[i])
			buffer_printf(out, ",%u,%u,%u", i, n, KIND_PROCESS);
	}
	buffer_str(out, "]");
	if (name.failed)
		out->failed = true;
	free(name.data);
}

static void diff_html_put_rows(const struct folded_tree *t,
			       const uint32_t *process, struct buffer *out)
{
	uint32_t below = 1, depth = 0, i = 0;
	const char *comma = "";

	buffer_str(out, ",\n\"rows\":[");
	while ((i = folded_next(t, i, &depth))) {
		const struct folded_node *node = &t->nodes[i];
		uint32_t label = depth == 1 ? process[node->name] : node->name;

		buffer_printf(out, "%s%u,%u,%llu,%llu", comma, label,
			    below - depth, (unsigned long long)node->self[1],
			    (unsigned long long)node->self[0]);
		below = depth + 1;
		comma = ",";
	}
	buffer_str(out, "]}");
}

static int put_data(const void *arg, struct buffer *out)
{
	const struct page *p = arg;
	const struct folded_tree *t = p->t;
	uint32_t n = t->names_set.n, next = n, depth = 0, i = 0;
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
	diff_html_put_info(p, out);
	diff_html_put_labels(t, process, out);
	diff_html_put_rows(t, process, out);
	free(process);
	return out->failed ? -ENOMEM : 0;
}

int diff_encode_html(const struct folded_tree *t, const char *const files[2],
		     struct buffer *out)
{
	const struct page p = { t, files };

	return html_page(put_data, &p, out);
}
