// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/table.h"

#include "symbolizerd/runtimes/go/find.h"
#include "symbolizerd/runtimes/go/names.h"
#include "symbolizerd/runtimes/go/rows.h"
#include "symbolizerd/runtimes/hotspot/find.h"
#include "symbolizerd/runtimes/hotspot/names.h"
#include "symbolizerd/runtimes/python/find.h"

const struct runtime_ops runtimes_table[] = {
	/* Go is compiled: nothing of it runs in the kernel, its frames are
	 * native ones by rules made of pclntab */
	{
		.number = RUNTIME_GO,
		.detect = go_build_id,
		.rows = go_rows,
		.symbols = &go_symbols,
	},
	/* CPython: the sampler walks its frames and sends their names */
	{
		.number = RUNTIME_PYTHON,
		.detect = python_detect,
		.version_known = python_version_known,
		.rows = python_rows,
	},
	/* HotSpot: the sampler walks the frames of compiled and interpreted
	 * code, which lie in no file, and sends their names; those that it
	 * could not read a visit to the process reads */
	{
		.number = RUNTIME_HOTSPOT,
		.detect = hotspot_detect,
		.version_known = hotspot_version_known,
		.rows = hotspot_rows,
		.names = hotspot_names,
	},
};

const size_t runtimes_table_n =
	sizeof(runtimes_table) / sizeof(runtimes_table[0]);
