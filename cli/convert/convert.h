/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert - `trifold convert FILE OUT`: a recording in another format
 *
 * FILE is folded stacks or an OTLP request, by the ending of its name, else (standard
 * input, "-", and pipes) by its first bytes; what is written are the formats that
 * `record` writes, to a file or to standard output.  Needs no privilege; under sudo, the
 * user who called it opens both.  FILE is read by the child of foreign.h.
 */
#ifndef CLI_CONVERT_CONVERT_H
#define CLI_CONVERT_CONVERT_H

#include "cli/config/options.h"
#include "cli/convert/foreign.h"
#include "common/buffer.h"

/* The subcommand: 0; 1: FILE cannot be read or OUT not be written; EXIT_USAGE. */
int convert_run(const struct options *o);

/*
 * The bytes of a recording as folded stacks (profile/formats/folded.h), with names as o
 * says: what is no OTLP request is as it was.  Only in the child of foreign.h.  0, or
 * another value after a line in the log; ret: empty before, its data the caller's to free.
 */
int convert_to_folded(const struct foreign *f, const struct options *o, bool lines,
		      struct buffer *ret);

#endif /* CLI_CONVERT_CONVERT_H */
