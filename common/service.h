/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service - being started as a unit: saying that we are ready, and alive
 *
 * The protocols are systemd's: sd_notify(3), sd_watchdog_enabled(3).  No
 * libsystemd: these are a few lines, and the notification socket must be
 * connected before confine() and only written to afterwards.
 */
#ifndef COMMON_SERVICE_H
#define COMMON_SERVICE_H

#include <stdbool.h>

extern bool service_watched;	/* the manager has set $WATCHDOG_USEC */

/* Connect $NOTIFY_SOCKET if there is one.  Returns 0 or -errno; without the
 * variable 0, and all calls below do nothing. */
int service_init(void);

/* Send a line of sd_notify(3), and a descriptor for its store (borrowed; -1: none).  Waits
 * up to a second for a place in the manager's queue.  service_alive() every five seconds or so; it says nothing
 * to a manager that does not watch. */
void service_notify_fd(const char *text, int fd);
#define service_notify(text)	service_notify_fd(text, -1)
#define service_ready()		service_notify("READY=1")
#define service_stopping()	service_notify("STOPPING=1")
#define service_alive()		(service_watched ? service_notify("WATCHDOG=1") : (void)0)

#endif /* COMMON_SERVICE_H */
