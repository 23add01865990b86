/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_more - steps of confine() that loaderd does without */
#ifndef COMMON_SANDBOX_MORE_H
#define COMMON_SANDBOX_MORE_H

#include "common/sandbox.h"

/* As sandbox_landlock_deny(), but files below these paths, those that exist,
 * may be read (NULL-terminated), and TCP may be used. */
int sandbox_landlock_read(const char *const *paths);

#endif /* COMMON_SANDBOX_MORE_H */
