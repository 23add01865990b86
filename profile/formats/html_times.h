/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_times - of each sample in a page the thread and the time
 *
 *	first	flat: of each row in which samples end, how many ms after
 *		info.start_ms the first of them was taken
 *
 * or
 *
 *	threads	names	distinct texts
 *		list	flat, for each thread: label of its process, process ID,
 *			thread ID; its name, the process's executable and
 *			container, as indices of names
 *	times	flat: the samples that end in the first row, then those of the
 *		next, as many as `rows` says; of one row first those of its line
 *		in `own`, then those of each in `own_more` (html.h), of
 *		one line in the order of time.  For each: ms since the one
 *		before, of a line's first since info.start_ms; and its thread
 *
 * A sample takes 6 to 9 bytes.
 */
#ifndef PROFILE_FORMATS_HTML_TIMES_H
#define PROFILE_FORMATS_HTML_TIMES_H

#include "common/json.h"
#include "ipc/batch.h"
#include "profile/tree.h"

/* Append `first`; t: of b, with places; the first of each sample's times is its
 * least.  0 or -ENOMEM. */
int html_put_first(struct json *j, const struct batch *b, const struct tree *t);

/* Append `threads` and `times`; t: of b, with places and
 * by line.  0 or -ENOMEM. */
int html_put_times(struct json *j, const struct batch *b, const struct tree *t);

#endif /* PROFILE_FORMATS_HTML_TIMES_H */
