// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/runtimes.h"

#include <string.h>

#include "symbolizerd/runtimes/go/detect.h"
#include "symbolizerd/runtimes/go/names.h"
#include "symbolizerd/runtimes/go/rows.h"

static const struct runtime_ops runtimes[] = {
	/* Go is compiled: nothing of it runs in the kernel, its frames are
	 * native ones by rules made of pclntab */
	{
		.number = RUNTIME_GO,
		.detect = go_build_id,
		.rows = go_rows,
		.symbols = &go_symbols,
	},
};
#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

void runtimes_detect(const struct elf_file *f, struct runtime_facts *ret)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		memset(ret, 0, sizeof(*ret));
		if (runtimes[i].detect(f, ret->id, sizeof(ret->id))) {
			ret->runtime = runtimes[i].number;
			return;
		}
	}
	memset(ret, 0, sizeof(*ret));
}

int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < RUNTIMES && !r; i++) {
		if (runtimes[i].rows)
			r = runtimes[i].rows(f, fn, ctx);
	}
	return r;
}

const struct symbol_source *runtimes_symbols(size_t n)
{
	for (size_t i = 0; i < RUNTIMES; i++) {
		if (runtimes[i].symbols && !n--)
			return runtimes[i].symbols;
	}
	return NULL;
}
