/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_screen - the terminal of `trifold top`, by ncurses
 *
 * screen_init() reads the terminal's description; from then on nothing is
 * opened.  It catches SIGWINCH, which interrupts poll(2); a draw reads the size.
 * SIGINT, SIGQUIT and SIGTSTP must be ignored before, so that ncurses leaves them
 * alone.
 */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdbool.h>

#include "cli/top/state.h"
#include "ipc/hub_client.h"

/* 0, or -1 when terminfo does not describe this terminal. */
int screen_init(void);

/* Restore the terminal; the next draw takes it again. */
void screen_end(void);

struct screen_info {
	char host[65];
	char line[200];		/* the daemons' last line, escaped; or "" */
	const struct hub_client *hub;
	uint64_t cpus;		/* sampled ones; 0: unknown */
};

void screen_draw(struct top_state *st, const struct screen_info *info,
		 uint64_t now);

/* The next key (top_state.h), 0 for one without a meaning, or -1: none. */
int screen_key(void);

#endif /* CLI_TOP_SCREEN_H */
