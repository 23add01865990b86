// SPDX-License-Identifier: Apache-2.0
/* A symbol index: what passes finds a name at both ends of each symbol, and
 * none in the gap behind it. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/symbols/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1);
	struct symbol_index x = { .n = 0 };

	memcpy(copy, data, size);
	if (symbols_open(copy, size, &x))
		x.n = 0;
	for (uint32_t i = 0; i < x.n; i++) {
		const struct symbol *s = &x.symbols[i];
		uint64_t end = s->start + s->size;
		const char *want = s->size ? x.names + s->name : NULL;

		if (symbols_find(&x, s->start) != want ||
		    (want && (symbols_find(&x, end - 1) != want ||
			      strlen(want) >= size)) ||
		    ((i + 1 == x.n || s[1].start > end) &&
		     symbols_find(&x, end)))
			abort();
	}
	free(copy);
	return 0;
}
