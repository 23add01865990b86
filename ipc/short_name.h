/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name - a function's name without what is not needed to recognize it
 *
 * From what a demangler writes, parameters, return types, qualifiers and the hash of
 * Rust are removed, and arguments of templates and generics become "...":
 *
 *	void a::f<int>(std::vector<int>) const		a::f<...>
 *	<alloc::vec::Vec<T> as core::Drop>::drop	<alloc::vec::Vec<...> as core::Drop>::drop
 *	std.format.f!(int).f(int)			std.format.f!(...).f
 *
 * From symbols of ELF files and of the kernel, demangled or not, versions
 * (f@@GLIBC_2.34) are removed, and what compilers append to parts and clones of a
 * function (.cold, .part.0, .constprop.0, .isra.0, .lto_priv.0, .llvm.1).  The end that
 * distinguishes a stub from the function that it calls (f@plt) stays.
 *
 * All other names are as a program or its runtime gave them: "main.cold" is a function
 * cold of a package, "transform /app/node_modules/@babel/core/x.js:20:19" one of a JIT's perf map.
 */
#ifndef IPC_SHORT_NAME_H
#define IPC_SHORT_NAME_H

#include <stddef.h>

#include "ipc/frame_kinds.h"

#define SHORT_NAME_STUB	"@plt"
#define SHORT_NAME_MAX	1024	/* bytes; longer ones end in "..." */

/*
 * The short form of a name of len bytes, in *ret_len bytes: the start of s, or
 * buf.  Of a SYMBOL only its end is examined, and whether it has arguments of a template
 * (names of DWARF do).  Never empty unless s is.  A name that is not understood is not
 * changed.  The work is linear in len.
 */
const char *short_name(const char *s, size_t len, enum name_form form,
		       char buf[SHORT_NAME_MAX], size_t *ret_len);

/* How many of the len bytes of a symbol are before its version, "f@@V" or "f@V".  An '@'
 * before what cannot be a version's name is the function's own: "*A@B#c<Int32>:Nil". */
size_t short_name_unversioned(const char *s, size_t len);

#endif /* IPC_SHORT_NAME_H */
