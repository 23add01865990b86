/* SPDX-License-Identifier: Apache-2.0 */
/* table - all runtimes, a row for each */
#ifndef SYMBOLIZERD_RUNTIMES_TABLE_H
#define SYMBOLIZERD_RUNTIMES_TABLE_H

#include <stddef.h>

#include "symbolizerd/runtimes/runtime.h"

extern const struct runtime_ops runtimes_table[];
extern const size_t runtimes_table_n;	/* rows */

#endif /* SYMBOLIZERD_RUNTIMES_TABLE_H */
