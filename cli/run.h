/* SPDX-License-Identifier: Apache-2.0 */
/* run - the subcommands run, record and status; they return the exit status */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/config/options.h"

/* In a front (front.h); in any other process they only print what is missing. */
int run_run(const struct options *o);
int run_record(const struct options *o);

/* `record` beside a running trifold, which main() found. */
int run_attach(const struct options *o);

int run_status(const struct options *o);

#endif /* CLI_RUN_H */
