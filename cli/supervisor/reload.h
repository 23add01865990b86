/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload - SIGHUP: the configuration is read again while trifold runs
 *
 * Nothing changes unless all of the file is right.  What only exporterd or
 * only loaderd obeys takes effect by another one in its place:
 *
 *  - exporterd ends by SIGHUP: it finishes the request under way, and the hub
 *    gives its successor whatever has no answer.  Nothing is lost.
 *  - loaderd ends by SIGTERM: it hands over all that the kernel took.  Nothing
 *    is lost; until its successor samples, no samples are taken.
 *
 * The rest is named in the log and waits for the next start.
 */
#ifndef CLI_SUPERVISOR_RELOAD_H
#define CLI_SUPERVISOR_RELOAD_H

#include <stdbool.h>

#include "cli/config/config.h"
#include "cli/record/console.h"
#include "cli/supervisor/daemons.h"

#define RELOAD_END_NS	8000000000ULL	/* for a daemon to end, then SIGKILL */

/*
 * Read the file again as o's options say.  o, and the configuration that it
 * names, are changed if there is no mistake.  now: the configuration that o
 * names; it must outlive o.  Returns what must be replaced: a sum of
 * 1 << DAEMON_*.
 */
unsigned int reload(struct options *o, struct config *now, struct console *c);

/* A signal to end this daemon in good order, since a successor comes. */
int reload_signal(enum daemon_id id);

/* Is there a controlling terminal?  SIGHUP is also how one goes. */
bool reload_has_terminal(void);

#endif /* CLI_SUPERVISOR_RELOAD_H */
