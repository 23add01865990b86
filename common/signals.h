/* SPDX-License-Identifier: Apache-2.0 */
/* signals - read signals as events */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

/* Block these signals; a 0 ends the list.  Returns a non-blocking signalfd of them, which
 * delivers ignored ones, too; or -errno. */
int signals_open(const int *which);

#endif /* COMMON_SIGNALS_H */
