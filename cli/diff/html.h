/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_html - two recordings as a flame graph page in two colours
 *
 * The page of viewer/page/ and the JSON object that it reads (html.h), with
 * "diff" true and a fourth number in each row.  Its info has `files` (both
 * names) and `base` (samples of the first) instead of a host and a time, which
 * folded stacks do not have.  Kinds of frames are known by their names: those
 * at depth 1 are processes, "_[k]" ends kernel functions.
 */
#ifndef CLI_DIFF_HTML_H
#define CLI_DIFF_HTML_H

struct folded_tree;
struct buffer;

/* Of a tree that folded_sort() ordered.  0; -ENOMEM; or -EINVAL when the page
 * has no place for it. */
int diff_encode_html(const struct folded_tree *t, const char *const files[2],
		     struct buffer *out);

#endif /* CLI_DIFF_HTML_H */
