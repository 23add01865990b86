/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map - /tmp/perf-PID.map, in which a JIT names its code
 *
 * Lines "START SIZE NAME\n", both in hex, the name to the end of the line:
 * Linux, tools/perf/Documentation/jit-interface.txt.
 */
#ifndef SYMBOLIZERD_SYMBOLS_PERF_MAP_H
#define SYMBOLIZERD_SYMBOLS_PERF_MAP_H

#include "symbolizerd/symbols/jit_wanted.h"

#define PERF_MAP_BYTES	(256ULL << 20)	/* the last ones of a larger file */
#define PERF_MAP_LINE	4096u		/* a longer line is none */

/*
 * Find names in the file, from its end: so what was written last counts, and the
 * work is one look-up a line, whatever the lines say.  A last line without its end
 * is not read: it is being written.
 */
void perf_map_find(int fd, struct jit_wanted *w);

/* One line of len bytes without its end.  For tests. */
void perf_map_line(const char *line, size_t len, struct jit_wanted *w);

#endif /* SYMBOLIZERD_SYMBOLS_PERF_MAP_H */
