/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - lines for the operator, on standard error
 *
 * One line a call, "<N>name: text" with a syslog priority prefix under systemd
 * (JOURNAL_STREAM is set), "name: text" otherwise.  Strings from outside are
 * printed only through log_quote() (log_quote.h).  Log where a decision is made; whatever an
 * outside process can cause is counted first and logged through log_limited().
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void log_init(const char *name, bool debug);

void log_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* True at most once a second for each state; counts what it swallowed, which
 * the next line may tell.  State is zero-initialised by the caller. */
struct log_limit {
	uint64_t last_ns;
	uint64_t swallowed;	/* between the line before and this one */
	uint64_t since;		/* since the last line */
};
bool log_limited(struct log_limit *limit);

#endif /* COMMON_LOG_H */
