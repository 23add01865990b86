/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_symbols - a file's symbols: all of them, or those that samples met
 *
 * A worker brings them whole.  When they are to go, those stay that samples met, with their
 * lines (symbols/index_keep.h): a few hundred bytes for most files.  All files' few share a
 * memory of their own (owner_cache.h), so whole tables, however large and many, never push
 * them out.  Where there is no room for them either, the owner with the most loses those of
 * the file that was in no sample for longest.  Whoever holds a struct file_symbols sees by
 * .partial that something is missing, and has the file read again.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_FILE_SYMBOLS_H
#define SYMBOLIZERD_KNOWLEDGE_FILE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/knowledge/owner_cache.h"
#include "symbolizerd/symbols/index.h"

#define MET_BYTES	(32u << 20)	/* of all that samples met, but for whole tables */

/* What samples met, of all files. */
struct met_symbols {
	struct owner_cache cache;
	uint64_t lost;		/* files that lost it for want of room */
};

struct file_symbols {		/* begins as zeroes, but for .all, and stays where it is */
	struct met_symbols *all;	/* borrowed */
	const void *map;	/* of the symbols' memfd; NULL: they are not whole */
	size_t map_len;
	struct symbol_index symbols;
	uint64_t *marks;	/* of its slots (index_keep.h): what samples met; owned */
	void *few_data;		/* what they met before; NULL: nothing; owned */
	size_t few_len;
	struct symbol_index few;
	uint32_t met;		/* if there is .few_data: of .all */
	bool partial;		/* but for .few they are not here */
	bool went;		/* some went for want of room: the client's to clear */
};

void met_symbols_init(struct met_symbols *m, uint64_t seed);
/* No file has any. */
void met_symbols_fini(struct met_symbols *m);

/* They are here, whole: map (owned from now on; NULL: none are) holds idx.  better: the few
 * have other names now. */
void file_symbols_set(struct file_symbols *s, const void *map, size_t map_len,
		      const struct symbol_index *idx, bool better);

/* Nothing is left of them. */
void file_symbols_clear(struct file_symbols *s);

/* What is at this offset, as symbols_places() says it.  A sample has met that; *new: none
 * had before. */
uint32_t file_symbols_places(struct file_symbols *s, uint64_t off, bool *new,
			     struct symbol_place ret[SYMBOL_DEPTH_MAX]);

/* Is this among the few? */
static inline bool file_symbols_met(const struct file_symbols *s, uint64_t off)
{
	return symbols_at(&s->few, off);
}

/* Of a whole table keep what samples met, on this owner's account.  0; or -ENOMEM, and
 * nothing changed. */
int file_symbols_keep(struct file_symbols *s, uint32_t owner);

/* The whole table must go: keep what samples met, if there is memory for that. */
void file_symbols_shrink(struct file_symbols *s, uint32_t owner);

/* From now on they are this owner's. */
void file_symbols_give(const struct file_symbols *s, uint32_t owner);

#endif /* SYMBOLIZERD_KNOWLEDGE_FILE_SYMBOLS_H */
