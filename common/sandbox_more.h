/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_more - steps of confine() that loaderd does without */
#ifndef COMMON_SANDBOX_MORE_H
#define COMMON_SANDBOX_MORE_H

#include "common/sandbox.h"

/* sandbox_namespaces(); these directories (NULL-terminated; those that exist) are
 * bound too, to write to. */
int sandbox_namespaces_with(bool net, const char *const *keep,
			    const char *const *write);

/* As sandbox_landlock_deny(), but files below these paths, those that exist,
 * may be read (NULL-terminated), and TCP may be used. */
int sandbox_landlock_read(const char *const *paths);

/* The same; and in the directories behind n dirs (-1: none) regular files may be
 * made, read, written and removed. */
int sandbox_landlock_files(const char *const *paths, const int *dirs, int n);

#endif /* COMMON_SANDBOX_MORE_H */
