/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_name - a function's name as people say it
 *
 * Not for loaderd.  Of what a demangler writes, parameters, return types,
 * qualifiers and the hash of Rust go, and arguments of templates and generics
 * become "...":
 *
 *	void a::f<int>(std::vector<int>) const		a::f<...>
 *	<alloc::vec::Vec<T> as core::Drop>::drop	<alloc::vec::Vec<...> as core::Drop>::drop
 *	std.format.f!(int).f(int)			std.format.f!(...).f
 *
 * Of all names versions (f@@GLIBC_2.34) and what compilers append to parts and
 * clones of a function (.cold, .part.0, .constprop.0, .isra.0, .lto_priv.0,
 * .llvm.1) go.  What tells a stub from the function that it calls (f@plt) stays.
 */
#ifndef IPC_SHORT_NAME_H
#define IPC_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define SHORT_NAME_STUB	"@plt"
#define SHORT_NAME_MAX	1024	/* bytes; longer ones end in "..." */

/*
 * The short form of a name of len bytes, in *ret_len bytes: the start of s, or
 * buf.  demangled: a demangler wrote it; else only its end is looked at, and
 * whether there are arguments of a template (names of DWARF have these).  Never
 * empty unless s is.  What is not understood stays as it is.  The work is
 * linear in len.
 */
const char *short_name(const char *s, size_t len, bool demangled,
		       char buf[SHORT_NAME_MAX], size_t *ret_len);

#endif /* IPC_SHORT_NAME_H */
