/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_lines - of each row of a page which lines its samples are in
 *
 * Lines count from that which `lines` (html.h) has of the function.
 *
 *	own		of each row in which samples end, and whose function's source
 *			is known, the line with most of them
 *	own_more	flat: other lines: how many rows since the one before, line,
 *			samples
 *	from, from_more	the same of each row whose caller's source is known: from
 *			which lines of the caller it was called
 *
 * The line 0 of a file is what is not known, or was left out (tree_lines.h).
 */
#ifndef PROFILE_FORMATS_HTML_LINES_H
#define PROFILE_FORMATS_HTML_LINES_H

#include "common/json.h"
#include "profile/tree.h"

/* t: by line.  Memory that is short fails the buffer. */
void html_put_lines(struct json *j, const struct tree *t);

#endif /* PROFILE_FORMATS_HTML_LINES_H */
