/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - lines for the operator, on standard error
 *
 * One line a call, "<N>name: text" with a syslog priority prefix if standard error is
 * what JOURNAL_STREAM names (systemd.exec(5)), "name: text" otherwise.  Strings from outside are
 * printed only through log_quote() (log_quote.h).  Log where a decision is made;
 * whatever an outside process can cause is counted first and logged through log_limited()
 * (log_limit.h).
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <syslog.h>

void log_init(const char *name, bool debug);

#define log_err(...)	log_line(LOG_ERR, __VA_ARGS__)
#define log_warn(...)	log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	log_line(LOG_DEBUG, __VA_ARGS__)

/* level: of syslog(3).  LOG_DEBUG is written only if log_init() said so. */
void log_line(int level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* COMMON_LOG_H */
