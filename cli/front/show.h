/* SPDX-License-Identifier: Apache-2.0 */
/* show - the front's way from its plan to the last word */
#ifndef CLI_FRONT_SHOW_H
#define CLI_FRONT_SHOW_H

#include <stdbool.h>

#include "cli/config/config.h"
#include "cli/record/target.h"

#define SHOW_SUPERVISOR_FD	3	/* the socket to it */

/* Remember the terminal, and whether SIGHUP is ignored: before signals are set
 * and rights given up. */
void show_note_terminal(void);

/*
 * Plan what the options and the target say, give up the last rights, have it
 * done and show how it goes; plain: there may be a live page, and progress is
 * printed to what is no terminal too.  c: of o, changed by a reload; NULL:
 * there is none.  Returns the exit status: of the recorded command, where there
 * is one, or 0; 1 if profiling failed.
 */
int show(struct options *o, struct target *target, struct config *c, bool plain);

#endif /* CLI_FRONT_SHOW_H */
