/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_build - the lines of functions, as symbols/index.h lays them out
 *
 * For each symbol in turn: lines_begin(), a lines_scope() for each scope, then
 * lines_row() in the order of addresses, lines_end().  A symbol that exceeds a
 * limit has no lines; beyond LINES_BYTES_MAX no symbol has.
 */
#ifndef SYMBOLIZERD_SYMBOLS_LINES_BUILD_H
#define SYMBOLIZERD_SYMBOLS_LINES_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/symbols/index.h"

#define LINES_BYTES_MAX	(24u << 20)
#define LINES_FUNCTIONS_MAX	(1u << 20)
#define LINES_NONE	UINT32_MAX

struct lines_builder {
	uint64_t seed;		/* files choose their names */
	/* strings and functions that are equal are kept once */
	VECTOR(char) names;
	struct hash_table by_string;	/* offsets into names */
	VECTOR(struct symbol_function) functions;
	struct hash_table by_function;
	VECTOR(uint8_t) lines;
	bool failed;		/* no memory */
	bool full;		/* no lines at all: too many */
	/* the symbol at hand */
	VECTOR(uint8_t) rows;
	VECTOR(uint8_t) scopes;
	uint32_t n_scopes;
	uint8_t depth[SYMBOL_SCOPES_MAX];
	uint32_t of[SYMBOL_SCOPES_MAX];	/* their functions */
	bool broken;		/* this symbol has no lines */
	uint32_t scope, line;	/* of the row that is being collected */
	uint32_t last_scope, last_line;
	uint64_t pending;	/* bytes of it */
};

/* The builder is large: not on the stack. */
struct lines_builder *lines_builder_new(void);
void lines_builder_free(struct lines_builder *b);

/* Offset of a string (it may have NULs within); 0 with .failed when memory is short. */
uint32_t lines_string(struct lines_builder *b, const char *s, size_t len);
/* Number of a function, of strings; LINES_NONE when there is no room. */
uint32_t lines_function(struct lines_builder *b, uint32_t name, uint32_t file,
			uint32_t first_line);

void lines_begin(struct lines_builder *b);
/* Number of a new scope of a function, which is inlined into scope `in` at a
 * line; in is LINES_NONE for the symbol's own.  LINES_NONE when there are too
 * many or they are too deep: the symbol has no lines then. */
uint32_t lines_scope(struct lines_builder *b, uint32_t function, uint32_t in,
		     uint32_t line);
void lines_row(struct lines_builder *b, uint64_t len, uint32_t scope,
	       uint32_t line);
/* Where its lines are, or SYMBOL_NO_LINES. */
uint32_t lines_end(struct lines_builder *b);

#endif /* SYMBOLIZERD_SYMBOLS_LINES_BUILD_H */
