// SPDX-License-Identifier: Apache-2.0
/* Pieces of code with their lines: the first byte says for how many offsets; what passes has
 * at each offset at most SYMBOL_DEPTH_MAX functions, with strings inside. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/symbols/line_codes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct line_codes *x, const struct line_at *ats, uint32_t at, size_t size)
{
	uint32_t depth = 0;

	for (; at != LINE_NONE; at = ats[at].outer) {
		struct symbol_place p = line_codes_function(x, ats[at].function);

		depth++;
		if (depth > SYMBOL_DEPTH_MAX || strlen(p.name) >= size || strlen(p.file) >= size)
			abort();
	}
}

static void look(const struct line_codes *x, size_t size)
{
	const struct line_segment *segments = x->segments;
	const struct line_at *ats = x->ats;

	for (uint32_t i = 0; i < x->hdr.codes; i++) {
		const struct line_code *c = &x->codes[i];

		for (uint32_t k = 0; k < c->segments; k++) {
			if (segments[k].begin >= c->len ||
			    line_codes_segment(segments, c->segments, segments[k].begin) != k)
				abort();
			look_at(x, ats, segments[k].at, size);
		}
		segments += c->segments;
		ats += c->ats;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_codes x;
	void *copy;

	if (!size)
		return 0;
	copy = malloc(size);
	memcpy(copy, data + 1, size - 1);
	if (!line_codes_open(copy, size - 1, data[0], &x))
		look(&x, size);
	free(copy);
	return 0;
}
