/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_env - what the file says, as variables for exporterd
 *
 * In its environment and not as arguments: headers are secrets, and everybody
 * can read the arguments of a process.
 */
#ifndef CLI_CONFIG_ENV_H
#define CLI_CONFIG_ENV_H

#include <stdbool.h>

#include "cli/config/values.h"

/*
 * Number the further receivers, from the lowest N of which our environment has
 * no TRIFOLD_EXPORTER_<N>_*.  Returns the first that got none, or NULL.
 */
const struct config_more *config_env_number(struct config *c);

/* Fill in c->env: only what the file says; exporterd finds the variables that
 * win over it in its own environment.  0 or -ENOMEM. */
int config_env_make(struct config *c);

/* Do options, environment or file say where to send profiles? */
bool config_env_network(const struct config *c);
/* ... or the environment where to send metrics? */
bool config_env_export(const struct config *c);

/* Are debuginfod servers to be asked?  c: NULL, there is no configuration. */
bool config_env_debuginfod(const struct config *c);

#endif /* CLI_CONFIG_ENV_H */
