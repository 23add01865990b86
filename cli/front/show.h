/* SPDX-License-Identifier: Apache-2.0 */
/* show - the front's way from its plan to the last word */
#ifndef CLI_FRONT_SHOW_H
#define CLI_FRONT_SHOW_H

#include <stdbool.h>

#include "cli/config/config.h"
#include "cli/record/target.h"

/*
 * Send a plan of what the options and the target say, give up the last rights,
 * and show how it goes; plain: there may be a live page, and progress is
 * printed to what is no terminal too.  c: of o, changed by a reload; NULL:
 * there is none.  Returns the exit status of the front.
 */
int show(struct options *o, struct target *target, struct config *c, bool plain);

#endif /* CLI_FRONT_SHOW_H */
