/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest - which known word somebody may have meant
 */
#ifndef CLI_CONFIG_SUGGEST_H
#define CLI_CONFIG_SUGGEST_H

#include <stddef.h>

struct suggestion {
	const char *best;	/* of all that were offered; NULL: none is close */
	const char *word;
	size_t least;		/* .best is closer */
};

/* Nothing is offered yet for a word, which is borrowed. */
struct suggestion suggest(const char *word);

/* A known word, borrowed: close is what needs at most two insertions, deletions
 * and changes, in a short word one.  Of words that are as close the first counts. */
void suggest_offer(struct suggestion *s, const char *known);

#endif /* CLI_CONFIG_SUGGEST_H */
