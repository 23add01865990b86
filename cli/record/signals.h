/* SPDX-License-Identifier: Apache-2.0 */
/* signals - the end of children, and what asks a recording to end */
#ifndef CLI_RECORD_SIGNALS_H
#define CLI_RECORD_SIGNALS_H

#include <stdbool.h>

/* Was SIGHUP ignored when we were started?  So nohup(1) says that the end of
 * the terminal is not ours. */
bool signals_nohup(void);

/* Block SIGCHLD, SIGINT, SIGTERM, SIGHUP (only if it is not ignored) and
 * SIGQUIT, and ignore SIGPIPE.  Returns a signalfd of them, or -errno. */
int signals_catch(void);

#endif /* CLI_RECORD_SIGNALS_H */
