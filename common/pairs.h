/* SPDX-License-Identifier: Apache-2.0 */
/* pairs - names and values, and the lists of them in OTEL_* variables */
#ifndef COMMON_PAIRS_H
#define COMMON_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* key, value, key, value ..., NULL; keys are unique. */
struct pairs {
	char **v;
	size_t n;		/* pairs */
	uint32_t cap;		/* of v */
};

/* Add, or replace the value of a key that is the same.  Takes over value, of
 * malloc; NULL: its allocation has failed.  Returns 0 or -ENOMEM. */
int pairs_set(struct pairs *p, const char *key, char *value,
	      int (*same)(const char *a, const char *b));
void pairs_fini(struct pairs *p);

/* %XX to bytes, in place.  False for a % without two digits, and for %00. */
bool percent_decode(char *s);

/*
 * The next of "k=v,k2=v2" (W3C Baggage, without its properties): blanks
 * around both are not part of them, the value is percent-decoded.  *rest, a
 * writable copy of the list, is used up.  False at the end, or with *bad set
 * when it is not of that form.
 */
bool pairs_next(char **rest, char **key, char **value, bool *bad);

#endif /* COMMON_PAIRS_H */
