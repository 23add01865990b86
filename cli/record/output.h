/* SPDX-License-Identifier: Apache-2.0 */
/* output - the file and format of a recording */
#ifndef CLI_RECORD_OUTPUT_H
#define CLI_RECORD_OUTPUT_H

#include <stdbool.h>

#include "cli/config/options.h"

#define RUN_OUTPUT	"trifold.html"	/* of `run` without a receiver */
#define RECORD_OUTPUT	"trifold.html"
/* exit status, as a shell has it */
#define OUTPUT_NO_RIGHT		126
#define OUTPUT_NO_COMMAND	127

/* Settle the format by --format or by the file's ending; false, after a line in
 * the log: there is none. */
bool output_settle_format(struct options *o, const char *command);

/* Check that the options of `record` fit together and that its command exists.
 * Fills in defaults.  0, EXIT_USAGE or OUTPUT_NO_* after a line in the log. */
int output_check(struct options *o);

#endif /* CLI_RECORD_OUTPUT_H */
