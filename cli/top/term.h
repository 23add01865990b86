/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_term - the terminal's state, saved and restored
 */
#ifndef CLI_TOP_TERM_H
#define CLI_TOP_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct top_term {
	struct termios saved;
	char leave[256];	/* leaves the alternate screen, and so on */
	size_t len;
};

/* Save standard input's modes, and the strings that leave $TERM's screen.  0; or
 * -errno after a line in the log: $TERM is unknown, or has no cursor that can be
 * moved. */
int top_term_save(struct top_term *t);

/* Restore the modes; death: the process that used the terminal has died, so leave
 * its screen, too. */
void top_term_restore(const struct top_term *t, bool death);

#endif /* CLI_TOP_TERM_H */
