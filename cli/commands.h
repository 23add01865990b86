/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands - the table of trifold's commands and options
 *
 * Parsing and --help are made from it. docs/man/trifold.1 and the completion
 * files (packaging/completion/) are compared with it by
 * tests/install/test_manual.py and test_completion.py.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/config/options.h"

extern const struct command commands[];
extern const size_t commands_n;

/* By name, internal ones too, or NULL. */
const struct command *commands_find(const char *name);

/* The known command that is most like name, or NULL. */
const char *commands_like(const char *name);

#endif /* CLI_COMMANDS_H */
