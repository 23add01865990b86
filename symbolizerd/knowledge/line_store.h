/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_store - what is known of the code of files: functions, lines, inlined calls
 *
 * Kept as the pieces that workers answer (symbols/line_codes.h), each a function or a part of
 * one, in memory that users share (owner_cache.h).  A piece goes as a whole.  Functions are
 * there once for each owner.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_LINE_STORE_H
#define SYMBOLIZERD_KNOWLEDGE_LINE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizerd/knowledge/owner_cache.h"
#include "symbolizerd/symbols/line_codes.h"

/* A piece is found by each block of the file that has some of it. */
#define LINE_BLOCK_SHIFT	8

/* A function, the same for all places of one owner. */
struct line_function {
	struct cache_entry entry;	/* first */
	char *name;		/* owned, the next two in the same piece */
	const char *system;	/* "": as .name */
	const char *file;	/* "": unknown */
	uint32_t first_line;
	uint32_t refs;
	uint64_t number;	/* never another one's; 0: it is gone */
};

/* A piece of a file's code. */
struct line_piece {
	struct cache_entry entry;	/* first */
	uint64_t offset;
	uint32_t file, len;	/* .len 0: free */
	uint32_t used;		/* interval of the last sample */
	uint16_t n_ats, n_segments;
	bool failed;		/* nothing was read: it is forgotten with the next that idle */
	struct line_at *ats;	/* of line_functions; owned */
	struct line_segment *segments;	/* in the same memory; NULL: nothing is known */
};

struct line_store {
	uint64_t seed;
	struct owner_cache codes;	/* struct line_piece */
	struct owner_cache functions;	/* charged to the same owners */
	struct hash_table blocks;	/* of pieces */
	uint64_t last_number;	/* of a function */
};

/* s is not moved from now on.  max: bytes of all. */
void line_store_init(struct line_store *s, uint64_t seed, uint64_t max);
void line_store_fini(struct line_store *s);

/* The piece of a file with this offset; INDEX_NONE: it is not known. */
uint32_t line_store_find(const struct line_store *s, uint32_t file, uint64_t off);

/* It was used in this interval. */
void line_store_use(struct line_store *s, uint32_t i, uint32_t interval);

/* What is known of an offset in it, the innermost first: how many. */
uint32_t line_store_places(const struct line_store *s, uint32_t i, uint64_t off,
			   struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* All of an answer about a file of this owner.  What was known of the same code goes; what
 * finds no room is left out, and counts as lost. */
void line_store_add(struct line_store *s, uint32_t file, uint32_t owner,
		    const struct line_codes *codes, uint32_t interval);

/* Nothing is known of a place; failed: since its file could not be read. */
void line_store_add_nothing(struct line_store *s, uint32_t file, uint32_t owner, uint64_t off,
			    bool failed, uint32_t interval);

/* Forget what had no sample for so many intervals, and, as often, what failed. */
void line_store_sweep(struct line_store *s, uint32_t interval, uint32_t idle);

#endif /* SYMBOLIZERD_KNOWLEDGE_LINE_STORE_H */
