// SPDX-License-Identifier: Apache-2.0
/* go - what a worker asks of the language */
#include "symbolizerd/runtimes/go/find.h"
#include "symbolizerd/runtimes/go/names.h"
#include "symbolizerd/runtimes/go/rows.h"
#include "symbolizerd/runtimes/runtime.h"

static bool go_find_in(const struct elf_file *f, struct runtime_found *ret)
{
	return go_build_id(f, ret->id, sizeof(ret->id));
}

const struct runtime_ops runtime_go = {
	.find = go_find_in,
	.rows = go_rows,
	.symbols = &go_symbols,
};
