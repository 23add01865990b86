/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff - `trifold diff A B`: where two recordings differ
 *
 * A and B are .otlp files, which become folded stacks by way of convert.h, or
 * folded stacks (folded_read.h), from files or pipes.  Needs no privilege; under sudo, the
 * user who called it opens all.  Both are read, and the output made, by the child of
 * foreign.h.  Output is a table, one JSON object, or with --output a file: the page with a
 * flame graph in two colours (diff_html.h), or folded stacks with two numbers, "stack a b", as difffolded.pl of
 * github.com/brendangregg/FlameGraph writes them and its flamegraph.pl reads.
 */
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include "cli/config/options.h"

#define DIFF_LIMIT	30	/* functions shown, unless told otherwise */
#define DIFF_LIMIT_MAX	1000000

/* The subcommand: 0, 1 (a file cannot be read, is none, or cannot be
 * written), EXIT_USAGE. */
int diff_run(const struct options *o);

#endif /* CLI_DIFF_DIFF_H */
