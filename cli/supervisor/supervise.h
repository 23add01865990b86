/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - start the front's programs, and end what it leaves
 *
 * Runs as root, and therefore reads nothing but what the front may ask (ask.h) and exit
 * statuses.  When to start, restart and end which program the front decides
 * (cli/front/phases.h); it is told which programs have ended, and which signals came.
 *
 * When the front ends, so does trifold.  What still runs then gets SIGTERM, then
 * SIGKILL; so do all programs when the front is killed or sends an invalid message.
 * A front that does not end within some seconds of a second SIGINT, SIGTERM or
 * SIGQUIT is killed.
 */
#ifndef CLI_SUPERVISOR_SUPERVISE_H
#define CLI_SUPERVISOR_SUPERVISE_H

/*
 * argv: PATH-OF-TRIFOLD COMMAND [ARG]..., NULL-terminated.  Returns the exit
 * status of the front; 1 if it was killed, or left programs running.
 */
int supervise(char **argv);

#endif /* CLI_SUPERVISOR_SUPERVISE_H */
