// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/folded.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/tree.h"

void folded_text(struct buffer *out, const char *s, size_t len)
{
	size_t at = out->len;

	buffer_utf8(out, s, len);
	for (; at < out->len && !out->failed; at++) {
		uint8_t *c = &out->data[at];

		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
		else if (*c == ';')
			*c = ':';
		/* U+0080 to U+009F are c2 80 to c2 9f */
		else if (*c == 0xc2 && at + 1 < out->len && c[1] < 0xa0)
			c[0] = c[1] = '?';
	}
}

static void folded_put_name(const struct tree *t, const struct tree_row *row,
			    bool inlined, struct buffer *out)
{
	const struct tree_label *l = &t->labels[row->label];

	folded_text(out, t->text + l->name, l->name_len);
	if (frame_kind_class(l->kind) == FRAMES_KERNEL)
		buffer_str(out, "_[k]");
	else if (inlined && row->marks & PROFILE_INLINED)
		buffer_str(out, "_[i]");
}

int folded_encode(const struct batch *b, const struct profile_info *info,
		  struct buffer *out)
{
	struct buffer line = { 0 };
	size_t *ends;	/* by depth: where in line its name ends */
	struct tree t;
	int r;

	r = tree_build_as(&t, b, &(struct tree_how){ .lines = info && info->lines });
	if (r)
		return r;
	ends = calloc(t.levels + 1, sizeof(*ends));
	for (uint32_t i = 0; i < t.n_rows && ends; i++) {
		const struct tree_row *row = &t.rows[i];

		line.len = 0;
		if (row->depth) {
			line.len = ends[row->depth - 1];
			buffer_add(&line, ";", 1);
		}
		folded_put_name(&t, row, info && info->inlined, &line);
		ends[row->depth] = line.len;
		if (!row->self)
			continue;
		buffer_add(out, line.data, line.len);
		buffer_add(out, " ", 1);
		buffer_num(out, row->self);
		buffer_add(out, "\n", 1);
	}
	r = !ends || line.failed || out->failed ? -ENOMEM : 0;
	free(ends);
	free(line.data);
	tree_fini(&t);
	return r;
}
