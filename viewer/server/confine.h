/* SPDX-License-Identifier: Apache-2.0 */
/* confine - the viewer gives up what it does not need */
#ifndef VIEWER_SERVER_CONFINE_H
#define VIEWER_SERVER_CONFINE_H

#include "viewer/server/config.h"

/*
 * Call once the sockets listen and before the first connection is accepted.
 * Returns 0, or -errno after a line in the log; every step is fatal.
 *
 * What the viewer can still do afterwards:
 *
 * - accept connections on its listening sockets of loopback, and talk to those
 *   who connect; it has no way to a socket more, to connect or to listen;
 * - use the descriptors it has: those, the log, the notification socket.
 *
 * It holds no capability and cannot get one, is not dumpable, starts no
 * process and no thread, maps no executable memory, and can open nothing.
 */
int confine(const struct config *c);

#endif /* VIEWER_SERVER_CONFINE_H */
