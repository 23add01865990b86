/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go - Go's row in the table of runtimes
 *
 * Compiled code, so nothing of it runs in the kernel: its frames are native
 * ones, by rules made of pclntab (rows.h), named by pclntab (lines.h).
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_GO_H
#define SYMBOLIZERD_RUNTIMES_GO_GO_H

#include "symbolizerd/runtimes/runtime.h"

extern const struct runtime_ops go_ops;

#endif /* SYMBOLIZERD_RUNTIMES_GO_GO_H */
