/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front - all of `trifold run` and `trifold record` that is not the supervisor
 *
 * A process of its own, without root, started by trifold-supervisor as
 * `trifold front UID COMMAND ...` with one descriptor, a socket to it.  It reads
 * arguments and configuration, gives up what rights it has left, has the
 * programs started, restarted and ended (phases.h, by orders.h), and shows log
 * lines, progress and the last word.  Its exit status is that of all.
 *
 * `trifold reader UID run ...` is another one: it reads the configuration
 * again, gives it to the front over its one socket, and ends.
 */
#ifndef CLI_FRONT_FRONT_H
#define CLI_FRONT_FRONT_H

#include <stdbool.h>

#include "cli/config/options.h"

/* Be one, if argv says so: drop root.  1: we are; 0: we are not; -1: it
 * failed, said in the log. */
int front_begin(int argc, char **argv);

/* Was that so? */
bool front_begun(void);

/* The commands, in a front; they return its exit status.  daemons: only start
 * them, without a word (`trifold top`). */
int front_run(const struct options *given);
int front_record(const struct options *given);
int front_daemons(const struct options *given);

#endif /* CLI_FRONT_FRONT_H */
