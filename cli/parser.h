/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser - commands that show what is in a file
 *
 * `trifold` only opens it; the parser is symbolizerd's, confined as a worker is,
 * with the file as standard input.
 */
#ifndef CLI_PARSER_H
#define CLI_PARSER_H

#include "cli/config/options.h"

/* Open a regular file for reading as standard input.  0 or -1, said. */
int parser_take(const char *path);

/* Become symbolizerd with these n words, then user and group (of root: the hub's),
 * then o->at.  Returns the exit status if that failed, said. */
int parser_become(const struct options *o, char *const *words, uint32_t n);

#endif /* CLI_PARSER_H */
