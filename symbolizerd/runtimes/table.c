// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/table.h"

#include "symbolizerd/runtimes/go/find.h"
#include "symbolizerd/runtimes/go/names.h"
#include "symbolizerd/runtimes/go/rows.h"
#include "symbolizerd/runtimes/hotspot/find.h"
#include "symbolizerd/runtimes/hotspot/names.h"
#include "symbolizerd/runtimes/python/find.h"

const struct runtime_ops runtimes_table[] = {
	/* Go is compiled: its frames are native ones, by rules from pclntab */
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
	 * code, which is in no file, and sends their names; a visit to the
	 * process reads those that the sampler could not */
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
