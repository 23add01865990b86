/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_times - the thread and the time of each sample in a page
 *
 *	first	flat: for each row in which samples end, how many ms after
 *		info.start_ms the first of them was taken
 *
 * or
 *
 *	threads	names	distinct texts
 *		list	flat, for each thread: label of its process, process ID,
 *			thread ID; its name, the process's executable and
 *			container, as indices of names
 *	times	flat: the samples that end in the first row, then those of the
 *		next, as many as in `rows`; within a row, first those of its line
 *		in `own`, then those of each line in `own_more` (html.h), within a
 *		line in the order of time.  For each: ms since the one before
 *		(the first of a line: since info.start_ms); and its thread
 *
 * A sample takes 6 to 9 bytes.
 */
#ifndef PROFILE_FORMATS_HTML_TIMES_H
#define PROFILE_FORMATS_HTML_TIMES_H

#include "common/json.h"
#include "ipc/batch.h"
#include "profile/tree.h"

/* Append `first`; t: of b, with places; each sample's first time must be its least.  0 or
 * -ENOMEM. */
int html_put_first(struct json *j, const struct batch *b, const struct tree *t);

/* Append `threads` and `times`; t: of b, with places and by line.  0 or -ENOMEM. */
int html_put_times(struct json *j, const struct batch *b, const struct tree *t);

#endif /* PROFILE_FORMATS_HTML_TIMES_H */
