/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service - being started as a unit: sockets in, readiness out
 *
 * The protocols are systemd's: sd_listen_fds(3), sd_notify(3),
 * sd_watchdog_enabled(3).  No libsystemd: these are a few lines, and the
 * notification socket must be connected before confine() and only written to
 * afterwards.
 */
#ifndef COMMON_SERVICE_H
#define COMMON_SERVICE_H

#include <stdint.h>

/*
 * The descriptor passed under this name (LISTEN_PID, LISTEN_FDS,
 * LISTEN_FDNAMES), checked to be a listening SOCK_SEQPACKET socket, made
 * CLOEXEC and non-blocking; or -ENOENT, -EINVAL.  Does not unset anything.
 */
int service_listen_fd(const char *name);

/* Connect $NOTIFY_SOCKET if there is one.  Returns 0 or -errno; without the
 * variable 0, and all calls below do nothing. */
int service_init(void);
void service_scrub_env(void);	/* unset LISTEN_* NOTIFY_SOCKET WATCHDOG_* */

/* Send a line of sd_notify(3). */
void service_notify(const char *text);
#define service_ready()		service_notify("READY=1")
#define service_stopping()	service_notify("STOPPING=1")
void service_alive(void);	/* WATCHDOG=1, at most each second */

/* STATUS=...; in service_status.c, which loaderd does not link. */
void service_status(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

#endif /* COMMON_SERVICE_H */
