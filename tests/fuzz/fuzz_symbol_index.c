// SPDX-License-Identifier: Apache-2.0
/* A symbol index: what passes finds a name at both ends of each symbol, and
 * none in the gap behind it; its places have names and files, the last one that
 * of the symbol.  What is kept of it is an index that says the same. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/symbols/index_keep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct symbol_index *x, const struct symbol *s,
		 uint64_t off, size_t size)
{
	struct symbol_place at[SYMBOL_DEPTH_MAX];
	uint32_t n = symbols_places(x, off, at);

	if (s->name == SYMBOL_NOTHING) {
		if (n)
			abort();
		return;
	}
	if (!n || n > SYMBOL_DEPTH_MAX)
		abort();
	if (s->name & SYMBOL_RANGE ? n != 1 || at[0].name[0] :
	    at[n - 1].name != x->names + (s->name & ~SYMBOL_MANGLED))
		abort();
	if (at[n - 1].system &&
	    (at[n - 1].system <= at[n - 1].name ||
	     (size_t)(at[n - 1].system - at[n - 1].name) +
	     strlen(at[n - 1].system) >= size))
		abort();
	while (n-- > 0) {
		if (strlen(at[n].name) >= size || strlen(at[n].file) >= size)
			abort();
	}
}

static void keep(const struct symbol_index *x)
{
	static const struct symbol_index none;
	uint64_t *marks = calloc(symbols_slots(x) / 64 + 1, sizeof(*marks));
	struct symbol_index few;
	void *data;
	size_t len;

	for (uint32_t i = 0; i < symbols_slots(x); i++)
		marks[i / 64] |= (uint64_t)(i % 3 != 0) << i % 64;
	if (symbols_keep(&none, x, marks, &data, &len) || symbols_open(data, len, &few))
		abort();
	for (uint32_t i = 0; i < x->n; i++) {
		const struct symbol *s = &x->symbols[i];
		const char *a = symbols_find(x, s->start), *b;

		if ((2 * i + 1) % 3 == 0 || !s->size)
			continue;
		b = symbols_find(&few, s->start);
		if (!a != !b || (a && strcmp(a, b)))
			abort();
	}
	free(data);
	free(marks);
}

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
		const char *want = s->size && !(s->name & SYMBOL_RANGE) ?
			x.names + (s->name & ~SYMBOL_MANGLED) : NULL;

		if (symbols_find(&x, s->start) != want ||
		    (want && (symbols_find(&x, end - 1) != want ||
			      strlen(want) >= size)) ||
		    ((i + 1 == x.n || s[1].start > end) &&
		     symbols_find(&x, end)))
			abort();
		if (s->size) {
			look(&x, s, s->start, size);
			look(&x, s, s->start + s->size / 2, size);
			look(&x, s, end - 1, size);
		}
	}
	keep(&x);
	free(copy);
	return 0;
}
