/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_wanted - addresses of JIT code, and what is found of them
 *
 * A JIT appends to its files, and uses memory again: of two functions that cover
 * an address the one that was written last counts.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JIT_WANTED_H
#define SYMBOLIZERD_SYMBOLS_JIT_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names.h"

#define JIT_WANTED_MAX	512		/* as many as a job has words */
#define JIT_NAME_MAX	500		/* bytes of a name or a file, NUL included: all of a
					 * visit have room in its answer */
#define JIT_SIZE_MAX	(1ULL << 30)	/* of a function; more is no function */

struct jit_address {
	uint64_t addr;
	uint32_t frame;			/* which of those asked for */
	uint32_t line;
	bool found;
	char name[JIT_NAME_MAX], file[JIT_NAME_MAX];
	uint64_t at;			/* jitdump: where its record lies */
	uint64_t debug;			/* likewise; 0: none */
	uint64_t code;			/* where the function begins */
	uint64_t index;			/* of what was moved here */
	bool moved;
};

struct jit_wanted {
	struct jit_address v[JIT_WANTED_MAX];	/* ascending */
	uint32_t next[JIT_WANTED_MAX + 1];	/* from here on, who is not found: a
						 * shortcut */
	uint32_t n, left;			/* in all; not found */
};

/* From the words of frames, of which those that are no FRAME_ANON are left out. */
void jit_wanted_init(struct jit_wanted *w, const uint64_t *words, size_t n);

/* The first address at start or above; .n: none. */
uint32_t jit_wanted_from(const struct jit_wanted *w, uint64_t start);

/* The first element from i on that is not found yet; .n: none. */
uint32_t jit_wanted_next(struct jit_wanted *w, uint32_t i);

/* Element i has this name of len bytes, which may hold anything. */
void jit_wanted_name(struct jit_wanted *w, uint32_t i, const char *name, size_t len);

/* Copy len bytes, cut to JIT_NAME_MAX, as text without control characters. */
void jit_wanted_text(char to[JIT_NAME_MAX], const char *from, size_t len);

/* Tell what was found. */
void jit_wanted_tell(struct jit_wanted *w, struct frame_names_build *out);

#endif /* SYMBOLIZERD_SYMBOLS_JIT_WANTED_H */
