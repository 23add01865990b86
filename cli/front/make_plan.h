/* SPDX-License-Identifier: Apache-2.0 */
/* make_plan - what options, target and configuration mean for each program */
#ifndef CLI_FRONT_MAKE_PLAN_H
#define CLI_FRONT_MAKE_PLAN_H

#include "cli/config/config.h"
#include "cli/front/live_page.h"
#include "cli/record/plan.h"
#include "cli/record/target.h"

/* Fill in p.  network: exporterd may send.  0, or -E2BIG
 * after a line in the log. */
int make_plan(struct plan *p, const struct options *o,
	      const struct target *target, const struct live_page *page,
	      bool network);

/* The part of make_plan() that is about the daemons alone. */
void make_plan_daemons(struct plan *p, const struct options *o,
		       const struct target *target, bool network);

#endif /* CLI_FRONT_MAKE_PLAN_H */
