/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle - names as C++, Rust and D programmers wrote them
 *
 * By libiberty: the Itanium C++ ABI, both manglings of Rust, D.  Only a worker
 * may do this: the names are foreign, and a bad one can take long (the job's
 * deadline ends that) or make libiberty exit when memory is short.  Output is cut
 * at DEMANGLED_MAX, also where substitutions would make it exponentially long;
 * libiberty's limits on nested names stay in force (DEMANGLE_RECURSION_LIMIT in
 * its demangle.h).
 */
#ifndef SYMBOLIZERD_SYMBOLS_DEMANGLE_H
#define SYMBOLIZERD_SYMBOLS_DEMANGLE_H

#include <stddef.h>

#define DEMANGLED_MAX	4096	/* bytes, without the NUL */

/*
 * Write the demangled name to buf, NUL-terminated, with parameters and template
 * arguments but without a symbol's version; a stub's "@plt" stays.  Returns its
 * length; 0: the name is not mangled, or not understood.
 */
size_t demangle(const char *raw, size_t len, char buf[DEMANGLED_MAX + 1]);

#endif /* SYMBOLIZERD_SYMBOLS_DEMANGLE_H */
