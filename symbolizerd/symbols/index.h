/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index - functions, files and lines of an executable, compact and searchable
 *
 * Built by a worker, handed to the main process as a sealed memfd, validated
 * there in one pass, then only searched.  Addresses are file offsets, as in
 * unwind tables and in records.
 *
 * After the header: n symbols; n_functions functions; if line_bytes is not 0, for each
 * symbol the offset of its lines (SYMBOL_NO_LINES: none); line_bytes of lines;
 * name_bytes of NUL-terminated strings, the first of which is empty if there are
 * functions.  With SYMBOL_MANGLED, a symbol's name is followed by its name in the
 * file.  A symbol with SYMBOL_RANGE is a function without a name: instead it has
 * the difference between its virtual address and its offset, in pages of 4 KiB.
 * SYMBOL_NOTHING instead of a name says that there is no symbol (index_keep.h).
 *
 * The lines of a symbol are unsigned LEB128 numbers:
 *
 *	scopes		1 .. SYMBOL_SCOPES_MAX, then each of them:
 *	  function	the one that its lines belong to
 *	  up		it is inlined into the scope this far before it; 0: into
 *			none, it is (a part of) the symbol's own
 *	  line		only if up is not 0: where it is called, in that scope
 *	then rows, from the symbol's start on, until a length of 0:
 *	  length	bytes of code
 *	  line * 2 + s	line: zigzag, added to that of the row before, or, if
 *			s is 1, to the first line of the scope's function
 *	  scope		if s is 1; otherwise the same (the first row has it)
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_H
#define SYMBOLIZERD_SYMBOLS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_MAGIC	0x74744674u	/* "tFtt", little endian */
#define SYMBOLS_BYTES_MAX	(96u << 20)	/* a file whose index would be larger has no
					 * names */
#define SYMBOL_NO_LINES	UINT32_MAX
#define SYMBOL_MANGLED	0x80000000u	/* in .name of a symbol */
#define SYMBOL_RANGE	0x40000000u	/* likewise */
#define SYMBOL_NOTHING	(SYMBOL_MANGLED | SYMBOL_RANGE)	/* the whole of .name */
#define SYMBOL_PAGE	12		/* bits */
/* Limits of one symbol, which bound the work of a search. */
#define SYMBOL_LINES_MAX	(256u << 10)	/* bytes */
#define SYMBOL_SCOPES_MAX	4096
#define SYMBOL_DEPTH_MAX	64	/* nested scopes: as many as a batch can have
					 * (ipc/batch.h) */

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

/* The number of symbols that begin at or before this file offset. */
uint32_t symbols_before(const struct symbol_index *idx, uint64_t off);

/* The symbol that contains this file offset, or NULL. */
const struct symbol *symbols_at(const struct symbol_index *idx, uint64_t off);

/* Name of the function that contains this file offset; NULL: no function, or it has no
 * name.  An offset beyond a symbol's size is not in it. */
const char *symbols_find(const struct symbol_index *idx, uint64_t off);

/* A place in the sources. */
struct symbol_place {
	const char *name;	/* of a function */
	const char *file;	/* "": unknown */
	uint32_t first_line;	/* of the function; 0: unknown */
	uint32_t line;		/* 0: unknown */
	const char *system;	/* its name in the file; NULL: the same as .name */
	uint64_t begin;		/* if .name is "": virtual address of the function; 0:
				 * unknown */
};

/* The functions at this file offset: the innermost inlined one first, that of
 * symbols_find() last.  Returns how many, 0 if nothing is known. */
uint32_t symbols_places(const struct symbol_index *idx, uint64_t off,
			struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* --- reading the lines of a symbol ---------------------------------------------- */

struct symbol_scope {
	uint32_t function, up, line;
};

struct symbol_rows {
	const uint8_t *pos, *end;
	const struct symbol_index *idx;
	uint32_t n;		/* scopes */
	struct symbol_scope at[SYMBOL_SCOPES_MAX];
	uint32_t len, here, line;	/* of the current row: bytes, scope, line in it */
};

/* Begin with symbol i, and read its scopes.  False: it has no lines. */
bool symbol_rows_begin(struct symbol_rows *r, const struct symbol_index *idx, uint32_t i);
bool symbol_rows_next(struct symbol_rows *r);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_H */
