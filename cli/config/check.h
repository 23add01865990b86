/* SPDX-License-Identifier: Apache-2.0 */
/* check_config - `trifold check-config`, see docs/CONFIG.md */
#ifndef CLI_CONFIG_CHECK_H
#define CLI_CONFIG_CHECK_H

#include "cli/config/options.h"

/* Returns the exit status: 0, or EXIT_USAGE for a file with mistakes. */
int check_config_run(const struct options *o);

#endif /* CLI_CONFIG_CHECK_H */
