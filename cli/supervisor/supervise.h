/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervise - have the front's programs started, and end what it leaves
 *
 * Root, therefore: it reads what the front may ask (ask.h), and exit statuses.
 * When to start, restart and end which program is the front's business
 * (cli/front/phases.h); it is told who died, and which signals came.
 *
 * The front's end is the end.  Whatever still runs then, and all others too
 * when the front is killed or asks for what it must not, gets SIGTERM, then
 * SIGKILL.  A front that does not end within some seconds of a second SIGINT,
 * SIGTERM or SIGQUIT is killed.
 */
#ifndef CLI_SUPERVISOR_SUPERVISE_H
#define CLI_SUPERVISOR_SUPERVISE_H

/*
 * argv: PATH-OF-TRIFOLD COMMAND [ARG]..., NULL-terminated.  Returns the exit
 * status of the front; 1 if it was killed, or left somebody running.
 */
int supervise(char **argv);

#endif /* CLI_SUPERVISOR_SUPERVISE_H */
