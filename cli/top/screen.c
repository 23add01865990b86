// SPDX-License-Identifier: Apache-2.0
#include "cli/top/screen.h"

#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/top/text.h"
#include "common/clock.h"

#define HEAD_LINES	4	/* and one below the table */
#define MIN_LINES	7
#define MIN_COLS	30
#define WIDE_COLS	110

enum { PAIR_BAD = 1, PAIR_KERNEL, PAIR_HOT };

/* Does nothing: the signal only wakes poll(2). */
static void screen_on_resize(int sig)
{
	(void)sig;
}

int screen_init(void)
{
	const struct sigaction sa = { .sa_handler = screen_on_resize };

	/* ncurses would ask isatty(3) first, which seccomp denies */
	sigaction(SIGWINCH, &sa, NULL);
	/* use the terminal's size, not LINES and COLUMNS */
	use_env(FALSE);
	use_tioctl(TRUE);
	if (!newterm(NULL, stdout, stdin))
		return -1;
	set_escdelay(50);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	typeahead(-1);
	curs_set(0);
	if (has_colors() && start_color() == OK) {
		short bg = COLOR_BLACK;

		if (use_default_colors() == OK)
			bg = -1;
		init_pair(PAIR_BAD, COLOR_RED, bg);
		init_pair(PAIR_KERNEL, COLOR_YELLOW, bg);
		init_pair(PAIR_HOT, COLOR_MAGENTA, bg);
	}
	return 0;
}

void screen_end(void)
{
	curs_set(1);
	endwin();
}

static chtype top_screen_pair(int n)
{
	if (has_colors())
		return (chtype)COLOR_PAIR(n);
	return A_NORMAL;
}

/* Print a line from the left edge: ASCII, or text of top_text(). */
static void top_screen_put_line(int y, chtype attr, const char *text)
{
	char line[TOP_TEXT_MAX];
	struct top_str s = { text, strlen(text) };
	int cells = COLS;

	if (cells > TOP_CELLS_MAX)
		cells = TOP_CELLS_MAX;
	/* top_text() again, to cut it to the width */
	top_text(s, true, (size_t)cells, line, sizeof(line));
	move(y, 0);
	attrset(attr);
	addstr(line);
	clrtoeol();
	attrset(A_NORMAL);
}

/* --- above the table ----------------------------------------------------------- */

static void screen_draw_head(const struct top_state *st,
			     const struct screen_info *info, uint64_t now)
{
	const struct top_table *t = &st->table;
	double rate = 0;
	uint64_t lost = hub_client_lost(info->hub);
	char line[256], when[16] = "", busy[64];
	const char *paused = "";
	chtype attr = A_BOLD;
	struct tm tm;
	time_t s;

	if (st->paused) {
		now = st->paused_ns;
		paused = "  PAUSED";
	}
	if (lost)
		attr |= top_screen_pair(PAIR_BAD);
	s = (time_t)(now / NSEC_PER_SEC);
	if (t->seconds > 0)
		rate = (double)t->events / t->seconds;
	if (localtime_r(&s, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	top_busy(t, info->cpus, busy, sizeof(busy));
	snprintf(line, sizeof(line), "trifold top - %s %s  %s  %.0f samples/s "
		 "at %u Hz  lost %llu%s", info->host, when, busy, rate,
		 t->frequency, (unsigned long long)lost, paused);
	top_screen_put_line(0, attr, line);
}

/* All views, which one is shown, and in which order. */
static void screen_draw_views(const struct top_state *st)
{
	enum top_view view = top_level(st)->view;
	enum top_col by = st->sort[view];
	const char *order = "ROLE", *reversed = "";
	char line[256];
	size_t n = 0;

	for (int v = 0; v < TOP__VIEWS; v++) {
		const char *before = " ", *after = " ";

		if (v == (int)view) {
			before = "[";
			after = "]";
		}
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%d %s%s", before, v + 1,
				      top_layout((enum top_view)v)->title, after);
	}
	if (by != COL_ROLE)
		order = top_heading(top_layout(view), by);
	if (st->reverse[view])
		reversed = ", reversed";
	snprintf(line + n, sizeof(line) - n, "  %u s  by %s%s",
		 top_windows[st->window], order, reversed);
	top_screen_put_line(1, A_NORMAL, line);
}

/* Of what the rows are, and the filter. */
static void screen_draw_title(const struct top_state *st)
{
	const char *title = top_level(st)->title, *gap = "";
	char filter[60 * 4 + 1], line[sizeof(top_level(st)->title) + sizeof(filter) + 16];
	struct top_str f = { st->filter.text, strlen(st->filter.text) };

	if (!f.len) {
		top_screen_put_line(2, A_BOLD, title);
		return;
	}
	if (title[0])
		gap = "  ";
	top_text(f, st->utf8, 60, filter, sizeof(filter));
	snprintf(line, sizeof(line), "%s%sfilter: %s", title, gap, filter);
	top_screen_put_line(2, A_BOLD, line);
}

/* --- the table ---------------------------------------------------------------------- */

/* The number of columns that fit. */
static int screen_columns(const struct top_layout *l)
{
	if (l->narrow && COLS < WIDE_COLS)
		return l->narrow;
	return l->n;
}

/* The cells that are left for the name. */
static int screen_name_cells(const struct top_layout *l)
{
	int left = COLS;

	for (int i = 0; i < screen_columns(l); i++) {
		if (top_width(l->cols[i]))
			left -= top_width(l->cols[i]) + 1;
	}
	if (left < 8)
		return 8;
	if (left > TOP_CELLS_MAX)
		return TOP_CELLS_MAX;
	return left;
}

static void screen_draw_cell(int y, int x, int width, bool right,
			     const char *text, size_t used)
{
	if (x >= COLS)
		return;
	if (right && used < (size_t)width)
		x += width - (int)used;
	mvaddstr(y, x, text);
}

/* r NULL: the headings. */
static void screen_draw_row(const struct top_state *st, int y, chtype attr,
			    const struct top_row *r)
{
	const struct top_layout *l = top_layout(top_level(st)->view);
	static char text[TOP_TEXT_MAX], cut[TOP_TEXT_MAX];
	int x = 0, width;

	attrset(attr);
	mvhline(y, 0, ' ' | attr, COLS);
	for (int i = 0; i < screen_columns(l) && x < COLS; i++) {
		enum top_col c = l->cols[i];
		struct top_str s = { text, 0 };
		size_t used;

		if (top_width(c))
			width = top_width(c);
		else
			width = screen_name_cells(l);
		if (width > COLS - x)
			width = COLS - x;
		if (r)
			top_cell(&st->table, r, c, st->utf8, (size_t)width,
				 text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%s", top_heading(l, c));
		s.len = strlen(text);
		used = top_text(s, true, (size_t)width, cut, sizeof(cut));
		screen_draw_cell(y, x, width, top_is_number(c), cut, used);
		x += width + 1;
	}
	attrset(A_NORMAL);
}

static chtype screen_attributes(const struct top_state *st,
				const struct top_row *r)
{
	if (frame_kind_class(r->kind) == FRAMES_KERNEL)
		return top_screen_pair(PAIR_KERNEL);
	if (r->kind && r->self * 10 > st->table.events)
		return top_screen_pair(PAIR_HOT);
	return A_NORMAL;
}

static void screen_draw_table(struct top_state *st)
{
	const struct top_table *t = &st->table;
	uint32_t page = (uint32_t)(LINES - HEAD_LINES - 1), first;

	st->page = page;
	if (st->selected >= page)
		first = st->selected - page + 1;
	else
		first = 0;
	screen_draw_row(st, 3, A_REVERSE, NULL);
	for (uint32_t i = 0; i < page && i < t->n - first && t->n; i++) {
		const struct top_row *r = &t->rows[first + i];
		chtype a = screen_attributes(st, r);

		if (first + i == st->selected)
			a |= A_REVERSE;
		screen_draw_row(st, HEAD_LINES + (int)i, a, r);
	}
}

/* --- below it -------------------------------------------------------------------------- */

static const char *top_screen_hint(const struct top_state *st,
				   const struct screen_info *info)
{
	if (info->hub->conn.fd < 0)
		return "waiting for symbolizerd ...";
	if (!info->hub->statuses || !info->hub->status.loader_up)
		return "waiting for the sampler ...";
	if (st->model.n == 0)
		return "waiting for samples ...";
	if (st->table.cut)
		return "out of memory: rows are missing";
	return "q quit  ? help  / filter  s sort  p pause  +/- window  Enter into";
}

static void screen_draw_foot(const struct top_state *st,
			     const struct screen_info *info)
{
	struct top_str e = { st->edit, strlen(st->edit) };
	char text[TOP_FILTER_MAX * 4 + 1], line[TOP_FILTER_MAX * 4 + 16];

	top_text(e, st->utf8, TOP_FILTER_MAX, text, sizeof(text));
	snprintf(line, sizeof(line), "Filter: %s_", text);
	if (st->editing && !st->message[0])
		top_screen_put_line(LINES - 1, A_BOLD, line);
	else if (st->message[0])
		top_screen_put_line(LINES - 1, top_screen_pair(PAIR_BAD),
				    st->message);
	else if (info->line[0])
		top_screen_put_line(LINES - 1, top_screen_pair(PAIR_BAD),
				    info->line);
	else
		top_screen_put_line(LINES - 1, A_DIM,
				    top_screen_hint(st, info));
}

static void screen_draw_help(void)
{
	static const char *const text[] = {
		"1 2 3 4 5, Tab   functions, processes, containers, threads, lines",
		"Up Down PgUp PgDn Home End, j k   move",
		"Enter            of a function: its callers and callees; of a",
		"                 process: its functions; of a container: processes",
		"Esc, Backspace   back: the filter, then out of what was entered",
		"/                filter: a part of a name, or /regex/; case ignored",
		"s, Left Right    sort by the next column, the one before",
		"r                reverse the order",
		"+ -              the last 60 s, 15 s, 5 s",
		"p, space         pause, go on (what comes meanwhile is not kept)",
		"q                quit",
		"",
		"SELF%   of all samples: in this function itself",
		"TOTAL%  of all samples: in it or what it called",
		"CPU%    100 is one CPU, all the time",
		"lost    samples that were taken and are in none of this",
	};

	for (int i = 0; i < (int)(sizeof(text) / sizeof(text[0])) &&
	     i + 1 < LINES; i++)
		top_screen_put_line(i + 1, A_NORMAL, text[i]);
}

static void screen_fit(void)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || !ws.ws_row ||
	    !ws.ws_col || (ws.ws_row == LINES && ws.ws_col == COLS))
		return;
	resizeterm(ws.ws_row, ws.ws_col);
	/* the terminal may have changed: draw all of it */
	clearok(curscr, TRUE);
}

void screen_draw(struct top_state *st, const struct screen_info *info,
		 uint64_t now)
{
	screen_fit();
	erase();
	if (LINES < MIN_LINES || COLS < MIN_COLS) {
		st->page = 1;
		top_screen_put_line(0, A_NORMAL, "too small (q: quit)");
	} else if (st->help) {
		top_screen_put_line(0, A_BOLD, "trifold top: keys");
		screen_draw_help();
	} else {
		screen_draw_head(st, info, now);
		screen_draw_views(st);
	screen_draw_title(st);
		screen_draw_table(st);
		screen_draw_foot(st, info);
	}
	curs_set(0);
	refresh();
}

int screen_key(void)
{
	static const int keys[][2] = {
		{ KEY_UP, TOP_KEY_UP }, { KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME }, { KEY_END, TOP_KEY_END },
		{ KEY_LEFT, TOP_KEY_LEFT }, { KEY_RIGHT, TOP_KEY_RIGHT },
		{ KEY_ENTER, TOP_KEY_ENTER }, { '\r', TOP_KEY_ENTER },
		{ '\n', TOP_KEY_ENTER }, { KEY_BACKSPACE, TOP_KEY_BACK },
		{ '\b', TOP_KEY_BACK }, { 0x7f, TOP_KEY_BACK },
		{ 0x1b, TOP_KEY_ESCAPE },
	};
	int c = getch();

	if (c == ERR)
		return -1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i][0] == c)
			return keys[i][1];
	}
	if (c >= 256)
		return 0;
	return c;
}
