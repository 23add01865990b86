/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_display - the process of `trifold top` that reads batches
 *
 * It holds standard input and output (the terminal), a pipe for its own log, the
 * control socket (top_control.h) and the connections that come through that.  It
 * cannot open or connect, and is neither root nor traceable.
 */
#ifndef CLI_TOP_DISPLAY_H
#define CLI_TOP_DISPLAY_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/config/options.h"
#include "cli/top/model.h"

struct top_display {
	const struct options *opt;
	enum top_view view;
	bool plain;		/* text to standard output, no screen */
	int control;
	int log_fd;		/* becomes standard error */
	uid_t seal_uid;
};

#define TOP_PLAIN_MS	5000	/* without --duration */
#define TOP_PLAIN_ROWS	50	/* without --limit */

/* Runs in a child of `trifold top`; returns its exit status. */
int top_display(const struct top_display *d);

#endif /* CLI_TOP_DISPLAY_H */
