// SPDX-License-Identifier: Apache-2.0
#include "common/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vector.h"

int pairs_set(struct pairs *p, const char *key, char *value,
	      int (*same)(const char *a, const char *b))
{
	char *k;

	if (!value)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		if (same(p->v[2 * i], key) == 0) {
			free(p->v[2 * i + 1]);
			p->v[2 * i + 1] = value;
			return 0;
		}
	}
	k = strdup(key);
	if (!k || !array_reserve(&p->v, &p->cap, 2 * p->n + 3)) {
		free(k);
		free(value);
		return -ENOMEM;
	}
	p->v[2 * p->n] = k;
	p->v[2 * p->n + 1] = value;
	p->v[2 * ++p->n] = NULL;
	return 0;
}

void pairs_fini(struct pairs *p)
{
	for (size_t i = 0; i < 2 * p->n; i++)
		free(p->v[i]);
	free(p->v);
	*p = (struct pairs){ 0 };
}

static int pairs_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool percent_decode(char *s)
{
	char *out = s;

	for (; *s; s++) {
		int hi, lo;

		if (*s != '%') {
			*out = *s;
			out++;
			continue;
		}
		hi = pairs_hex_digit(s[1]);
		if (hi < 0)
			return false;
		lo = pairs_hex_digit(s[2]);
		if (lo < 0 || hi + lo == 0)
			return false;
		*out = (char)(hi << 4 | lo);
		out++;
		s += 2;
	}
	*out = '\0';
	return true;
}

/* Without the blanks at both ends, which are overwritten. */
static char *pairs_trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && strchr(" \t", s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

bool pairs_next(char **rest, char **key, char **value, bool *bad)
{
	char *item, *eq;

	do {
		item = strsep(rest, ",");
		if (!item)
			return false;
		item = pairs_trim(item);
	} while (!*item);
	eq = strchr(item, '=');
	if (eq)
		*eq = '\0';
	*key = pairs_trim(item);
	*value = NULL;
	if (eq)
		*value = pairs_trim(eq + 1);
	*bad = !eq || !**key || !percent_decode(*value);
	return !*bad;
}
