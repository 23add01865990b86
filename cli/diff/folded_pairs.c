// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/folded_pairs.h"

#include <errno.h>
#include <stdlib.h>

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
