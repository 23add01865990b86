/* SPDX-License-Identifier: Apache-2.0 */
/* confine - the viewer gives up what it does not need */
#ifndef VIEWER_SERVER_CONFINE_H
#define VIEWER_SERVER_CONFINE_H

#include "common/sandbox.h"
#include "viewer/server/config.h"

extern const struct confinement confinement_viewer;

/*
 * Call once the sockets listen and before the first connection is accepted.
 * A step that fails ends the process (common/sandbox.h).
 *
 * What the viewer can still do afterwards:
 *
 * - accept connections on its listening sockets of loopback, and talk to its
 *   clients;
 * - with a hub: connect to Unix sockets of type SOCK_SEQPACKET in the directory
 *   of the hub's socket, if their mode allows its uid.  It has no way to a socket
 *   of another family or type, or to listen.  connect(2) itself cannot be
 *   limited to these: a listening socket of loopback can be made one that
 *   connects.  From its address, which bind(2) would be needed to change, no
 *   packet leaves the host (the kernel's fib rules for 127.0.0.1; receivers'
 *   for ::1), and Landlock refuses it from Linux 6.7 on;
 * - use the descriptors it has: those, the log, the notification socket.
 *
 * It holds no capability and cannot get one, is not dumpable, starts no
 * process and no thread, maps no executable memory, can open nothing, and sees
 * only the names of the files in the hub's directory.
 */
void viewer_confine(const struct viewer_config *c);

#endif /* VIEWER_SERVER_CONFINE_H */
