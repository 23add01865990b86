/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_text - foreign text for a terminal
 *
 * Names come from profiled processes.  Only printable characters with one or two
 * cells of their own reach the terminal: controls, characters that change the
 * direction of writing, that combine with others or that this C library does not
 * know are shown as \xNN or \u{N}.
 */
#ifndef CLI_TOP_TEXT_H
#define CLI_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/top/table.h"

/* Of a cell: bytes that a name of TOP_CELLS_MAX cells may need, and a NUL. */
#define TOP_CELLS_MAX	2048
#define TOP_TEXT_MAX	(TOP_CELLS_MAX * 4 + 1)

/*
 * Take LC_CTYPE from the environment, if it is UTF-8; else use ASCII. Call before
 * the process is confined.  True: UTF-8.
 */
bool top_text_locale(void);

/*
 * Write s (UTF-8; other bytes are escaped) into out, in at most `cells` cells (up
 * to TOP_CELLS_MAX); one that is too long ends in '~'.  NUL-terminated; size is
 * at least cells * 4 + 1.  Without utf8 everything beyond ASCII is escaped.
 * Returns the number of cells.
 */
size_t top_text(struct top_str s, bool utf8, size_t cells, char *out,
		size_t size);

/* The part of a path after its last '/'. */
struct top_str top_base(struct top_str path);

#endif /* CLI_TOP_TEXT_H */
