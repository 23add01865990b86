/* SPDX-License-Identifier: Apache-2.0 */
/* service_listen - what a unit starts a process with: sd_listen_fds(3) */
#ifndef COMMON_SERVICE_LISTEN_H
#define COMMON_SERVICE_LISTEN_H

/*
 * The descriptor passed under this name (LISTEN_PID, LISTEN_FDS,
 * LISTEN_FDNAMES), checked to be a listening SOCK_SEQPACKET socket, made
 * CLOEXEC and non-blocking; or -ENOENT, -EINVAL.  Does not unset anything.
 */
int service_listen_fd(const char *name);

/* The same of any descriptor, as it is. */
int service_fd(const char *name);

/* Unset LISTEN_*, NOTIFY_SOCKET and WATCHDOG_*, which children must not see. */
void service_scrub_env(void);

#endif /* COMMON_SERVICE_LISTEN_H */
