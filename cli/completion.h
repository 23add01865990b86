/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion - `trifold completion SHELL`: what a shell is to complete
 *
 * Writes one of the files in packaging/completion/ to standard output.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/config/options.h"

/* The subcommand: 0; 1 when it cannot be written; EXIT_USAGE. */
int completion_run(const struct options *o);

#endif /* CLI_COMPLETION_H */
