// SPDX-License-Identifier: Apache-2.0
/* Names of frames: the first byte says of how many, and what passes has one to
 * SYMBOL_DEPTH_MAX places of each, with strings inside. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/symbols/frame_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct frame_names *x, uint32_t frames, size_t size)
{
	uint32_t count[256] = { 0 };

	for (uint32_t i = 0; i < x->n; i++) {
		struct symbol_place p = frame_names_place(x, i);

		if (x->v[i].frame >= frames || strlen(p.name) >= size ||
		    strlen(p.file) >= size)
			abort();
		count[x->v[i].frame]++;
	}
	for (uint32_t i = 0; i < frames; i++) {
		if (!count[i] || count[i] > SYMBOL_DEPTH_MAX)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_names x;
	void *copy;

	if (!size)
		return 0;
	copy = malloc(size);
	memcpy(copy, data + 1, size - 1);
	if (!frame_names_open(copy, size - 1, data[0], &x))
		look(&x, data[0], size);
	free(copy);
	return 0;
}
