// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/table.h"

const struct runtime_ops *const runtimes_table[RUNTIME__MAX] = {
#define RUNTIME(number, id, name, ...)	[number] = &runtime_##name,
#include "bpf/runtimes.def"
};
