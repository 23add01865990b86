/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_rows - a table's columns, and sorting and filtering by them
 */
#ifndef CLI_TOP_ROWS_H
#define CLI_TOP_ROWS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/top/model.h"

enum top_col {
	COL_SELF,		/* % of all samples */
	COL_TOTAL,
	COL_CPU,		/* % of one CPU */
	COL_ROLE,
	COL_PID,
	COL_TID,
	COL_NAME,
	COL_MODULE,		/* last part of the path */
	COL_PROCESS,
	COL_CONTAINER,		/* first 12 characters */
	COL_SOURCE,		/* "file.c:12" */
	COL__MAX
};

#define TOP_COLS_MAX	6

struct top_layout {
	const char *title;	/* of the view */
	const char *name;	/* heading of COL_NAME */
	enum top_col cols[TOP_COLS_MAX];
	int n;
	enum top_col sort;	/* at first */
	int narrow;		/* columns that fit on a narrow terminal; 0:
				 * all */
};

/* Of a view, TOP_AROUND too. */
const struct top_layout *top_layout(enum top_view v);
/* "functions", "processes", "containers", "threads", "lines"; TOP__VIEWS: none. */
enum top_view top_view_named(const char *name);

const char *top_heading(const struct top_layout *l, enum top_col c);
/* Cells of a column; 0: as many as are left (COL_NAME). */
int top_width(enum top_col c);
bool top_is_number(enum top_col c);	/* set flush right */

#define TOP_NO_NAME_MAX	272	/* a file's name, and what follows it */

/* A row's name, or the text for a missing one (docs/SUPPORT.md); borrowed, or in
 * buf. */
struct top_str top_row_name(const struct top_row *r, char buf[TOP_NO_NAME_MAX]);
/* The same for the process of a thread's row. */
struct top_str top_row_process(const struct top_row *r);

/*
 * "0.12 of 2 CPUs busy (6 %)": by the samples of a table, of so many CPUs.  0
 * CPUs: it is not known how many were sampled, and "0.12 CPUs busy".
 */
void top_busy(const struct top_table *t, uint64_t cpus, char *out, size_t size);

/* The text of a cell, escaped (top_text.h): at most `cells`.  The marks of its
 * row follow a name, if there is room. */
void top_cell(const struct top_table *t, const struct top_row *r,
	      enum top_col c, bool utf8, size_t cells, char *out, size_t size);

/* --- filter -------------------------------------------------------------- */

#define TOP_FILTER_MAX	128

struct top_filter {
	char text[TOP_FILTER_MAX];	/* "": everything passes */
	bool is_regex;
	regex_t regex;
};

/*
 * "/regex/" (extended, case ignored) or a part of a name (case ignored).  Returns
 * NULL, or what is wrong with it (in err), and *f is unchanged.
 */
const char *top_filter_set(struct top_filter *f, const char *text, char *err,
			   size_t size);
void top_filter_clear(struct top_filter *f);

/* Keep rows whose name, file, source, container or a number matches; their order
 * may change. */
void top_filter_rows(struct top_table *t, const struct top_filter *f);

/* Sort: figures descending, process numbers and texts ascending; reverse: the
 * opposite.  Equal rows are ordered by their identity. */
void top_sort(struct top_table *t, enum top_col by, bool reverse);

#endif /* CLI_TOP_ROWS_H */
