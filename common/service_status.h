/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_status - a line for `systemctl status`: sd_notify(3)
 *
 * Sent only if it is another than the last one, since systemd wakes up for each.
 */
#ifndef COMMON_SERVICE_STATUS_H
#define COMMON_SERVICE_STATUS_H

void service_status(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

#endif /* COMMON_SERVICE_STATUS_H */
