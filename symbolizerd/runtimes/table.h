/* SPDX-License-Identifier: Apache-2.0 */
/* table - all runtimes, by their numbers (bpf/runtimes.def) */
#ifndef SYMBOLIZERD_RUNTIMES_TABLE_H
#define SYMBOLIZERD_RUNTIMES_TABLE_H

#include "symbolizerd/runtimes/runtime.h"

extern const struct runtime_ops *const runtimes_table[RUNTIME__MAX];	/* NULL: none */

#endif /* SYMBOLIZERD_RUNTIMES_TABLE_H */
