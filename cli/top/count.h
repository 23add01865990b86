/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_count - rows of a table, counted from batches
 */
#ifndef CLI_TOP_COUNT_H
#define CLI_TOP_COUNT_H

#include "cli/top/table.h"

/* Count samples of n slices that the query asks for into rows of t, which is
 * empty.  Time and window of the query are ignored. */
void top_count(struct top_table *t, const struct top_slice *v, size_t n,
	       const struct top_query *q, uint64_t seed);

#endif /* CLI_TOP_COUNT_H */
