/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_build - the lines of functions, in the form of symbols/index.h
 *
 * For each symbol: lines_begin(), a lines_scope() for each scope, then lines_row() in
 * the order of addresses, lines_end().  A symbol that exceeds a limit has no lines;
 * beyond LINES_BYTES_MAX no symbol has.
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
	uint64_t seed;		/* of the hashes: foreign files choose the strings */
	/* equal strings and functions are kept once */
	VECTOR(char) names;
	struct hash_table by_string;	/* offsets into names */
	VECTOR(struct symbol_function) functions;
	struct hash_table by_function;
	VECTOR(uint8_t) lines;
	bool failed;		/* no memory */
	bool full;		/* too many lines: none are kept */
	/* the current symbol */
	VECTOR(uint8_t) rows;
	VECTOR(uint8_t) scopes;
	uint32_t n_scopes;
	uint8_t depth[SYMBOL_SCOPES_MAX];
	uint32_t of[SYMBOL_SCOPES_MAX];	/* their functions */
	bool broken;		/* this symbol has no lines */
	uint32_t scope, line;	/* of the current row */
	uint32_t last_scope, last_line;
	uint64_t pending;	/* bytes of it */
};

/* The builder is too large for the stack. */
struct lines_builder *lines_builder_new(void);
void lines_builder_free(struct lines_builder *b);

/* Offset of a string, which may contain NULs; 0, with .failed set, without memory. */
uint32_t lines_string(struct lines_builder *b, const char *s, size_t len);
/* Number of a function, by the offsets of its strings; LINES_NONE: no room. */
uint32_t lines_function(struct lines_builder *b, uint32_t name, uint32_t file,
			uint32_t first_line);

void lines_begin(struct lines_builder *b);
/* Number of a new scope of a function, which is inlined into scope `in` at a
 * line; in is LINES_NONE for the symbol's own.  LINES_NONE: too many or too deep, and
 * the symbol has no lines. */
uint32_t lines_scope(struct lines_builder *b, uint32_t function, uint32_t in,
		     uint32_t line);
void lines_row(struct lines_builder *b, uint64_t len, uint32_t scope,
	       uint32_t line);
/* Where its lines are, or SYMBOL_NO_LINES. */
uint32_t lines_end(struct lines_builder *b);

#endif /* SYMBOLIZERD_SYMBOLS_LINES_BUILD_H */
