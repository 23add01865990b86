/* SPDX-License-Identifier: Apache-2.0 */
/* output - which file a recording goes to, in which format */
#ifndef CLI_RECORD_OUTPUT_H
#define CLI_RECORD_OUTPUT_H

#include <stdbool.h>

#include "cli/config/options.h"

#define RUN_OUTPUT	"trifold.html"	/* of `run` without a receiver */
#define RECORD_OUTPUT	"trifold.html"
/* exit status, as a shell has it */
#define OUTPUT_NO_RIGHT		126
#define OUTPUT_NO_COMMAND	127

/* Settle the format by --format or by the file's ending; false: there is none,
 * said in the log. */
bool output_settle_format(struct options *o, const char *command);

/* Do the options of `record` fit together, and is there such a command?  Fills in
 * what was not given.  0, EXIT_USAGE or OUTPUT_NO_* after a line in the log. */
int output_check(struct options *o);

#endif /* CLI_RECORD_OUTPUT_H */
