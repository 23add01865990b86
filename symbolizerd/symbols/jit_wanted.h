/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_wanted - addresses of JIT code, and the names that are found for them
 *
 * A JIT appends to its files, and reuses memory: of two functions that cover an
 * address the one that was written last counts.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JIT_WANTED_H
#define SYMBOLIZERD_SYMBOLS_JIT_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names.h"

#define JIT_WANTED_MAX	512		/* as many as a job has words */
#define JIT_NAME_MAX	500		/* bytes of a name or a file, with the NUL: all those
					 * of a visit fit into its answer */
#define JIT_SIZE_MAX	(1ULL << 30)	/* bytes of a function; larger ones are ignored */

struct jit_address {
	uint64_t addr;
	uint32_t frame;			/* number in the request */
	uint32_t line;
	bool found;
	char name[JIT_NAME_MAX], file[JIT_NAME_MAX];
	uint64_t at;			/* jitdump: offset of its record */
	uint64_t debug;			/* likewise; 0: none */
	uint64_t code;			/* where the function begins */
	uint64_t index;			/* of the code that was moved here */
	bool moved;
};

struct jit_wanted {
	struct jit_address v[JIT_WANTED_MAX];	/* ascending */
	uint32_t next[JIT_WANTED_MAX + 1];	/* an element from here on, before which all
						 * are found */
	uint32_t n, left;			/* all; those not found yet */
};

/* Begin with the addresses of FRAME_ANONs among the words of frames. */
void jit_wanted_init(struct jit_wanted *w, const uint64_t *words, size_t n);

/* The first element at or above start; .n: none. */
uint32_t jit_wanted_from(const struct jit_wanted *w, uint64_t start);

/* The first element from i on that is not found yet; .n: none. */
uint32_t jit_wanted_next(struct jit_wanted *w, uint32_t i);

/* Set the name of element i, if it has none yet: len bytes, which may be anything. */
void jit_wanted_name(struct jit_wanted *w, uint32_t i, const char *name, size_t len);

/* Copy len bytes, cut to JIT_NAME_MAX, as text without control characters. */
void jit_wanted_text(char to[JIT_NAME_MAX], const char *from, size_t len);

/* Add what was found to out. */
void jit_wanted_tell(struct jit_wanted *w, struct frame_names_build *out);

#endif /* SYMBOLIZERD_SYMBOLS_JIT_WANTED_H */
