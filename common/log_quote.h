/* SPDX-License-Identifier: Apache-2.0 */
/* log_quote - strings from outside, as they may be printed */
#ifndef COMMON_LOG_QUOTE_H
#define COMMON_LOG_QUOTE_H

#include <stddef.h>

/* Make len bytes printable (all but plain ASCII, and the backslash, becomes
 * \xNN), cut to fit out, never in the middle of an escape.  Returns out. */
const char *log_quote(const char *s, size_t len, char *out, size_t size);

#endif /* COMMON_LOG_QUOTE_H */
