/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_keep - the part of an index that samples have used, as a smaller one
 *
 * Samples are in few of a file's functions, and in the same ones again and again.  Used
 * parts are marked by slots: symbol i has slot 2 i + 1, and the gap before it slot
 * 2 i.  So gaps without a symbol are known, too: there the smaller index has
 * SYMBOL_NOTHING, and an address for which it has no symbol was never used.
 */
#ifndef SYMBOLIZERD_SYMBOLS_INDEX_KEEP_H
#define SYMBOLIZERD_SYMBOLS_INDEX_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/index.h"

static inline uint32_t symbols_slots(const struct symbol_index *idx)
{
	return 2 * idx->n + 1;
}

/* The slot of this file offset. */
uint32_t symbols_slot(const struct symbol_index *idx, uint64_t off);

/*
 * Make an index of what was kept before (few, which may be empty) and of what is marked
 * in whole (a bit for each slot): malloc'ed bytes (symbols/index.h).  Where both have
 * something, few counts.  The cost is in proportion to what is marked, plus one read
 * of each word of marks.  0 or -ENOMEM.
 */
int symbols_keep(const struct symbol_index *few, const struct symbol_index *whole,
		 const uint64_t *marks, void **ret, size_t *len);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_KEEP_H */
