/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_env - the file's values as variables for exporterd
 *
 * They are passed by environment, not as arguments: headers are secrets, and any
 * user can read the arguments of a process.
 */
#ifndef CLI_CONFIG_ENV_H
#define CLI_CONFIG_ENV_H

#include <stdbool.h>

#include "cli/config/values.h"

/*
 * Number the additional receivers, starting at the lowest N for which the
 * environment has no TRIFOLD_EXPORTER_<N>_*.  Returns the first one without a
 * number, or NULL.
 */
const struct config_more *config_env_number(struct config *c);

/* Fill in c->env: only values of the file; exporterd finds variables that
 * override them in its own environment.  0 or -ENOMEM. */
int config_env_make(struct config *c);

/* Does an option, the environment or the file name a receiver of profiles? */
bool config_env_network(const struct config *c);
/* ... or the environment a receiver of metrics? */
bool config_env_export(const struct config *c);

/* Are debuginfod servers to be asked?  c: NULL, there is no configuration. */
bool config_env_debuginfod(const struct config *c);

#endif /* CLI_CONFIG_ENV_H */
