/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest - the known word that is most like a mistyped one
 */
#ifndef CLI_CONFIG_SUGGEST_H
#define CLI_CONFIG_SUGGEST_H

#include <stddef.h>

struct suggestion {
	const char *best;	/* of the words offered so far; NULL: none is
				 * close */
	const char *word;
	size_t least;		/* .best is closer */
};

/* Start for a word, which is borrowed. */
struct suggestion suggest(const char *word);

/* Offer a known word (borrowed).  It is close if it needs at most two insertions,
 * deletions and changes; one if the word is short.  Of equally close words the
 * first is kept. */
void suggest_offer(struct suggestion *s, const char *known);

#endif /* CLI_CONFIG_SUGGEST_H */
