/* SPDX-License-Identifier: Apache-2.0 */
/* plan - the programs to start, with their options and variables */
#ifndef CLI_RECORD_PLAN_H
#define CLI_RECORD_PLAN_H

#include <stdbool.h>

#include "cli/supervisor/ask.h"

enum plan_flag {
	PLAN_PAGE = 1,		/* there is a live page */
	PLAN_RECORD = 2,	/* there is a recorder */
	PLAN_COMMAND = 4,	/* the words after the first "--" are run */
	PLAN_BELOW = 8,		/* ... and only they are sampled */
	PLAN_VERBOSE = 16,
	PLAN_RELOAD = 32,	/* SIGHUP reads the configuration again */
	PLAN_PIPED = 64,	/* the recording goes to standard output */
};

#define PLAN_WORDS_MAX	256	/* of all programs */

struct plan {
	uint32_t flags;		/* enum plan_flag */
	uint64_t duration_ms;	/* 0: open */
	unsigned int n;		/* words */
	bool full;		/* a word had no room */
	size_t len;		/* of: */
	char words[ASK_WORDS_MAX];	/* each: a digit (enum program), the
					 * word, '\0' */
};

void plan_init(struct plan *p);
void plan_add(struct plan *p, enum program id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The next word of one program after `word` (NULL: the first one), without its
 * digit, or NULL. */
const char *plan_next(const struct plan *p, enum program id, const char *word);

#endif /* CLI_RECORD_PLAN_H */
