/* SPDX-License-Identifier: Apache-2.0 */
/* confine - what is left to the front */
#ifndef CLI_FRONT_CONFINE_H
#define CLI_FRONT_CONFINE_H

#include <sys/types.h>

/*
 * While it reads arguments and configuration: an ordinary user, who may read
 * every file and list every directory (the configuration may be root's alone)
 * and bind the page's port where that is below 1024; no new privileges, and it
 * ends with its parent.  0 or -errno, said in the log.
 */
int front_confine_reading(uid_t uid);

/*
 * From the plan on: no capability, no file, no network, no program, no signal
 * to anybody; only the descriptors it has, those it is given, and new pairs of
 * Unix sockets.  Likewise.
 */
int front_confine(void);

#endif /* CLI_FRONT_CONFINE_H */
