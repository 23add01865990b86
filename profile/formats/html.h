/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html - a batch inside the page of viewer/page/
 *
 * The page holds the marker @DATA@ once, in a script element of a type that is
 * not run.  One JSON object replaces it:
 *
 *	info	host, kernel, machine, command, start_ms, duration_ms,
 *		frequency, cpus (0: not known), samples, account {taken, delivered, lost,
 *		own, difference, covered_ns, missed_ns, reasons} or null
 *	strings	distinct texts
 *	labels	flat: name, module (indices of strings), enum batch_frame_kind
 *	full	flat: label, its function's whole name; only of labels with a
 *		shortened name (ipc/short_name.h)
 *	files	distinct paths of sources
 *	lines	flat: label, its function's source (index of files), its line
 *		(tree_label.line); only where the source is known
 *	marks	flat: how many rows since the one before, enum profile_mark; only of
 *		rows that have one
 *	rows	in preorder, for each: label, levels up from a child of the row
 *		before (0: it is its child), samples that end here
 *
 * and, unless stacks are reversed, the lines of each row's samples, relative to the
 * line of its function in `lines`:
 *
 *	own		for each row in which samples end, if the function's source is
 *			known: the line with most of them
 *	own_more	flat: other lines: how many rows since the one before, line,
 *			samples
 *	from, from_more	the same for each row whose caller's source is known: the
 *			lines of the caller from which it was called
 *
 * Line 0 of a file stands for unknown and left out lines (tree_lines.h).
 * Also, of html_times.h, `first` (HTML_FIRST), or `threads` and `times` in a
 * recording's page (HTML_TIMES).
 */
#ifndef PROFILE_FORMATS_HTML_H
#define PROFILE_FORMATS_HTML_H

#include "profile/profile.h"
#include "profile/tree.h"

enum html_with {
	HTML_COUNTS,
	HTML_FIRST,
	HTML_TIMES,
};

/* The selection that a batch is compared with: tree_how.base. */
struct html_base {
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME */
	uint64_t samples;
};

/* Append only the object.  With base, info has `base` (start_ms, duration_ms,
 * samples), `diff` is true, and rows have a fourth number: samples of the base
 * that end here.  0 or -ENOMEM. */
int html_data(const struct batch *b, const struct profile_info *info,
	      const struct tree_how *how, const struct html_base *base,
	      enum html_with with, struct buffer *out);

/* The page with the text that put() appends, which returns 0 or -errno.  0 or an error
 * of put(); -ENOMEM; -EINVAL when the page has no marker. */
int html_page(int (*put)(const void *arg, struct buffer *out), const void *arg,
	      struct buffer *out);

/* The page with the object in it.  0; -ENOMEM; or -EINVAL when the page has no marker. */
int html_encode(const struct batch *b, const struct profile_info *info,
		struct buffer *out);

#endif /* PROFILE_FORMATS_HTML_H */
