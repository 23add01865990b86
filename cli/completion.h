/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion - `trifold completion SHELL`: what a shell is to complete
 *
 * Written to standard output, made of the table in commands.h: commands, their
 * options, the formats, files and directories for values that are called FILE
 * and DIR, and the commands of the system behind "--".  Other values (numbers,
 * addresses) have nothing to offer.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/config/options.h"

#define SHELLS	"bash zsh fish"

/* The subcommand: 0; 1 when it cannot be written; EXIT_USAGE. */
int completion_run(const struct options *o);

#endif /* CLI_COMPLETION_H */
