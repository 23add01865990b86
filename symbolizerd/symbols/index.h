/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - functions, files and lines of an executable, compact and searchable
 *
 * Built by a worker, handed to the main process as a sealed memfd, validated
 * there in one pass, then only searched.  Addresses are file offsets, as in
 * unwind tables and in records.
 *
 * The header is followed by: n symbols; n_functions functions; if line_bytes
 * is not 0, for each symbol the offset of its lines (SYMBOL_NO_LINES: none);
 * line_bytes of lines; name_bytes of NUL-terminated strings, of which the first
 * is empty if there are functions.  Behind the name of a symbol that has
 * SYMBOL_MANGLED comes what the file calls it.  A symbol with SYMBOL_RANGE is a
 * function without a name: instead of one it has the distance from its offset
 * to its virtual address, in pages of 4 KiB.  SYMBOL_NOTHING instead of a name says
 * that nothing is there (index_keep.h).
 *
 * The lines of a symbol are unsigned LEB128 numbers:
 *
 *	scopes		1 .. SYMBOL_SCOPES_MAX, then each of them:
 *	  function	which one its lines belong to
 *	  up		this scope is inlined into the one so far before it;
 *			0: into none, it is (a part of) the symbol's own
 *	  line		not if up is 0: where it is called, in that scope
 *	then rows, from the symbol's start on, until a length of 0:
 *	  length	bytes of code
 *	  line * 2 + s	line: zigzag, added to that of the row before, or, if
 *			s is 1, to the first line of the scope's function
 *	  scope		if s is 1; else as before (the first row has it)
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_H
#define SYMBOLIZERD_SYMBOLS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_MAGIC	0x74744674u	/* "tFtt", little endian */
#define SYMBOLS_BYTES_MAX	(96u << 20)	/* of an index: a file that would have a
					 * larger one goes without names */
#define SYMBOL_NO_LINES	UINT32_MAX
#define SYMBOL_MANGLED	0x80000000u	/* in .name of a symbol */
#define SYMBOL_RANGE	0x40000000u	/* likewise */
#define SYMBOL_NOTHING	(SYMBOL_MANGLED | SYMBOL_RANGE)	/* .name in whole */
#define SYMBOL_PAGE	12		/* bits */
/* Of one symbol: they bound the work of a search. */
#define SYMBOL_LINES_MAX	(256u << 10)	/* bytes */
#define SYMBOL_SCOPES_MAX	4096
#define SYMBOL_DEPTH_MAX	64	/* scopes within each other: as many as
					 * a batch can say (ipc/batch.h) */

struct symbols_hdr {
	uint32_t magic;
	uint32_t n;		/* symbols */
	uint32_t n_functions;
	uint32_t line_bytes;
	uint32_t name_bytes;
	uint32_t pad;		/* 0 */
};

struct symbol {
	uint64_t start;		/* file offset; entries ascend strictly */
	uint32_t size;		/* bytes; start + size <= next start */
	uint32_t name;		/* offset into the names, and SYMBOL_MANGLED;
				 * or SYMBOL_RANGE and pages */
};

struct symbol_function {	/* that lines belong to */
	uint32_t name, file;	/* offsets into the names; file "": unknown */
	uint32_t first_line;	/* 0: unknown */
};

struct symbol_index {
	const struct symbol *symbols;
	const struct symbol_function *functions;
	const uint32_t *line_at;	/* NULL: no lines at all */
	const uint8_t *lines;
	const char *names;
	uint32_t n, n_functions, line_bytes, name_bytes;
};

/* Validate len bytes (aligned to 8).  0, or -EPROTO and *ret untouched. */
int symbols_open(const void *data, size_t len, struct symbol_index *ret);

/* How many symbols begin at this file offset or before it. */
uint32_t symbols_before(const struct symbol_index *idx, uint64_t off);

/* The symbol that holds this file offset, or NULL. */
const struct symbol *symbols_at(const struct symbol_index *idx, uint64_t off);

/* Name of the function that holds this file offset, or NULL, also if it has
 * none; an address beyond a symbol's size is not that symbol. */
const char *symbols_find(const struct symbol_index *idx, uint64_t off);

/* A place in the sources. */
struct symbol_place {
	const char *name;	/* of a function */
	const char *file;	/* "": unknown */
	uint32_t first_line;	/* of the function; 0: unknown */
	uint32_t line;		/* 0: unknown */
	const char *system;	/* what the file calls it; NULL: as .name */
	uint64_t begin;		/* 0; or .name is "" and this the virtual address
				 * of the function */
};

/* What is at this file offset: the innermost inlined function first, that of
 * symbols_find() last.  How many, 0 if nothing is known. */
uint32_t symbols_places(const struct symbol_index *idx, uint64_t off,
			struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* --- the lines of a symbol, one after the other -------------------------------- */

struct symbol_scope {
	uint32_t function, up, line;
};

struct symbol_rows {
	const uint8_t *pos, *end;
	const struct symbol_index *idx;
	uint32_t n;		/* scopes */
	struct symbol_scope at[SYMBOL_SCOPES_MAX];
	uint32_t len, here, line;	/* of the row at hand: bytes, scope, line in it */
};

/* Begin with symbol i: reads its scopes.  False: it has no lines. */
bool symbol_rows_begin(struct symbol_rows *r, const struct symbol_index *idx, uint32_t i);
bool symbol_rows_next(struct symbol_rows *r);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_H */
