// SPDX-License-Identifier: Apache-2.0
#include "cli/record/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plan_init(struct plan *p)
{
	p->flags = 0;
	p->duration_ms = 0;
	p->n = 0;
	p->full = false;
	p->len = 0;
}

void plan_add(struct plan *p, enum program id, const char *fmt, ...)
{
	size_t left = sizeof(p->words) - p->len;
	char *at = p->words + p->len;
	va_list ap;
	int n;

	if (left < 2 || p->n == PLAN_WORDS_MAX) {
		p->full = true;
		return;
	}
	at[0] = (char)('0' + id);
	va_start(ap, fmt);
	n = vsnprintf(at + 1, left - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= left - 1) {
		p->full = true;
		return;
	}
	p->len += (size_t)n + 2;
	p->n++;
}

const char *plan_next(const struct plan *p, enum program id, const char *word)
{
	const char *end = p->words + p->len;

	for (word = word ? word + strlen(word) + 1 : p->words; word < end;
	     word += strlen(word) + 1) {
		if (*word == '0' + (int)id)
			return word + 1;
	}
	return NULL;
}
