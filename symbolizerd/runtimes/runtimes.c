// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/runtimes.h"

#include <string.h>

#include "symbolizerd/runtimes/go/go.h"

static const struct runtime_ops *const runtimes[] = {
	&go_ops,
};
#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

void runtimes_detect(const struct elf_file *f, struct runtime_facts *ret)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		memset(ret, 0, sizeof(*ret));
		if (runtimes[i]->detect(f, ret)) {
			ret->runtime = runtimes[i]->number;
			return;
		}
	}
	memset(ret, 0, sizeof(*ret));
}

int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < RUNTIMES && !r; i++) {
		if (runtimes[i]->rows)
			r = runtimes[i]->rows(f, fn, ctx);
	}
	return r;
}

const struct symbol_source *runtimes_symbols(size_t n)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		if (runtimes[i]->symbols && !n--)
			return runtimes[i]->symbols;
	}
	return NULL;
}
