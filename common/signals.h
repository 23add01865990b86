/* SPDX-License-Identifier: Apache-2.0 */
/* signals - to be read as events */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

/* Block these signals; a 0 ends the list.  Those that are ignored come too.
 * Returns a signalfd of them, which does not block, or -errno. */
int signals_open(const int *which);

#endif /* COMMON_SIGNALS_H */
