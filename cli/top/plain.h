/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_plain - a table as lines of text, or as one line of JSON
 */
#ifndef CLI_TOP_PLAIN_H
#define CLI_TOP_PLAIN_H

#include <stdint.h>
#include <stdio.h>

#include "cli/top/state.h"

struct top_head {
	const char *host;
	uint64_t lost;		/* samples */
	uint64_t cpus;		/* sampled ones; 0: unknown */
	uint64_t now;		/* CLOCK_REALTIME, ns */
};

/* A line about it, the headings, at most n rows.  0 or -errno. */
int top_plain(const struct top_state *st, const struct top_head *head, uint32_t n,
	      FILE *to);

/* The same as JSON, for `trifold top --json`; the keys are in docs/DOCTOR.md.  Strings
 * are as the batches have them: foreign bytes, escaped for JSON.  0 or -errno. */
int top_json(const struct top_state *st, const struct top_head *head, uint32_t n,
	     FILE *to);

#endif /* CLI_TOP_PLAIN_H */
