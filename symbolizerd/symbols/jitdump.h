/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump - jit-PID.dump, in which a JIT describes its code, with lines
 *
 * The format: Linux, tools/perf/Documentation/jitdump-specification.txt, and
 * tools/perf/util/jitdump.h.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JITDUMP_H
#define SYMBOLIZERD_SYMBOLS_JITDUMP_H

#include "symbolizerd/symbols/jit_wanted.h"

/* Limit of a visit: records, functions and entries of lines that are read.  There the
 * visit ends, with what was found. */
#define JITDUMP_WORK	(16u << 20)

/* Does the file begin like a jitdump? */
bool jitdump_is(int fd);

/*
 * Find names, files and lines in the file.  It ends at a record that is cut off, which
 * is still being written.  0; or -EPROTO, and nothing was found: the file is of
 * another version or machine.
 */
int jitdump_find(int fd, struct jit_wanted *w);

#endif /* SYMBOLIZERD_SYMBOLS_JITDUMP_H */
