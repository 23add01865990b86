// SPDX-License-Identifier: Apache-2.0
#include "cli/record/plan_words.h"

#include <stdarg.h>
#include <stdio.h>

void plan_words_init(struct plan_words *w)
{
	w->plan = (struct plan){ .kind = FRONT_PLAN, .bytes = sizeof(w->plan) };
	w->n = 0;
	w->full = false;
}

void plan_words_add(struct plan_words *w, enum program id, const char *fmt, ...)
{
	size_t left = sizeof(w->room) - w->plan.bytes;
	char *at = w->room + w->plan.bytes;
	va_list ap;
	int n;

	if (left < 2 || w->n == PLAN_WORDS_MAX) {
		w->full = true;
		return;
	}
	at[0] = (char)('0' + id);
	va_start(ap, fmt);
	n = vsnprintf(at + 1, left - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= left - 1) {
		w->full = true;
		return;
	}
	w->plan.bytes += (uint32_t)n + 2;
	w->n++;
}
