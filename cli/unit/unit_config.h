/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit_config - `trifold unit-config DIR`: the daemons' words for systemd's units
 *
 * trifold-config.service runs it as a user of its own, which can do nothing
 * else.  It reads the configuration, so that no daemon has to.  Each daemon's
 * file in DIR has its options and variables, a line each. trifold-start
 * (cli/start) reads them, and takes only words of its list.
 */
#ifndef CLI_UNIT_UNIT_CONFIG_H
#define CLI_UNIT_UNIT_CONFIG_H

#include "cli/config/options.h"

/*
 * o->file: the directory.  With a mistake in the configuration no file changes.
 * Secrets are refused: any user may read the files (headers_file is for them).
 * Returns the exit status: 0; 1; 2 after lines about mistakes.
 */
int unit_config_run(const struct options *o);

#endif /* CLI_UNIT_UNIT_CONFIG_H */
