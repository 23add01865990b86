/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front - the unprivileged part of `trifold run` and `trifold record`
 *
 * A process of its own, without root, started by trifold-supervisor as `trifold
 * front UID COMMAND ...` with one descriptor, a socket to it.  It reads arguments
 * and configuration, gives up its remaining rights, has the programs started,
 * restarted and ended (phases.h, by orders.h), and shows log lines, progress and
 * the result.  Its exit status is that of trifold.
 *
 * `trifold reader UID run ...` is another one: it reads the configuration
 * again, gives it to the front over its one socket, and ends.
 */
#ifndef CLI_FRONT_FRONT_H
#define CLI_FRONT_FRONT_H

#include <stdbool.h>

#include "cli/config/options.h"
#include "cli/front/show.h"

struct front {
	bool reader;
	struct show_terminal terminal;
};

/* If argv names a front, become one and drop root: true. */
bool front_begin(int argc, char **argv, struct front *ret);

/* The commands, given .front; they return its exit status. daemons: only start them
 * and show nothing (`trifold top`). */
int front_run(const struct options *given);
int front_record(const struct options *given);
int front_daemons(const struct options *given);

#endif /* CLI_FRONT_FRONT_H */
