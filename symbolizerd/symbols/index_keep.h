/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_keep - of an index, what samples have met, as a smaller one
 *
 * Samples meet few of a file's functions, and those again and again.  What they met
 * is marked by slots: symbol i has slot 2 i + 1, and what lies before it, behind the
 * symbol before, slot 2 i.  So it is also known where nothing is: there the smaller
 * index has SYMBOL_NOTHING, and an address that it has no symbol for was never met.
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
 * What was kept before (few; it may be empty) and what is marked of whole (a bit for
 * each slot), as an index: malloc'ed bytes (symbols/index.h).  Where both say something
 * few does.  Takes time by what is marked, and a look at each word of marks.  0 or
 * -ENOMEM.
 */
int symbols_keep(const struct symbol_index *few, const struct symbol_index *whole,
		 const uint64_t *marks, void **ret, size_t *len);

#endif /* SYMBOLIZERD_SYMBOLS_INDEX_KEEP_H */
