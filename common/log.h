/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - lines for the operator, on standard error
 *
 * One line a call: "name: text", with a syslog priority "<N>" before it if standard error
 * is what JOURNAL_STREAM names (systemd.exec(5)).  Strings from outside are printed only
 * through log_quote().  Log where a decision is made; what an outside process can cause is
 * counted first, and logged through log_limited() (log_limit.h).
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <syslog.h>

void log_init(const char *name, bool debug);

#define log_err(...)	log_line(LOG_ERR, __VA_ARGS__)
#define log_warn(...)	log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	log_line(LOG_DEBUG, __VA_ARGS__)

/* level: of syslog(3).  LOG_DEBUG is written only if log_init() had debug. */
void log_line(int level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Make len bytes printable (all but plain ASCII, and the backslash, becomes
 * \xNN), cut to fit out, never in the middle of an escape.  Returns out. */
const char *log_quote(const char *s, size_t len, char *out, size_t size);

#endif /* COMMON_LOG_H */
