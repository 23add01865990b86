// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include "cli/parser.h"
#include "common/log.h"

int table_run(const struct options *o)
{
	char show[] = "--show-table", *const words[] = { show };

	if (!o->file) {
		log_err("table needs a FILE; see `trifold table --help`");
		return EXIT_USAGE;
	}
	if (parser_take(o->file))
		return 1;
	return parser_become(o, words, 1);
}
