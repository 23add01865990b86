/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - start the programs, watch them, start them again, end them
 *
 * Root, therefore: reads only plans that it checks (plan.h), READY=1 from its
 * own children, and exit statuses.  Sockets are made once and outlive
 * symbolizerd.  A daemon that dies is started again after 0.1 s, doubling to
 * 5 s, from 0.1 s again once one has lived for 10 s; three deaths before one
 * was ever ready, and the recording fails.
 *
 * The end, whatever brings it about (a signal, --duration, the command's
 * end), goes with the stream, so that nothing is lost: loaderd stops sampling
 * and hands over its rest, symbolizerd hands over its last batch and waits for
 * what becomes of it, exporterd ends, the recorder writes, the front says the
 * last word.  A second signal ends all at once.
 *
 * SIGHUP, where the plan has PLAN_RELOAD: another front reads the configuration
 * again and gives the front what it says, which sends another plan.  What only
 * exporterd or only loaderd obeys takes effect by another one in its place:
 *
 *  - exporterd ends by SIGHUP: it finishes the request under way, and the hub
 *    gives its successor whatever has no answer.  Nothing is lost.
 *  - loaderd ends by SIGTERM: it hands over all that the kernel took.  Nothing
 *    is lost; until its successor samples, no samples are taken.
 */
#ifndef CLI_SUPERVISOR_SUPERVISE_H
#define CLI_SUPERVISOR_SUPERVISE_H

#include <stdint.h>

/*
 * argv: PATH-OF-TRIFOLD COMMAND [ARG]..., NULL-terminated.  Returns the exit
 * status: of the recorded command, where there is one, or 0; 1 if profiling
 * failed; that of the front where it ended without a plan.
 */
int supervise(char **argv);

/*
 * How long to wait before a daemon is started again, ns; *backoff (0 at first)
 * is the wait before the last start, lived_ns how long it ran since.
 */
uint64_t supervise_backoff(uint64_t *backoff, uint64_t lived_ns);

#endif /* CLI_SUPERVISOR_SUPERVISE_H */
