/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_names - what a worker does with a file in which a JIT names its code
 *
 * A perf map or a jitdump; the file says which.  Its process writes it meanwhile, and
 * may write anything.
 */
#ifndef SYMBOLIZERD_SYMBOLS_JIT_NAMES_H
#define SYMBOLIZERD_SYMBOLS_JIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names_build.h"

/* Names of the frames of n words, of which each is a FRAME_ANON, added to out.  0;
 * or -EPROTO: a jitdump of another version or machine. */
int jit_names(int fd, const uint64_t *words, size_t n, struct frame_names_build *out);

#endif /* SYMBOLIZERD_SYMBOLS_JIT_NAMES_H */
