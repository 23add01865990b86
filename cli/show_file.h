/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_file - `trifold table` and `trifold names`: what is in a file
 *
 * `trifold` only opens the file and those of its split DWARF.  The parser is
 * symbolizerd's, confined as a worker is, with the file as standard input.  A package
 * has a name that is known beforehand; .dwo files are named in the DWARF, so the
 * parser asks for them over a socket.
 */
#ifndef CLI_SHOW_FILE_H
#define CLI_SHOW_FILE_H

#include "cli/config/options.h"

/* Return the exit status, or never: this process becomes symbolizerd. */
int show_file_table(const struct options *o);
int show_file_names(const struct options *o);

#endif /* CLI_SHOW_FILE_H */
