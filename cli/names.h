/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - `trifold names FILE [ADDRESS...]`: what profiles call the functions there
 *
 * Only opens files; the parser is symbolizerd's, confined as a worker is.
 */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/config/options.h"

/* Returns the exit status, or never: this process becomes the other. */
int names_run(const struct options *o);

#endif /* CLI_NAMES_H */
