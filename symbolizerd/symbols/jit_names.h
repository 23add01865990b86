/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_names - names from a file in which a JIT describes its code
 *
 * A jitdump (jitdump.h), or a perf map, /tmp/perf-PID.map: lines "START SIZE NAME\n",
 * both in hex, the name to the end of the line (Linux,
 * tools/perf/Documentation/jit-interface.txt).  The contents say which.  The process
 * goes on writing it, and may write anything.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JIT_NAMES_H
#define SYMBOLIZERD_SYMBOLS_JIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/jit_wanted.h"

#define PERF_MAP_BYTES	(256ULL << 20)	/* of a larger file the last ones are read */
#define PERF_MAP_LINE	4096u		/* bytes; longer lines are ignored */

/* Add the names of the frames of n words, each of them a FRAME_ANON, to out.  0;
 * or -EPROTO: a jitdump of another version or machine. */
int jit_names(int fd, const uint64_t *words, size_t n, struct frame_names_build *out);

/*
 * Find names in a perf map, from its end: so of several the last one counts, and the
 * work is one look-up a line, whatever the lines say.  A last line without a newline
 * is still being written, and not read.
 */
void perf_map_find(int fd, struct jit_wanted *w);

/* One line of len bytes without its newline.  For tests. */
void perf_map_line(const char *line, size_t len, struct jit_wanted *w);

#endif /* SYMBOLIZERD_SYMBOLS_JIT_NAMES_H */
