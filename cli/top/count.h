/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_count - rows of a table, counted from batches
 */
#ifndef CLI_TOP_COUNT_H
#define CLI_TOP_COUNT_H

#include "cli/top/table.h"

/* Count what of n slices the query asks for into the rows of t, which is
 * empty.  Time and window are not looked at. */
void top_count(struct top_table *t, const struct top_slice *v, size_t n,
	       const struct top_query *q, uint64_t seed);

#endif /* CLI_TOP_COUNT_H */
