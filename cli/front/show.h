/* SPDX-License-Identifier: Apache-2.0 */
/* show - the front, from its plan to the result */
#ifndef CLI_FRONT_SHOW_H
#define CLI_FRONT_SHOW_H

#include <stdbool.h>

#include "cli/config/config.h"
#include "cli/record/target.h"

#define SHOW_SUPERVISOR_FD	3	/* the socket to it */

struct show_terminal {
	int tty;		/* -1: there is none */
	bool nohup;		/* SIGHUP is ignored */
};

/* Call it before signals are set and rights given up. */
void show_note_terminal(struct show_terminal *ret);

/*
 * Make the plan, give up the last rights, run the programs and show progress;
 * plain: with a live page, and progress also where there is no terminal. c: of o,
 * changed by a reload; NULL: there is none.  Returns the exit status: of the
 * recorded command, where there is one, or 0; 1 if profiling failed.
 */
int show(struct options *o, struct target *target, struct config *c, bool plain,
	 const struct show_terminal *terminal);

#endif /* CLI_FRONT_SHOW_H */
