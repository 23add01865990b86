/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_pairs - folded stacks with two numbers, one of each recording
 */
#ifndef CLI_DIFF_FOLDED_PAIRS_H
#define CLI_DIFF_FOLDED_PAIRS_H

#include "cli/convert/folded_read.h"

/* Append "stack a b" lines, in the order of names; of a tree that
 * folded_sort() ordered.  0 or -ENOMEM. */
int diff_encode_folded(const struct folded_tree *t, struct buffer *out);

#endif /* CLI_DIFF_FOLDED_PAIRS_H */
