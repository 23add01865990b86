/* SPDX-License-Identifier: Apache-2.0 */
/* signals - signals for the end of children, and for the end of a recording */
#ifndef CLI_RECORD_SIGNALS_H
#define CLI_RECORD_SIGNALS_H

#include <stdbool.h>

/* Was SIGHUP ignored at the start? nohup(1) does that, so that a process outlives
 * its terminal. */
bool signals_nohup(void);

/* Block SIGCHLD, SIGINT, SIGTERM, SIGHUP (only if it is not ignored) and
 * SIGQUIT, and ignore SIGPIPE.  Returns a signalfd of them, or -errno. */
int signals_catch(void);

#endif /* CLI_RECORD_SIGNALS_H */
