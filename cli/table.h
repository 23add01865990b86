/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - `trifold table FILE`: what our unwind table says of a file
 *
 * Only opens it; the parser is symbolizerd's, confined as a worker is.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "cli/config/options.h"

/* Returns the exit status, or never: this process becomes the other. */
int table_run(const struct options *o);

#endif /* CLI_TABLE_H */
