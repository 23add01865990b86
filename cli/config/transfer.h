/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_transfer - a configuration from the process that may read the file to
 * one that may not; both are the same program
 */
#ifndef CLI_CONFIG_TRANSFER_H
#define CLI_CONFIG_TRANSFER_H

#include "cli/config/config.h"

#define CONFIG_TRANSFER_MAX	(160 * 1024)	/* bytes of the message */

/* One message over a SOCK_SEQPACKET socket.  0 or -errno. */
int config_send(const struct config *c, int socket);

/*
 * Take that message.  0, and config_fini() is to be called; -EPIPE when the
 * sender ended without one; -EPROTO; or another -errno.  Not 0: *c is
 * untouched.
 */
int config_receive(struct config *c, int socket);

#endif /* CLI_CONFIG_TRANSFER_H */
