/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_plain - a table as lines of text
 */
#ifndef CLI_TOP_PLAIN_H
#define CLI_TOP_PLAIN_H

#include <stdint.h>
#include <stdio.h>

#include "cli/top/state.h"

/* A line about it, the headings, at most n rows.  now: CLOCK_REALTIME.  0 or
 * -errno. */
int top_plain(const struct top_state *st, const char *host, uint64_t lost,
	      uint32_t n, uint64_t now, FILE *to);

#endif /* CLI_TOP_PLAIN_H */
