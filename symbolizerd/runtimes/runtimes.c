// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/runtimes.h"

#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/table.h"

void runtimes_detect(const struct elf_file *f, struct runtime_facts *ret)
{
	for (size_t i = 0; i < runtimes_table_n; i++) {
		memset(ret, 0, sizeof(*ret));
		if (runtimes_table[i].detect(f, ret->id, sizeof(ret->id))) {
			ret->runtime = runtimes_table[i].number;
			ret->unknown = runtimes_table[i].version_known &&
				       !runtimes_table[i].version_known(f);
			return;
		}
	}
	memset(ret, 0, sizeof(*ret));
}

int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < runtimes_table_n && !r; i++) {
		if (runtimes_table[i].rows)
			r = runtimes_table[i].rows(f, fn, ctx);
	}
	return r;
}

const struct symbol_source *runtimes_symbols(size_t n)
{
	for (size_t i = 0; i < runtimes_table_n; i++) {
		if (!runtimes_table[i].symbols)
			continue;
		if (!n)
			return runtimes_table[i].symbols;
		n--;
	}
	return NULL;
}

int runtimes_names(uint32_t runtime, struct process_memory *m,
		   const uint64_t *words, size_t n,
		   struct frame_names_build *out)
{
	for (size_t i = 0; i < runtimes_table_n; i++) {
		const struct runtime_ops *ops = &runtimes_table[i];

		if (ops->number == runtime && ops->names)
			return ops->names(m, words, n, out);
	}
	return JOB_NO_NAMES;
}
