// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/jit_wanted.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/frame.h"

#include "common/bisect.h"

static int jit_wanted_by_addr(const void *a, const void *b)
{
	const struct jit_address *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return 0;
}

static int jit_wanted_by_frame(const void *a, const void *b)
{
	const struct jit_address *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return 0;
}

void jit_wanted_init(struct jit_wanted *w, const uint64_t *words, size_t n)
{
	uint32_t frame = 0;

	w->n = 0;
	for (size_t i = 0; i < n; i += 1 + FRAME_MORE(words[i]), frame++) {
		if (FRAME_KIND(words[i]) != FRAME_ANON || w->n == JIT_WANTED_MAX)
			continue;
		w->v[w->n++] = (struct jit_address){
			.addr = FRAME_ADDR(words[i]), .frame = frame,
		};
	}
	qsort(w->v, w->n, sizeof(w->v[0]), jit_wanted_by_addr);
	w->left = w->n;
	for (uint32_t i = 0; i <= w->n; i++)
		w->next[i] = i;
}

uint32_t jit_wanted_from(const struct jit_wanted *w, uint64_t start)
{
	return bisect(mid, w->n, w->v[mid].addr < start);
}

uint32_t jit_wanted_next(struct jit_wanted *w, uint32_t i)
{
	/* each step halves the path for later searches */
	while (w->next[i] != i) {
		w->next[i] = w->next[w->next[i]];
		i = w->next[i];
	}
	return i;
}

void jit_wanted_text(char to[JIT_NAME_MAX], const char *from, size_t len)
{
	if (len > JIT_NAME_MAX - 1)
		len = JIT_NAME_MAX - 1;
	for (size_t i = 0; i < len; i++) {
		to[i] = from[i];
		if ((unsigned char)from[i] < 0x20 || from[i] == 0x7f)
			to[i] = '?';
	}
	to[len] = '\0';
}

void jit_wanted_name(struct jit_wanted *w, uint32_t i, const char *name, size_t len)
{
	struct jit_address *a = &w->v[i];

	jit_wanted_text(a->name, name, len);
	if (a->found)
		return;
	a->found = true;
	w->left--;
	w->next[i] = i + 1;
}

void jit_wanted_tell(struct jit_wanted *w, struct frame_names_build *out)
{
	qsort(w->v, w->n, sizeof(w->v[0]), jit_wanted_by_frame);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct jit_address *a = &w->v[i];
		struct symbol_place p = {
			.name = a->name, .file = a->file, .line = a->line,
		};

		/* without room the frame has no name */
		if (a->found && a->name[0])
			(void)!frame_names_add(out, a->frame, &p);
	}
}
