/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_get - what tests look up in pairs of strings */
#ifndef TESTS_PAIRS_GET_H
#define TESTS_PAIRS_GET_H

#include <string.h>

#include "common/pairs.h"

/* The first value of this key, or "(none)". */
static inline const char *get(const struct pairs *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->v[2 * i], key) == 0)
			return p->v[2 * i + 1];
	}
	return "(none)";
}

#endif /* TESTS_PAIRS_GET_H */
