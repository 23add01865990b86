// SPDX-License-Identifier: Apache-2.0
/*
 * Folded stacks in two files: what is taken adds up, a sorted tree is walked
 * once from end to end, and no name brings a control character.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/folded_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void look(struct folded_tree *t)
{
	uint64_t self[FOLDED_SIDES] = { 0 };
	uint32_t depth = 0, i = 0, n = 0;
	struct buffer out = { 0 };

	while ((i = folded_next(t, i, &depth))) {
		require(t->nodes[i].parent < i && depth <= FOLDED_DEPTH_MAX);
		require(t->nodes[i].name < t->names_set.n);
		self[0] += t->nodes[i].self[0];
		self[1] += t->nodes[i].self[1];
		n++;
	}
	require(!depth && n == t->nodes_set.n);
	require(self[0] == t->samples[0] && self[1] == t->samples[1]);
	for (i = 0; i < t->names_set.n; i++)
		folded_name(t, i, &out);
	for (size_t k = 0; k < out.len; k++)
		require(out.data[k] >= 0x20 && out.data[k] != 0x7f);
	free(out.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first = size ? data[0] * (size - 1) / 255 : 0;
	struct folded_mistake m = { 0, NULL };
	struct folded_tree t;
	char *copy[FOLDED_SIDES];
	size_t len[FOLDED_SIDES] = { first, size ? size - 1 - first : 0 };

	require(!folded_init(&t));
	for (unsigned int s = 0; s < FOLDED_SIDES; s++) {
		int r;

		copy[s] = malloc(len[s] ? len[s] : 1);
		memcpy(copy[s], data + (size ? 1 : 0) + (s ? first : 0), len[s]);
		r = folded_read(&t, s, copy[s], len[s], &m);
		require(r == 0 || (r == 1 && m.line && m.what));
		free(copy[s]);
	}
	require(!folded_sort(&t));
	look(&t);
	folded_fini(&t);
	return 0;
}
