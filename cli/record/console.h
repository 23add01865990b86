/* SPDX-License-Identifier: Apache-2.0 */
/*
 * console - standard error, shared by a progress line and the log of all
 * processes
 *
 * The daemons write to a pipe, not to the terminal: so their lines do not break
 * the progress line, and only printable characters reach root's terminal, even if
 * a daemon is compromised.  Lines that begin with a priority, "<N>" as of
 * sd-daemon(3), are shown without it, and only from warnings up, unless .all is
 * set.
 */
#ifndef CLI_RECORD_CONSOLE_H
#define CLI_RECORD_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct console {
	bool tty;		/* standard error is a terminal */
	bool all;		/* show every line */
	bool shown;		/* the cursor is after a progress line */
	int read_fd;		/* non-blocking */
	int write_fd;		/* for children; -1: not owned */
	size_t len;		/* of .part, a line without its end */
	char part[1024];
};

int console_init(struct console *c, bool all);	/* 0 or -errno */
/* The same with the read end of an existing pipe (taken over). */
int console_open(struct console *c, bool all, int read_fd);
void console_fini(struct console *c);

/* Print complete lines of children, a limited number at once. */
void console_pump(struct console *c);

/* Print a line of the command itself, "trifold: text". */
void console_say(struct console *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* On a terminal: replace the last progress line by this. */
void console_progress(struct console *c, const char *text);
void console_clear(struct console *c);

#endif /* CLI_RECORD_CONSOLE_H */
