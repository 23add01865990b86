/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot - `trifold snapshot`: what the unwinder reads of a process, in a file */
#ifndef CLI_SNAPSHOT_SNAPSHOT_H
#define CLI_SNAPSHOT_SNAPSHOT_H

#include "cli/config/options.h"

int snapshot_run(const struct options *o);

#endif /* CLI_SNAPSHOT_SNAPSHOT_H */
