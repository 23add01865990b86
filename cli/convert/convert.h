/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert - `trifold convert FILE OUT`: a recording in another format
 *
 * FILE is folded stacks or an OTLP request, by the ending of its name, else (standard
 * input, "-", and pipes) by its first bytes; what is written are the formats that
 * `record` writes, to a file or to standard output.  Needs no privilege.  FILE is read by a child that holds it
 * and the new file, and cannot open or connect, and is not root: the author of
 * FILE is unknown.
 */
#ifndef CLI_CONVERT_CONVERT_H
#define CLI_CONVERT_CONVERT_H

#include "cli/config/options.h"

/* The subcommand: 0; 1: FILE cannot be read or OUT not be written; EXIT_USAGE. */
int convert_run(const struct options *o);

/*
 * An .otlp file as folded stacks (profile/formats/folded.h) into the descriptor
 * out; with names as o says.  A file whose name does not tell, and which is none, is
 * copied.  0, or another value after a line in the log.
 */
int convert_to_folded(const char *path, const struct options *o, bool lines,
		      int out);

#endif /* CLI_CONVERT_CONVERT_H */
