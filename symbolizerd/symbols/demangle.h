/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle - names as C++, Rust and D programmers wrote them
 *
 * By libiberty: the Itanium C++ ABI, both manglings of Rust, D.  Only a worker
 * may do this: the names are foreign, and a bad one can take long (the
 * deadline of a job ends that) or make libiberty exit when memory is short.
 * What it writes is cut off at DEMANGLED_MAX, also where substitutions would
 * make it exponentially long; its own limits on nested names hold
 * (DEMANGLE_RECURSION_LIMIT in libiberty's demangle.h).
 */
#ifndef SYMBOLIZERD_SYMBOLS_DEMANGLE_H
#define SYMBOLIZERD_SYMBOLS_DEMANGLE_H

#include <stddef.h>

#define DEMANGLED_MAX	4096	/* bytes, without the NUL */

/*
 * The name behind raw, with parameters and template arguments but without a
 * symbol's version, NUL-terminated into buf: how many bytes.  The end "@plt" of a
 * stub's stays.  0: it is not mangled, or not understood.
 */
size_t demangle(const char *raw, size_t len, char buf[DEMANGLED_MAX + 1]);

#endif /* SYMBOLIZERD_SYMBOLS_DEMANGLE_H */
