/* SPDX-License-Identifier: Apache-2.0 */
/* check_config - `trifold check-config`, see docs/CONFIG.md */
#ifndef CLI_CHECK_CONFIG_H
#define CLI_CHECK_CONFIG_H

#include "cli/options.h"

/* Returns the exit status: 0, or EXIT_USAGE for a file with mistakes. */
int check_config_run(const struct options *o);

#endif /* CLI_CHECK_CONFIG_H */
