// SPDX-License-Identifier: Apache-2.0
#include "cli/top/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/text.h"
#include "common/clock.h"

const uint32_t top_windows[TOP_WINDOWS] = { 5, 15, 60 };

void top_state_init(struct top_state *st, enum top_view view, bool utf8,
		    uint64_t keep_ns)
{
	*st = (struct top_state){ .utf8 = utf8, .page = 1 };
	st->level[0].view = view;
	top_model_init(&st->model, keep_ns);
	for (int v = 0; v <= TOP__VIEWS; v++)
		st->sort[v] = top_layout((enum top_view)v)->sort;
}

static void state_pop_level(struct top_state *st)
{
	struct top_level *l = &st->level[st->depth];

	free(l->container);
	free(l->name);
	free(l->file);
	*l = (struct top_level){ 0 };
	st->depth--;
	st->selected = 0;
	st->selected_id = 0;
}

void top_state_fini(struct top_state *st)
{
	while (st->depth)
		state_pop_level(st);
	top_filter_clear(&st->filter);
	top_table_fini(&st->table);
	top_model_fini(&st->model);
}

int top_state_batch(struct top_state *st, const void *data, size_t len,
		    uint64_t samples)
{
	if (st->paused) {
		top_model_gap(&st->model);
		return 0;
	}
	/* the rows borrow from batches that may be dropped now */
	st->table.n = 0;
	return top_model_add(&st->model, data, len, samples);
}

/* --- the table ------------------------------------------------------------------ */

static struct top_str state_borrow(const char *s)
{
	if (!s)
		s = "";
	return (struct top_str){ s, strlen(s) };
}

static void state_select_again(struct top_state *st)
{
	const struct top_table *t = &st->table;

	for (uint32_t i = 0; st->selected_id && i < t->n; i++) {
		if (t->rows[i].id == st->selected_id) {
			st->selected = i;
			return;
		}
	}
	st->selected_id = 0;
	if (st->selected < t->n)
		return;
	st->selected = 0;
	if (t->n)
		st->selected = t->n - 1;
}

void top_state_refresh(struct top_state *st, uint64_t now)
{
	const struct top_level *l = top_level(st);
	struct top_query q = {
		.view = l->view, .now_ns = now,
		.of_process = l->of_process, .of_container = l->of_container,
		.pid = l->pid, .start_ns = l->start_ns,
		.container = state_borrow(l->container), .name =
			state_borrow(l->name),
		.file = state_borrow(l->file), .kind = l->kind,
	};

	if (st->model.keep_ns)
		q.window_ns = top_windows[st->window] * NSEC_PER_SEC;
	if (st->paused)
		q.now_ns = st->paused_ns;
	top_model_table(&st->model, &q, &st->table);
	top_filter_rows(&st->table, &st->filter);
	top_sort(&st->table, st->sort[l->view], st->reverse[l->view]);
	state_select_again(st);
}

/* --- into a row ------------------------------------------------------------------- */

static bool state_copy_str(char **to, struct top_str s)
{
	free(*to);
	*to = malloc(s.len + 1);
	if (!*to)
		return false;
	if (s.len)
		memcpy(*to, s.s, s.len);
	(*to)[s.len] = '\0';
	return true;
}

/* " of WHAT", after a word */
static void state_set_title(struct top_level *l, const struct top_state *st,
			    const char *what, const struct top_row *r)
{
	char cell[TOP_TITLE_CELLS * 4 + 1];

	top_cell(&st->table, r, COL_NAME, st->utf8, TOP_TITLE_CELLS, cell, sizeof(cell));
	if (r->pid && r->tid)	/* the name is the thread's */
		cell[0] = '\0';
	if (r->pid)
		snprintf(l->title, sizeof(l->title), "%s %u %s", what, r->pid, cell);
	else
		snprintf(l->title, sizeof(l->title), "%s %s", what, cell);
}

static bool state_enter_function(struct top_level *l, const struct top_row *r)
{
	l->view = TOP_AROUND;
	l->kind = r->kind;
	return state_copy_str(&l->name, r->name) && state_copy_str(&l->file,
								   r->file);
}

static bool state_enter_container(struct top_level *l, const struct top_row *r)
{
	l->view = TOP_PROCESSES;
	l->of_container = true;
	return state_copy_str(&l->container, r->name);
}

/* Copy the restrictions of the level before. */
static bool top_state_inherit(struct top_level *l, const struct top_level *from)
{
	*l = (struct top_level){
		.of_process = from->of_process, .pid = from->pid,
		.start_ns = from->start_ns, .of_container = from->of_container,
	};
	return !from->container || state_copy_str(&l->container,
						  state_borrow(from->container));
}

static void top_state_enter(struct top_state *st)
{
	enum top_view view = top_level(st)->view;
	const struct top_row *r;
	struct top_level *l;
	bool ok;

	if (st->table.n == 0 || st->depth + 1 == TOP_LEVELS)
		return;
	r = &st->table.rows[st->selected];
	l = &st->level[st->depth + 1];
	ok = top_state_inherit(l, top_level(st));
	if (view == TOP_CONTAINERS) {
		state_set_title(l, st, "container", r);
		ok = ok && state_enter_container(l, r);
	} else if (top_of_functions(view)) {
		state_set_title(l, st, "around", r);
		ok = ok && state_enter_function(l, r);
	} else {
		state_set_title(l, st, "process", r);
		l->view = TOP_FUNCTIONS;
		l->of_process = true;
		l->pid = r->pid;
		l->start_ns = r->start_ns;
	}
	st->depth++;
	st->selected = 0;
	st->selected_id = 0;
	top_filter_clear(&st->filter);
	if (!ok)
		state_pop_level(st);
}

/* --- keys ---------------------------------------------------------------------------- */

static void state_show_view(struct top_state *st, enum top_view view)
{
	while (st->depth && top_level(st)->view == TOP_AROUND)
		state_pop_level(st);
	st->level[st->depth].view = view;
	st->selected = 0;
	st->selected_id = 0;
}

static void state_next_view(struct top_state *st)
{
	enum top_view v = top_level(st)->view;

	if (v >= TOP__VIEWS - 1)
		state_show_view(st, TOP_FUNCTIONS);
	else
		state_show_view(st, v + 1);
}

static void state_sort_by(struct top_state *st, int step)
{
	enum top_view v = top_level(st)->view;
	const struct top_layout *l = top_layout(v);
	int i = 0;

	while (i < l->n - 1 && l->cols[i] != st->sort[v])
		i++;
	st->sort[v] = l->cols[(i + step + l->n) % l->n];
	st->reverse[v] = false;
}

static void state_toggle_pause(struct top_state *st, uint64_t now)
{
	st->paused = !st->paused;
	st->paused_ns = now;
}

static void top_state_move(struct top_state *st, int64_t by)
{
	int64_t to = (int64_t)st->selected + by;

	if (to >= (int64_t)st->table.n)
		to = (int64_t)st->table.n - 1;
	if (to < 0)
		st->selected = 0;
	else
		st->selected = (uint32_t)to;
	/* at the first row, stay there */
	if (st->selected && st->selected < st->table.n)
		st->selected_id = st->table.rows[st->selected].id;
	else
		st->selected_id = 0;
}

static void state_edit_key(struct top_state *st, int key)
{
	size_t len = strlen(st->edit);
	const char *wrong;
	char err[100];

	if (key == TOP_KEY_ESCAPE) {
		st->editing = false;
	} else if (key == TOP_KEY_ENTER) {
		wrong = top_filter_set(&st->filter, st->edit, err, sizeof(err));
		if (wrong)
			snprintf(st->message, sizeof(st->message),
				 "filter: %.120s", wrong);
		st->editing = wrong != NULL;
	} else if (key == TOP_KEY_BACK) {
		while (len && ((unsigned char)st->edit[len - 1] & 0xc0) == 0x80)
			len--;
		if (len)
			len--;
		st->edit[len] = '\0';
	} else if (key >= ' ' && key < 256 && key != 0x7f &&
		   len + 1 < sizeof(st->edit)) {
		st->edit[len] = (char)key;
		st->edit[len + 1] = '\0';
	}
}

static void state_begin_edit(struct top_state *st)
{
	st->editing = true;
	memcpy(st->edit, st->filter.text, sizeof(st->edit));
}

static void state_go_back(struct top_state *st)
{
	if (st->filter.text[0])
		top_filter_clear(&st->filter);
	else if (st->depth)
		state_pop_level(st);
}

static void state_move_key(struct top_state *st, int key)
{
	int64_t page;

	if (st->page > 1)
		page = st->page - 1;
	else
		page = 1;
	switch (key) {
	case TOP_KEY_UP: case 'k':
		top_state_move(st, -1);
		break;
	case TOP_KEY_DOWN: case 'j':
		top_state_move(st, 1);
		break;
	case TOP_KEY_PAGE_UP:
		top_state_move(st, -page);
		break;
	case TOP_KEY_PAGE_DOWN:
		top_state_move(st, page);
		break;
	case TOP_KEY_HOME:
		top_state_move(st, -(int64_t)st->selected);
		break;
	case TOP_KEY_END:
		top_state_move(st, st->table.n);
		break;
	}
}

/* Keys for view and order.  False: another key. */
static bool state_view_key(struct top_state *st, int key)
{
	enum top_view v = top_level(st)->view;

	switch (key) {
	case '1': case '2': case '3': case '4': case '5':
		state_show_view(st, (enum top_view)(key - '1'));
		return true;
	case '\t':
		state_next_view(st);
		return true;
	case 's': case TOP_KEY_RIGHT:
		state_sort_by(st, 1);
		return true;
	case TOP_KEY_LEFT:
		state_sort_by(st, -1);
		return true;
	case 'r':
		st->reverse[v] = !st->reverse[v];
		return true;
	case '+': case '=':
		st->window += st->window < TOP_WINDOWS - 1;
		return true;
	case '-':
		st->window -= st->window > 0;
		return true;
	default:
		return false;
	}
}

static void state_other_key(struct top_state *st, int key, uint64_t now)
{
	switch (key) {
	case 'q':
		st->quit = true;
		break;
	case '?': case 'h':
		st->help = true;
		break;
	case '/':
		state_begin_edit(st);
		break;
	case 'p': case ' ':
		state_toggle_pause(st, now);
		break;
	case TOP_KEY_ENTER:
		top_state_enter(st);
		break;
	case TOP_KEY_ESCAPE: case TOP_KEY_BACK:
		state_go_back(st);
		break;
	default:
		state_move_key(st, key);
	}
}

void top_state_key(struct top_state *st, int key, uint64_t now)
{
	st->message[0] = '\0';
	if (st->editing) {
		state_edit_key(st, key);
	} else if (st->help) {
		/* any key closes the help */
		st->help = false;
		st->quit = key == 'q';
	} else if (!state_view_key(st, key)) {
		state_other_key(st, key, now);
	}
}
