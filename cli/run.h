/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run - the commands that people type
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/config/options.h"

#define RUN_OUTPUT	"trifold.html"	/* of `run` with nowhere to send to */
#define RECORD_OUTPUT	"trifold.html"

/* Each returns the exit status. */
int run_run(const struct options *o);
int run_record(const struct options *o);
int run_status(const struct options *o);

#endif /* CLI_RUN_H */
