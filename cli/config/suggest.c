// SPDX-License-Identifier: Apache-2.0
#include "cli/config/suggest.h"

#include <string.h>

#define WORD_MAX	31

/* Insertions, deletions and changes from a to b; more than most: most + 1. */
static size_t suggest_distance(const char *a, const char *b, size_t most)
{
	size_t n = strlen(a), m = strlen(b), row[WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return most + 1;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	if (row[m] > most)
		return most + 1;
	return row[m];
}

struct suggestion suggest(const char *word)
{
	struct suggestion s = { .word = word, .least = 2 };

	if (strlen(word) > 4)
		s.least = 3;
	return s;
}

void suggest_offer(struct suggestion *s, const char *known)
{
	size_t d = suggest_distance(s->word, known, s->least);

	if (d < s->least) {
		s->least = d;
		s->best = known;
	}
}
