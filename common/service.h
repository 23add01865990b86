/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service - being started as a unit: what it passes, and telling it our state
 *
 * The protocols are systemd's: sd_notify(3), sd_watchdog_enabled(3),
 * sd_listen_fds(3).  No libsystemd: these are a few lines, and the notification
 * socket must be connected before confine() and only written to afterwards.
 */
#ifndef COMMON_SERVICE_H
#define COMMON_SERVICE_H

/* Connect $NOTIFY_SOCKET if there is one.  Returns 0 or -errno; without the
 * variable 0, and the calls below that notify do nothing. */
int service_init(void);

/* Send a line of sd_notify(3), and a descriptor for the manager's store (borrowed; -1:
 * none).  Waits up to a second for room in the manager's queue. */
void service_notify_fd(const char *text, int fd);
#define service_notify(text)	service_notify_fd(text, -1)
#define service_ready()		service_notify("READY=1")
#define service_stopping()	service_notify("STOPPING=1")

/* To be called every five seconds or so.  Does nothing if the manager does not watch. */
void service_alive(void);

/* A line for `systemctl status`.  Sent only if it differs from the last one, since
 * systemd wakes up for each. */
void service_status(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

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

#endif /* COMMON_SERVICE_H */
