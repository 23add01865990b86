/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_state - the state of `trifold top`, and how keys change it
 *
 * Knows nothing of the terminal.
 */
#ifndef CLI_TOP_STATE_H
#define CLI_TOP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/top/model.h"
#include "cli/top/rows.h"

#define TOP_LEVELS	8

/* Keys are bytes as typed, or one of these. */
enum top_key {
	TOP_KEY_UP = 256, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME, TOP_KEY_END, TOP_KEY_LEFT, TOP_KEY_RIGHT, TOP_KEY_ENTER,
	TOP_KEY_BACK,		/* backspace */
	TOP_KEY_ESCAPE,
};

#define TOP_TITLE_CELLS	48	/* of the name in a title */

/* A level of what is shown: everything, then (Enter) the content of a row. */
struct top_level {
	enum top_view view;
	bool of_process, of_container;
	uint32_t pid;
	uint64_t start_ns;
	char *container;	/* owned, as the next two */
	char *name, *file;	/* the function of TOP_AROUND */
	uint32_t kind;
	char title[TOP_TITLE_CELLS * 4 + 32];	/* escaped; "" for the first */
};

struct top_state {
	struct top_model model;
	struct top_table table;
	struct top_filter filter;
	struct top_level level[TOP_LEVELS];
	unsigned int depth;
	enum top_col sort[TOP__VIEWS + 1];
	bool reverse[TOP__VIEWS + 1];
	unsigned int window;	/* one of top_windows */
	bool utf8;
	bool paused;
	uint64_t paused_ns;	/* CLOCK_REALTIME */
	bool help;
	bool quit;
	bool editing;		/* the filter, .edit */
	char edit[TOP_FILTER_MAX];
	char message[160];	/* shown until the next key */
	uint32_t selected;	/* row */
	uint64_t selected_id;	/* the selection follows this row; 0: it stays
				 * in place */
	uint32_t page;		/* rows that fit, set by the screen */
};

#define TOP_WINDOWS	3
extern const uint32_t top_windows[TOP_WINDOWS];	/* s */

void top_state_init(struct top_state *st, enum top_view view, bool utf8,
		    uint64_t keep_ns);
void top_state_fini(struct top_state *st);

static inline const struct top_level *top_level(const struct top_state *st)
{
	return &st->level[st->depth];
}

/* Add a batch, unless paused.  Returns as top_model_add(). */
int top_state_batch(struct top_state *st, const void *data, size_t len,
		    uint64_t samples);

/* Rebuild .table; now: CLOCK_REALTIME. */
void top_state_refresh(struct top_state *st, uint64_t now);

/* A key was pressed; call top_state_refresh() afterwards. */
void top_state_key(struct top_state *st, int key, uint64_t now);

#endif /* CLI_TOP_STATE_H */
