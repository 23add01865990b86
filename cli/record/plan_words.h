/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words - writing a plan (cli/supervisor/plan.h) */
#ifndef CLI_RECORD_PLAN_WORDS_H
#define CLI_RECORD_PLAN_WORDS_H

#include <stdbool.h>

#include "cli/supervisor/plan.h"

struct plan_words {
	unsigned int n;
	bool full;		/* something had no room */
	union {			/* last: a plan has no fixed size */
		struct plan plan;
		char room[PLAN_BYTES_MAX];
	};
};

void plan_words_init(struct plan_words *w);
void plan_words_add(struct plan_words *w, enum program id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* CLI_RECORD_PLAN_WORDS_H */
