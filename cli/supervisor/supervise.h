/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - `trifold run` and `trifold record`: the three daemons without
 * systemd, exactly as its units would have them
 *
 * Root.  Therefore: interprets nothing but fixed-size counters, exit statuses
 * and log lines (whose bytes are only printed, escaped).  Sockets are made
 * once and outlive symbolizerd.  A daemon that dies is started again after
 * 0.1 s, doubling to 5 s, from 0.1 s again once one has lived for 10 s.
 *
 * The end, whatever brings it about (a signal, --duration, the command's
 * end), goes with the stream, so that nothing is lost: loaderd stops sampling
 * and hands over its rest, symbolizerd hands over its last batch and waits for
 * what becomes of it, exporterd ends, the recorder writes.
 */
#ifndef CLI_SUPERVISOR_SUPERVISE_H
#define CLI_SUPERVISOR_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/config/config.h"
#include "cli/config/options.h"
#include "cli/record/target.h"

/*
 * Profile what the options and the target say; plain: print progress to what is
 * no terminal too.  c: what SIGHUP reads again (reload.h), with o; NULL: SIGHUP
 * ends.  Returns the exit status: of o->rest, where there is a command, or 0;
 * 1 if profiling failed.
 */
int supervise(struct options *o, struct target *target, struct config *c,
	      bool plain);

#endif /* CLI_SUPERVISOR_SUPERVISE_H */
