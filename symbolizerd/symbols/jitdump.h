/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump - jit-PID.dump, in which a JIT names its code, with lines
 *
 * The format: Linux, tools/perf/Documentation/jitdump-specification.txt, and
 * tools/perf/util/jitdump.h.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JITDUMP_H
#define SYMBOLIZERD_SYMBOLS_JITDUMP_H

#include "symbolizerd/symbols/jit_wanted.h"

/* What a visit may do: records read, functions compared, entries of lines read.
 * Where it ends, so does the visit, with what was found. */
#define JITDUMP_WORK	(16u << 20)

/* Does the file begin as a jitdump does? */
bool jitdump_is(int fd);

/*
 * Find names, files and lines in the file.  A record that is cut off ends it: it is
 * being written.  0; or -EPROTO, and nothing was found: it is of another version or
 * another machine.
 */
int jitdump_find(int fd, struct jit_wanted *w);

#endif /* SYMBOLIZERD_SYMBOLS_JITDUMP_H */
