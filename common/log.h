/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - lines for the operator, on standard error
 *
 * One line a call, "<N>name: text" with a syslog priority prefix under systemd
 * (JOURNAL_STREAM is set), "name: text" otherwise.  Strings from outside are
 * printed only through log_quote() (log_quote.h).  Log where a decision is made;
 * whatever an outside process can cause is counted first and logged through log_limited()
 * (log_limit.h).
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>

void log_init(const char *name, bool debug);

void log_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* COMMON_LOG_H */
