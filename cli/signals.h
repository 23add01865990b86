/* SPDX-License-Identifier: Apache-2.0 */
/* signals - the end of children, and what asks a supervisor to end */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Block SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT, and ignore SIGPIPE.
 * Returns a signalfd of them, or -errno. */
int signals_catch(void);

#endif /* CLI_SIGNALS_H */
